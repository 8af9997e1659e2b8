/**
 * Holds every row of a store against what the producer says about the block at
 * its head: a store that mixes two blocks, or lost or kept a single row, fails.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { blake2b224 } from '../../src/crypto/hash.ts';
import { outpointIndex, readOutputIndex } from '../../src/ledgers/outpoint.ts';
import { readChainRow } from '../../src/projections/chain.ts';
import { readStored, type StoredOutput } from '../../src/projections/coin.ts';
import { readTxRow } from '../../src/projections/transactions.ts';
import { SpentRows } from '../../src/query/spent-rows.ts';
import { META_PREFIX } from '../../src/state/head.ts';
import { readPruned } from '../../src/state/pruned.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { equalBytes, fromHex, readU64, toHex } from '../../src/util/bytes.ts';
import type { Story, StoryOutput, StoryState } from './crash-story.ts';
import { ORIGIN, type TreeBlock } from './crash-tree.ts';

const BASE_BYTES = 57;
const SINGLE_BYTES = 29;

export function headOf(store: OpenStore): string {
  return store.fold.head === null ? ORIGIN : toHex(store.fold.head.hash);
}

/** Returns the block the store is at. */
export function checkStore(store: OpenStore, story: Story): TreeBlock | null {
  const block = story.tree.find(headOf(store));
  ok(block !== undefined, `the head ${headOf(store)} is a block of the story`);
  const state = story.stateAt(block);
  checkHead(store, story, block, state);
  checkChain(store, state);
  checkUnspent(store, story, state);
  checkSpent(store, story, state);
  checkIndexes(store, state);
  checkTransactions(store, state);
  deepEqual(store.verify().faults, [], 'verify finds nothing');
  return block;
}

function checkHead({ fold: { head } }: OpenStore, story: Story, block: TreeBlock | null, state: StoryState): void {
  if (block === null || head === null) {
    equal(head, block);
    return;
  }
  const { era, boundary } = story.minedAt(block);
  const { hash: _, ...rest } = head;
  const { height, slot } = block;
  deepEqual(rest, { height, slot, era, boundary, utxos: state.unspent.size, value: state.value, missing: 0 }, 'the head record');
}

/** `chain`, `chain_hash` and `delta` hold the blocks of the branch, the deltas those above the cursor. */
function checkChain({ engine }: OpenStore, { path }: StoryState): void {
  const rows = [...engine.scan('chain', { lt: Uint8Array.of(META_PREFIX) })];
  deepEqual(
    rows.map(([key, value]) => toHex(readChainRow(key, value).hash)),
    path.map((block) => block.hash),
    'the chain is the branch of the head',
  );
  equal([...engine.scan('chain_hash')].length, path.length, 'chain_hash has a row for each block');
  const { deltas } = readPruned(engine);
  deepEqual(
    [...engine.scan('delta')].map(([key]) => toHex(key)),
    rows
      .map(([key]) => key)
      .filter((key) => readU64(key, 0) > deltas)
      .map((key) => toHex(key)),
    `there is a delta for each block above height ${deltas}`,
  );
}

function checkUnspent(store: OpenStore, story: Story, state: StoryState): void {
  let count = 0;
  for (const [key, value] of store.engine.scan('utxo_unspent')) {
    const name = outpointName(key);
    const expected = state.unspent.get(name);
    ok(expected !== undefined, `${name} is unspent in the store only`);
    checkOutput(name, readStored(value), expected, story);
    count++;
  }
  equal(count, state.unspent.size, 'outputs that are unspent');
  deepEqual(store.digest(), { utxos: count, value: state.value, digest: state.digest }, 'the digest');
}

/** Spent outputs are there for the blocks above the cursor and for no other. */
function checkSpent({ engine }: OpenStore, story: Story, state: StoryState): void {
  const { spent: forgotten } = readPruned(engine);
  let count = 0;
  const rows = new SpentRows(engine);
  for (const [key, value] of engine.scan('utxo_spent')) {
    const name = outpointName(key);
    const expected = state.spent.get(name);
    ok(expected !== undefined, `${name} is spent in the store only`);
    ok(expected.spentHeight > forgotten, `${name}, spent at height ${expected.spentHeight}, was to be forgotten up to ${forgotten}`);
    const { txId, input, height, slot, output } = rows.read(key, value);
    deepEqual({ height, slot }, { height: expected.spentHeight, slot: expected.spentSlot }, `where ${name} was spent`);
    deepEqual(txId === null ? null : { txId: toHex(txId), input }, expected.by, `who spent ${name}`);
    checkOutput(name, output, expected, story);
    count++;
  }
  const kept = [...state.spent.values()].filter((spend) => spend.spentHeight > forgotten);
  equal(count, kept.length, `outputs spent above height ${forgotten}`);
}

function checkOutput(name: string, stored: StoredOutput, expected: StoryOutput, story: Story): void {
  const { utxo, height, slot } = expected;
  ok(equalBytes(stored.raw, utxo.output), `the bytes of ${name}`);
  ok(stored.value === utxo.lovelace && stored.height === height && stored.slot === slot, `the header of ${name}`);
  ok(story.isGenesis(expected) || stored.txIndex === utxo.txIndex, `the place of ${name} in its block`);
}

function checkIndexes({ engine }: OpenStore, state: StoryState): void {
  const expected = { address: new Set<string>(), payment: new Set<string>(), stake: new Set<string>() };
  for (const { utxo, slot } of state.unspent.values()) {
    const address = fromHex(utxo.addressHex);
    const row = (key: Uint8Array) => `${toHex(key)} ${slot} ${utxo.key}`;
    expected.address.add(row(blake2b224(address)));
    // CIP-19: kinds 0 to 7 begin with a payment credential, 0 to 3 go on with that of the stake.
    const kind = address[0] >> 4;
    if (kind <= 7) expected.payment.add(row(address.subarray(1, SINGLE_BYTES)));
    if (kind <= 3) expected.stake.add(row(address.subarray(SINGLE_BYTES, BASE_BYTES)));
  }
  // Rows of indexes end with a place, and have nothing; another column has the transactions of places.
  const txIds = new Map(Array.from(engine.scan('utxo_place'), ([key, txId]) => [toHex(key), toHex(txId)]));
  equal(txIds.size, state.unspent.size, 'places');
  for (const [kind, rows] of Object.entries(expected)) {
    let count = 0;
    for (const [key, value] of engine.scan(`utxo_${kind}`)) {
      equal(value.length, 0, `a row of the ${kind} index has nothing but its key`);
      const row = `${toHex(key, 0, 28)} ${readU64(key, 28)} ${txIds.get(toHex(key, 28))}#${readOutputIndex(key, 40)}`;
      ok(rows.has(row), `the ${kind} index has a row of its own: ${row}`);
      count++;
    }
    equal(count, rows.size, `rows of the ${kind} index`);
  }
}

function checkTransactions({ engine }: OpenStore, state: StoryState): void {
  let count = 0;
  for (const [key, value] of engine.scan('tx')) {
    const { height, txIndex, valid } = readTxRow(value);
    deepEqual({ height, index: txIndex, valid }, state.txs.get(toHex(key)), `transaction ${toHex(key)}`);
    count++;
  }
  equal(count, state.txs.size, 'transactions');
}

function outpointName(key: Uint8Array): string {
  return `${toHex(key, 0, 32)}#${outpointIndex(key)}`;
}
