/**
 * The blocks of pages that need what a reader has: a node, a database server, a
 * store or a server of the page's own. Those of a page are run from top to bottom
 * in a shell in an empty directory. What goes on for ever (`start`, `serve`,
 * `--follow`) goes on until the next such command, or until the page ends.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { blocksOf, consoleOf, HAS_CURL, neededBy, PAGES, type PageBlock, timeless } from './page-blocks.ts';
import { PageShell } from './page-shell.ts';
import { missingPart, PageStage, STAGE_PARTS, type StagePart, type Substitution, substituted } from './page-stage.ts';
import { PAGE_STORES } from './page-stores.ts';

const STAYS = /^(?:[A-Z_]+=\S+ )*(unspent (start|serve)\b|unspent sync .*--follow\b|curl -s?N )/;
/** A shell of somebody's own, in a folder of that name. */
const PROMPT = /^(\w*)\$ +/;

interface Line {
  readonly command: string;
  readonly says: readonly string[];
}

/** The commands of a block, each with what is shown behind it. */
function linesOf({ language, text }: PageBlock): Line[] {
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/ +# .*$/, ''))
    .filter((line) => line !== '');
  if (language === 'sh') return lines.map((command) => ({ command, says: [] }));
  const starts = lines.flatMap((line, i) => (PROMPT.test(line) ? [i] : []));
  return starts.map((start, i) => {
    const [, whose] = PROMPT.exec(lines[start]) ?? [];
    const command = lines[start].replace(PROMPT, '');
    const { says } = consoleOf(lines.slice(start + 1, starts[i + 1]).join('\n'));
    return { command: whose === '' ? command : `cd ${whose} && ${command}`, says };
  });
}

function isPart(name: string): name is StagePart {
  return STAGE_PARTS.some((part) => part === name);
}

class StagedPage {
  private readonly shell: PageShell;
  private substitutions: readonly Substitution[] = [];

  constructor(shell: PageShell) {
    this.shell = shell;
  }

  /** What the block needs is there. */
  async give(stage: PageStage, needed: readonly string[]): Promise<void> {
    const given: Substitution[] = [];
    // A store is made where one may be in use.
    if (needed.some((name) => !isPart(name))) await this.shell.endServers();
    for (const name of needed) given.push(...(await (isPart(name) ? stage.of(name) : PAGE_STORES[name](this.shell, stage))));
    for (const [, text] of given) if (typeof text === 'string') this.shell.keepPorts(text);
    const { directory } = this.shell;
    this.substitutions = [
      [/\bbin\/unspent/, 'unspent'],
      [/curl -N/, 'curl -sN'],
      [/\/mnt\//, `${directory}/mnt/`],
      [/\/var\/tmp\//, `${directory}/`],
      [/\/var\/lib\/unspent/, `${directory}/preview`],
      [/--server-host 0\.0\.0\.0/, '--server-host 127.0.0.1'],
      ...given,
    ];
  }

  async run({ command, says }: Line): Promise<void> {
    const line = substituted(command, this.substitutions);
    // A command that names a network makes a store; a page shows several.
    const [, data = './data'] = / --data (\S+)/.exec(line) ?? [];
    const isNew = / --network /.test(line) && !/ verify-proof /.test(line);
    const bare = line.replace(/^cd \w+ && /, '');
    if (isNew || (STAYS.test(bare) && !bare.startsWith('curl'))) await this.shell.endServers();
    if (isNew) rmSync(join(this.shell.directory, data), { recursive: true, force: true });
    if (!STAYS.test(bare)) await this.say(line, says);
    else if (/^(curl|unspent sync)/.test(bare)) await this.shell.hear(line, bare.startsWith('curl') ? says : ['connected to']);
    else await this.shell.serve(line);
  }

  private async say(line: string, says: readonly string[]): Promise<void> {
    const said = timeless(await this.shell.run(`{ ${line}\n} 2>&1`));
    for (const word of says) assert.ok(`\n${said}`.includes(`\n${word}`), `${line}\nsays no ${word}: ${said}`);
  }
}

describe('pages with what a reader has', () => {
  const stage = new PageStage();
  after(() => stage.close());

  for (const page of PAGES) {
    const blocks = blocksOf(page).filter((block) => neededBy(block) !== null);
    if (blocks.length === 0) continue;
    const needed = new Set(blocks.flatMap((block) => neededBy(block) ?? []));
    const parts: readonly StagePart[] = STAGE_PARTS.filter((part) => needed.has(part));
    test(page, { skip: HAS_CURL ? missingPart(parts) : 'there is no curl' }, async () => {
      const shell = await PageShell.open();
      try {
        await stage.beginPage();
        const staged = new StagedPage(shell);
        for (const block of blocks) {
          await staged.give(stage, neededBy(block) ?? []);
          for (const line of linesOf(block)) await staged.run(line);
        }
      } finally {
        await shell.end();
      }
    });
  }
});
