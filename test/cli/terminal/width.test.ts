/**
 * Terminals of 80 columns, in the process of the test: the help of every command
 * and what commands show fit into it, with and without colours, or are broken
 * between words.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { Command } from 'commander';
import type { TextStream } from '../../../src/cli/output.ts';
import { createProgram, runCommand } from '../../../src/cli/program.ts';
import { widthOf } from '../../../src/cli/terminal/style.ts';
import { readFrozen, thaw } from '../../support/frozen.ts';
import { document, temporary } from '../run.ts';

const COLUMNS = 80;

/** What a terminal is shown. */
async function shown(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ readonly code: number; readonly text: string }> {
  let text = '';
  const stream: TextStream = {
    isTTY: true,
    columns: COLUMNS,
    rows: 24,
    write(piece: string | Uint8Array) {
      text += piece;
      return true;
    },
  };
  const program = createProgram({ env: { LANG: 'C.UTF-8', TERM: 'xterm', ...env }, stdout: stream, stderr: stream });
  return { code: await runCommand(program, args), text };
}

/** Nothing is broken in a word by the terminal; a word that is wider by itself cannot be helped. */
function assertFits(text: string, what: string): void {
  for (const line of text.split('\n'))
    assert.ok(widthOf(line) <= COLUMNS || line.trim().split(' ').length === 1, `${what}: ${widthOf(line)} columns: ${line}`);
}

function pathsBelow(command: Command, path: readonly string[] = []): string[][] {
  return command.commands.flatMap((each) => {
    const own = [...path, each.name()];
    return [own, ...pathsBelow(each, own)];
  });
}

describe('on a terminal of 80 columns', () => {
  test('the help of every command fits', async () => {
    const program = createProgram({ env: {}, stdout: { write: () => true }, stderr: { write: () => true } });
    const paths = pathsBelow(program).filter(([name]) => name !== 'welcome');
    assert.ok(paths.length > 50, `${paths.length}`);
    for (const path of [[], ...paths]) {
      const { code, text } = await shown([...path, '--help']);
      assert.equal(code, 0, path.join(' '));
      assert.match(text, /Usage:/, path.join(' '));
      assertFits(text, path.join(' '));
    }
  });

  describe('what commands show', () => {
    const data = join(temporary(), 'data');
    const backups = join(temporary(), 'backups');
    let address = '';

    before(async () => {
      thaw(readFrozen('schema-2-cardano-all'), data);
      await document(['upgrade', '--data', data]);
      await document(['backup', backups, '--data', data]);
      const { coins } = await document<{ coins: { address: string }[] }>(['wallet', 'utxos', 'shop', '--data', data]);
      address = coins[0].address;
    });

    for (const words of [
      'status',
      'query address ADDRESS',
      'wallet list',
      'wallet history shop',
      'wallet utxos shop',
      'backup BACKUPS --list',
      'backup BACKUPS --verify',
      'digest',
      'root',
      'verify',
      'config show',
      '',
    ])
      test(`fits: unspent ${words}`, async () => {
        const args = words === '' ? [] : words.replace('ADDRESS', address).replace('BACKUPS', backups).split(' ');
        for (const env of [{}, { NO_COLOR: '1' }]) {
          const { code, text } = await shown([...args, '--data', data], env);
          assert.equal(code, 0, text);
          assert.notEqual(text.trim(), '');
          // Places of this machine may be as long as they are.
          assertFits(text.replaceAll(data, './data').replaceAll(backups, './backups'), words);
        }
      });
  });
});
