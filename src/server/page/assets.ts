/**
 * The files of the page, ready to be sent. Browser code is TypeScript: from the
 * sources its types are stripped here, in a built package they are gone
 * already. The chart library comes from its own package, untouched. What reads
 * and verifies answers about cages is the library's own code, as modules.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { nextTurn } from '../../util/time-slice.ts';
import { browserModules } from './browser-modules.ts';
import { documentOf } from './document.ts';
import { ICON } from './icon.ts';
import { STYLE } from './style.ts';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

export interface PageFiles {
  readonly document: PageFile;
  readonly assets: ReadonlyMap<string, PageFile>;
  /** Of all the assets: a new one is a new address for each of them. */
  readonly digest: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const DIGEST_CHARS = 16;
const CAGE_READER = 'server/cardano/cage-reader';

/** `client` is where the browser's code is: TypeScript, or what was compiled from it. Others get their turn between two files. */
export async function readPage(client = join(import.meta.dirname, 'client')): Promise<PageFiles> {
  const assets = new Map<string, PageFile>([
    ...readChartLibrary(),
    ['style.css', assetOf(CSS, STYLE)],
    ['icon.svg', assetOf('image/svg+xml', ICON)],
  ]);
  const modules: string[] = [];
  for (const [name, asset] of readScripts(client)) {
    assets.set(name, asset);
    modules.push(name);
    await nextTurn();
  }
  // Not among those that are loaded at once: most pages show no cage.
  for (const [name, script] of await browserModules(CAGE_READER)) assets.set(name, assetOf(SCRIPT, script));
  const digest = digestOf([...assets].map(([name, { etag }]) => `${name} ${etag}`).join('\n'));
  return { document: assetOf('text/html; charset=utf-8', documentOf(`/page/${digest}`, modules)), assets, digest };
}

/** Modules import each other by file name; in the browser all of them end in .js. */
function* readScripts(directory: string): Generator<[string, PageFile]> {
  const built = existsSync(join(directory, 'main.js'));
  const extension = built ? '.js' : '.ts';
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(extension) || name.endsWith('.d.ts')) continue;
    const text = readFileSync(join(directory, name), 'utf8');
    const script = built ? text : stripTypeScriptTypes(text).replace(/( from '\.\/[a-z-]+)\.ts';/g, "$1.js';");
    yield [`${basename(name, extension)}.js`, assetOf(SCRIPT, script)];
  }
}

function readChartLibrary(): [string, PageFile][] {
  const directory = dirname(createRequire(import.meta.url).resolve('uplot'));
  return [
    ['uplot.js', assetOf(SCRIPT, readFileSync(join(directory, 'uPlot.iife.min.js')))],
    ['uplot.css', assetOf(CSS, readFileSync(join(directory, 'uPlot.min.css')))],
  ];
}

function assetOf(type: string, content: string | Buffer): PageFile {
  const body = Buffer.from(content);
  return { type, body, etag: `"${digestOf(body)}"` };
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, DIGEST_CHARS);
}
