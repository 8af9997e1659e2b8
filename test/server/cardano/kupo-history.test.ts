/**
 * Spent outputs through the Kupo API, from the history: every pattern with every
 * bound, against the devnet's own account of its chain, through forks and after
 * what was spent has left the window; who spent them, and metadata.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { readAddress } from '../../../src/ledgers/cardano/index.ts';
import { writeStartHeight } from '../../../src/projections/start-height.ts';
import { auxiliaryJson } from '../../../src/server/cardano/kupo/metadata.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import type { Flavour } from '../../support/harness.ts';
import { type ModelOutput, modelOutputs, modelTxs } from '../../support/history-model.ts';
import { type KupoMatch, matchesIn } from '../../support/kupo-match.ts';
import { assertProblem, Served } from '../../support/served.ts';

interface Row extends ModelOutput {
  readonly createdAt: number;
  /** Null: unspent. */
  readonly spentAt: number | null;
}

/** Every output of the chain, oldest first, with the slots it came and went in. */
function rowsOf({ devnet }: Served): Row[] {
  const { chain } = devnet;
  const [{ slot: first }] = chain.blocks;
  // An output that the ledger itself removed went with the first block of Shelley, or of Allegra.
  const removedAt = ({ lovelace }: ModelOutput['utxo']): number => chain.blocks.find(({ era }) => era >= (lovelace === 0n ? 2 : 3))!.slot;
  return modelOutputs(devnet).map(({ utxo, spent }) => {
    const createdAt = utxo.height < 0 ? first : utxo.slot;
    const spentAt = spent === null ? null : spent === 'ledger' ? removedAt(utxo) : chain.spentBy(utxo.key)!.slot;
    return { utxo, spent, createdAt, spentAt };
  });
}

const nameOf = ({ transaction_id: id, output_index: index }: KupoMatch): string => `${id}#${index}`;
const spenderOf = ({ spent_at: at }: KupoMatch): string | null => (at === null ? null : (at.transaction_id ?? 'ledger'));

/** Patterns, and which outputs they mean. */
function patternsOf(rows: readonly Row[]): Map<string, (row: Row) => boolean> {
  const patterns = new Map<string, (row: Row) => boolean>([['*', () => true]]);
  const parts = (row: Row): ReturnType<typeof readAddress> => readAddress(fromHex(row.utxo.addressHex));
  patterns.set('*/*', (row) => parts(row).kind !== 'byron');
  for (const { utxo } of rows) {
    const { payment, stake } = readAddress(fromHex(utxo.addressHex));
    patterns.set(utxo.addressHex, (row) => row.utxo.addressHex === utxo.addressHex);
    const hashOf = (of: typeof payment): string | null => (of === null ? null : toHex(of.hash));
    if (payment !== null) patterns.set(`${toHex(payment.hash)}/*`, (row) => hashOf(parts(row).payment) === toHex(payment.hash));
    if (stake !== null) patterns.set(`*/${toHex(stake.hash)}`, (row) => hashOf(parts(row).stake) === toHex(stake.hash));
    for (const unit of utxo.assets.keys()) {
      const [policy] = unit.split('.');
      patterns.set(`${policy}.*`, (row) => [...row.utxo.assets.keys()].some((other) => other.startsWith(policy)));
      patterns.set(unit, (row) => row.utxo.assets.has(unit));
    }
  }
  return patterns;
}

async function compareAll(served: Served, limit: number): Promise<number> {
  const rows = rowsOf(served);
  const slots = served.devnet.chain.blocks.map(({ slot }) => slot);
  const [low, high] = [slots[Math.floor(slots.length / 3)], slots[Math.floor((2 * slots.length) / 3)]];
  const bounds: readonly (readonly [query: string, (row: Row) => boolean])[] = [
    ['', () => true],
    ['spent', ({ spentAt }) => spentAt !== null],
    [`created_after=${low}&created_before=${high}`, ({ createdAt }) => createdAt >= low && createdAt <= high],
    [`spent_after=${low}&spent_before=${high}`, ({ spentAt }) => spentAt !== null && spentAt >= low && spentAt <= high],
    [
      `spent&created_before=${low}&spent_after=${high}`,
      ({ createdAt, spentAt }) => createdAt <= low && spentAt !== null && spentAt >= high,
    ],
  ];
  let compared = 0;
  for (const [pattern, isMeant] of [...patternsOf(rows)].slice(0, limit)) {
    for (const [query, isIn] of bounds) {
      const wanted = rows
        .filter((row) => isMeant(row) && isIn(row))
        .map(({ utxo, spent }) => `${utxo.key} ${spent?.split('#')[0] ?? null}`);
      const found = matchesIn(await served.get(`//kupo/matches/${pattern}?order=oldest_first&${query}`));
      const names = found.map((match) => `${nameOf(match)} ${spenderOf(match)}`);
      // What genesis granted is in the order of its own files.
      assert.deepEqual(names.toSorted(), wanted.toSorted(), `${pattern} ${query}`);
      const places = found.map(({ created_at: at, transaction_index: tx, output_index: index }) => [at.slot_no, tx, index]);
      const granted = new Set(served.devnet.genesis.map(({ key }) => key));
      const ordered = places.filter((_, i) => !granted.has(nameOf(found[i])));
      assert.deepEqual(
        ordered,
        ordered.toSorted(([a, b, c], [d, e, f]) => a - d || b - e || c - f),
        `the order of ${pattern} ${query}`,
      );
      const newestFirst = matchesIn(await served.get(`//kupo/matches/${pattern}?${query}`));
      assert.deepEqual(newestFirst.map(nameOf), found.map(nameOf).toReversed(), `${pattern} ${query}, newest first`);
      compared += found.length;
    }
  }
  return compared;
}

