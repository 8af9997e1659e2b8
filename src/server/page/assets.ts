/**
 * The files of the page, ready to be sent. Browser code is TypeScript: from the
 * sources its types are stripped here, in a built package they are gone
 * already. The chart library comes from its own package, untouched. What decodes
 * and verifies is the library's own code, as modules.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { nextTurn } from '../../util/time-slice.ts';
import { browserModules } from './browser-modules.ts';
import { documentOf } from './document.ts';
import { ICON } from './icon.ts';
import { STYLE } from './style.ts';
import { REFERENCE } from './style-reference.ts';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  /** The same, for whoever takes it so. */
  readonly gzip: Buffer;
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
/** The library's own code that views load when they need it: most pages need none of it. */
const READERS = [
  'server/bitcoin/script-reader',
  'server/cardano/cage-reader',
  'server/cardano/data-reader',
  'server/cardano/uplc-reader',
  'server/proof-reader',
];
const STATIC_IMPORT = /^(?:import [^'"\n]*|\}) from '\.\/([a-z-]+\.js)';/gm;

/** `client` is where the browser's code is: TypeScript, or what was compiled from it. Others get their turn between two files. */
export async function readPage(client = join(import.meta.dirname, 'client')): Promise<PageFiles> {
  const assets = new Map<string, PageFile>([
    ...readChartLibrary(),
    ['style.css', pageFile(CSS, STYLE)],
    ['reference.css', pageFile(CSS, REFERENCE)],
    ['icon.svg', pageFile('image/svg+xml', ICON)],
  ]);
  for (const [name, asset] of readScripts(client)) {
    assets.set(name, asset);
    await nextTurn();
  }
  for (const reader of READERS) for (const [name, script] of await browserModules(reader)) assets.set(name, pageFile(SCRIPT, script));
  const digest = digestOf([...assets].map(([name, { etag }]) => `${name} ${etag}`).join('\n'));
  const document = documentOf(`/page/${digest}`, importedBy('main.js', assets));
  return { document: pageFile('text/html; charset=utf-8', document), assets, digest };
}

/** What a module cannot begin without: all it imports, and what those do. What it loads later is not among them. */
function importedBy(first: string, assets: ReadonlyMap<string, PageFile>): readonly string[] {
  const found = new Set([first]);
  // What a module imports is put behind those that wait, so the loop comes to it.
  for (const name of found) for (const [, imported] of String(assets.get(name)?.body).matchAll(STATIC_IMPORT)) found.add(imported);
  return [...found];
}

/** Modules import each other by file name; in the browser all of them end in .js. */
function* readScripts(directory: string): Generator<[string, PageFile]> {
  const built = existsSync(join(directory, 'main.js'));
  const extension = built ? '.js' : '.ts';
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(extension) || name.endsWith('.d.ts')) continue;
    const text = readFileSync(join(directory, name), 'utf8');
    const script = built ? text : stripTypeScriptTypes(text).replace(/((?: from |import\()'\.\/[a-z-]+)\.ts'/g, "$1.js'");
    yield [`${basename(name, extension)}.js`, pageFile(SCRIPT, script)];
  }
}

function readChartLibrary(): [string, PageFile][] {
  const directory = dirname(createRequire(import.meta.url).resolve('uplot'));
  return [
    ['uplot.js', pageFile(SCRIPT, readFileSync(join(directory, 'uPlot.iife.min.js')))],
    ['uplot.css', pageFile(CSS, readFileSync(join(directory, 'uPlot.min.css')))],
  ];
}

/** What can be sent, with its validator. */
export function pageFile(type: string, content: string | Buffer): PageFile {
  const body = Buffer.from(content);
  return { type, body, gzip: gzipSync(body, { level: 9 }), etag: `"${digestOf(body)}"` };
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, DIGEST_CHARS);
}
