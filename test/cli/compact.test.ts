/** `compact`, and what `prune` and `rollback` compact at their end: the store is the same afterwards, and smaller. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Forgotten } from '../../src/cli/compact.ts';
import { digestOf, document, temporary, unspent, unspentHere } from './run.ts';

const NEVER = Number.MAX_SAFE_INTEGER;

async function made(kind: string): Promise<string> {
  const data = join(temporary(), 'data');
  const set = ['--set', `engine.kind=${kind}`, '--set', 'engine.memtableBytes=1000000'];
  await document(['sync', '--source', 'devnet:?blocks=300&seed=5', '--data', data, '--utxo-prune-schedule-seconds', '86400', ...set]);
  return data;
}

for (const kind of ['rocks', 'sqlite']) {
  test(`compact leaves the store what it was (${kind})`, async () => {
    const data = await made(kind);
    const before = await digestOf(data);
    const { bytesBefore, bytesAfter, seconds } = await document<Record<string, number>>(['compact', '--data', data]);
    assert.ok(bytesBefore > 0 && bytesAfter > 0 && bytesAfter <= bytesBefore && seconds > 0, `${bytesBefore} ${bytesAfter}`);
    assert.deepEqual(await digestOf(data), before);
    const { code, stdout } = await unspent(['compact', '--data', data]);
    assert.equal(code, 0);
    assert.match(stdout, / before, .* now, in /);
    const verified = await document<{ faultCount: number; filesCompared?: boolean }>(['verify', '--data', data]);
    assert.deepEqual([verified.faultCount, verified.filesCompared === true], [0, kind === 'sqlite']);
  });
}

describe('a command that has forgotten much compacts at its end', () => {
  const run = (args: readonly string[], compactFrom: Forgotten) => unspentHere(args, {}, { compactFrom });

  test('prune', async () => {
    const data = await made('rocks');
    const args = ['prune', '--data', data, '--utxo-prune-depth', '20', '--utxo-rollback-window', '20'];
    const little = await run(args.with(4, '200').with(6, '200'), { prunedRows: 100_000, undoneBlocks: NEVER });
    assert.match(little.stdout, /forgot/);
    assert.doesNotMatch(little.stdout, /compacted/);
    const before = await digestOf(data);
    const much = await run(args, { prunedRows: 100, undoneBlocks: NEVER });
    assert.match(much.stdout, /forgot .*\ncompacted: .* before, .* now\n$/);
    assert.equal((await digestOf(data)).digest, before.digest);
    const again = await run(args, { prunedRows: 1, undoneBlocks: NEVER });
    assert.doesNotMatch(again.stdout, /compacted/, 'there was nothing more');
  });

  test('rollback', async () => {
    const data = await made('rocks');
    const few = await run(['rollback', '--data', data, '--to', 'height:290'], { prunedRows: NEVER, undoneBlocks: 10 });
    assert.doesNotMatch(few.stdout, /compacted/, 'nine blocks');
    const ten = await run(['rollback', '--data', data, '--to', 'height:280'], { prunedRows: NEVER, undoneBlocks: 10 });
    assert.match(ten.stdout, /undid 10 blocks.*\ncompacted: /);
    assert.equal((await document<{ faultCount: number }>(['verify', '--data', data])).faultCount, 0);
  });
});