describe('spent outputs, from the history', () => {
  for (const [flavour, seed] of [
    ['conway', 3],
    ['ancient', 4],
  ] as readonly [Flavour, number][]) {
    test(`of every pattern, through forks and pruning (${flavour})`, async () => {
      const served = await Served.open({ flavour, seed, blocks: 50, store: { pruneDepth: 10, rollbackWindow: 20 } });
      served.back(8);
      served.forward(14);
      assert.ok((await compareAll(served, 14)) > 500);
      served.prune();
      assert.ok((await compareAll(served, 8)) > 300);
      await served.close();
    });
  }

  test('say which input spent them, as the ledger sorts them', async () => {
    const served = await Served.open({ seed: 6, blocks: 60 });
    let moved = 0;
    for (const tx of modelTxs(served.devnet)) {
      const sorted = tx.spends.map(({ txId, index }) => toHex(txId) + index.toString(16).padStart(8, '0')).sort();
      for (const [written, { key, txId, index }] of tx.spends.entries()) {
        const [match] = matchesIn(await served.get(`//kupo/matches/${index}@${toHex(txId)}`));
        const at = match.spent_at as unknown as { input_index: number; redeemer: string | null };
        const place = sorted.indexOf(toHex(txId) + index.toString(16).padStart(8, '0'));
        assert.equal(at.input_index, place, key);
        if (place !== written) moved++;
        assert.equal(at.redeemer, null, 'this chain runs no scripts');
      }
    }
    assert.ok(moved > 0, 'some inputs are not written in order');
    await served.close();
  });

  test('before a history that began later they are not known, and that is said', async () => {
    const served = await Served.open({ blocks: 30 });
    const batch = served.rig.engine.batch();
    for (const name of ['history', 'history.payment', 'history.stake']) writeStartHeight(batch, name, 15);
    batch.commit();
    served.reads.moved();
    const { slot } = served.devnet.chain.blocks.find(({ height }) => height === 15)!;
    assertProblem(await served.get('//kupo/matches/*'), 'PRUNED', 410);
    assert.match((await served.get('//kupo/matches/*?spent')).text, new RegExp(`created_after=${slot}`));
    // By its transaction an old output is still found while it is kept, without what its script was given.
    const old = modelTxs(served.devnet).find(({ height, spends }) => height < 15 && spends.length > 0)!;
    const [{ spent_at: at }] = matchesIn(await served.get(`//kupo/matches/${old.spends[0].index}@${toHex(old.spends[0].txId)}`));
    assert.ok(at !== null && at.transaction_id === old.id && !('redeemer' in at));
    const found = matchesIn(await served.get(`//kupo/matches/*?created_after=${slot}`));
    assert.equal(found.length, rowsOf(served).filter(({ createdAt }) => createdAt >= slot).length);
    await served.close();
  });
});

describe('metadata', () => {
  test('is of the block of the slot, or of the next one', async () => {
    const served = await Served.open({ seed: 7, blocks: 20 });
    const blocks = served.devnet.blocks();
    for (const [i, block] of blocks.entries()) {
      const answer = await served.get(`//kupo/metadata/${i === 0 ? 0 : blocks[i - 1].slot + 1}`);
      assert.equal(answer.headers['x-block-header-hash'], toHex(block.hash));
      assert.deepEqual(answer.json(), []);
    }
    assert.equal((await served.get(`//kupo/metadata/${served.devnet.chain.tip!.slot + 1}`)).headers['x-block-header-hash'], undefined);
    assertProblem(await served.get('//kupo/metadata/x'), 'USAGE', 400);
    assertProblem(await served.get('//kupo/metadata/7?transaction_id=ab'), 'USAGE', 400);
    await served.close();
  });

  test('is written as Kupo writes it, of each era', () => {
    // {1: {"k": [1, -2, h'ab']}, 2: 2^64 - 1}
    const map = 'a2' + '01' + 'a1616b83012141ab' + '02' + '1bffffffffffffffff';
    const schema =
      '{"1":{"map":[{"k":{"string":"k"},"v":{"list":[{"int":1},{"int":-2},{"bytes":"ab"}]}}]},"2":{"int":"18446744073709551615"}}';
    const hash = toHex(blake2b256(fromHex(map)));
    for (const auxiliary of [map, `82${map}80`, `d90103a200${map}0180`, `d90103bf018000${map}ff`])
      assert.equal(auxiliaryJson(fromHex(auxiliary)), `{"hash":"${hash}","raw":"${map}","schema":${schema}}`, auxiliary);
    assert.equal(auxiliaryJson(fromHex('d90103a10180')), null);
    // Text in pieces is one text.
    assert.match(auxiliaryJson(fromHex('a1017f6161616263e282acff')) ?? '', /"schema":\{"1":\{"string":"ab€"\}\}\}$/);
  });
});
