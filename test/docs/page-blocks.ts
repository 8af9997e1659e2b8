/**
 * The blocks of code of a documentation page. What follows the language in the
 * first line says how a block is run: `sh` in the shell of the page, `sh
 * background` beside it until the page ends, `console` as `sh` with what the
 * commands say; `js` as a module; `with NAME ...` as `sh` or `console` with what a
 * reader has and the page does not make (`page-stage.ts`); `by TEST` by the test of
 * that name; `elsewhere: WHY` not at all, because it needs what a test cannot have.
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

export function isWalked({ language, how }: PageBlock): boolean {
  return ['sh', 'console', 'js'].includes(language) && (how === '' || how === 'background');
}

/** The pages whose blocks are run from top to bottom. */
export const WALKS = PAGES.filter((page) => blocksOf(page).some(isWalked));

/** What a block needs that its page does not make; null: it does not say. */
export function neededBy({ language, how }: PageBlock): readonly string[] | null {
  return ['sh', 'console'].includes(language) && how.startsWith('with ') ? how.slice('with '.length).split(' ') : null;
}

/** What a test runs of a page, which names that test. */
export function blockRunBy(test: string, page: string): string {
  const [block] = blocksOf(page).filter(({ how }) => how === `by ${test}`);
  if (block === undefined) throw new Error(`${page} has no block that names ${test}`);
  return block.text;
}

/** Lines of the log without time, level and room. */
export function timeless(text: string): string {
  return text.replaceAll(/^\S+Z (?:info|warn) +\w+ +/gm, '');
}

/** The commands of a console, and the first word of each line that they say, up to a digit. */
export function consoleOf(text: string): { commands: string; says: readonly string[] } {
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n');
  const said = lines.filter((line) => line !== '' && !line.startsWith('$ '));
  const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  return {
    commands: commands.join('\n'),
    says: said.map((line) =>
      timeless(line)
        .split(' ')[0]
        .replace(/(\d|\.\.\.).*/, ''),
    ),
  };
}
