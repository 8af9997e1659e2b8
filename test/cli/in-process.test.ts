/**
 * Tests of commands run most of them in their own process. Here each of those
 * is run as users have it, too: it says the same, byte for byte, and ends by
 * itself with the same exit code.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { ended, start, temporary, unspentHere } from './run.ts';

const NOBODY = `${'00'.repeat(32)}#0`;

/** Times, sizes, estimates of rows and what the engine does at the moment differ from run to run. */
const MEASURED = /"(seconds|\w+PerSecond|peakMegabytes|time|bytes|utxo_\w+|chain\w*|tx|delta|rocksdb\.[\w-]+)": [^\n]*/g;

const COMMANDS: readonly (readonly [code: number, ...args: string[]])[] = [
  [0, 'sync', '--source', 'devnet:?blocks=60&rollbacks=1', '--json', '--quiet'],
  [4, 'sync', '--source', 'immutable:/no/such/folder'],
  [0, 'status', '--json'],
  [0, 'digest'],
  [1, 'root', '--json'],
  [0, 'verify', '--json'],
  [0, 'prune', '--utxo-prune-depth', '10', '--utxo-rollback-window', '20', '--json'],
  [0, 'rollback', '--to', 'height:50', '--json'],
  [1, 'rollback', '--to', 'height:1'],
  [0, 'config', 'show'],
  [1, 'query', 'outpoint', NOBODY, '--json'],
  [2, 'query', 'outpoint', 'nothing'],
  [1, 'prove', 'outpoint', NOBODY],
  [1, 'verify-proof', '/no/such/file', '--root', '00'.repeat(32)],
  [5, 'snapshot', 'verify', '/no/such/folder'],
  [1, 'cage', 'tokens'],
  [0, 'query', '--help'],
];

describe('a command in the process of a test', () => {
  const [mine, theirs] = [join(temporary(), 'data'), join(temporary(), 'data')];

  before(async () => {
    const { code, stderr } = await ended(start(['sync', '--source', 'devnet:?blocks=50', '--data', mine, '--quiet']));
    assert.equal(code, 0, stderr);
    cpSync(mine, theirs, { recursive: true });
  });

  for (const [code, ...args] of COMMANDS) {
    test(args.join(' ').slice(0, 60), async () => {
      const said = await unspentHere([...args, '--data', mine]);
      const process = await ended(start([...args, '--data', theirs]));
      const plain = (text: string): string => text.replaceAll(theirs, mine).replaceAll(MEASURED, '"$1"');
      assert.equal(process.code, code, process.stderr);
      assert.equal(said.code, process.code);
      assert.equal(plain(said.stdout), plain(process.stdout));
      assert.equal(plain(said.stderr), plain(process.stderr));
    });
  }
});
