/**
 * The blocks of code of a documentation page. What follows the language in the
 * first line says how a block is run: `sh` in the shell of the page, `sh
 * background` beside it until the page ends, `sh elsewhere` not at all, because it
 * needs what a test cannot have; `js` as a module.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

export const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

export interface PageBlock {
  readonly language: string;
  readonly how: string;
  readonly text: string;
}

export function blocksOf(page: string): PageBlock[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return Array.from(text.matchAll(/^```(\w*) ?([^\n]*)\n([\s\S]*?)^```/gm), ([, language, how, block]) => ({ language, how, text: block }));
}

/** Every page that people read, but for decisions and the generated reference of the package. */
export const PAGES = ['*.md', 'docs/**/*.md']
  .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
  .filter((page) => !/^docs\/(adr|reference\/api)\//.test(page))
  .toSorted();

/** The pages whose blocks are run from top to bottom. */
export const WALKS = PAGES.filter((page) => /^docs\/(start|howto)\//.test(page));
