/**
 * What the oracle tests share: the oracle files, a store in a directory that
 * goes away with the test, and the comparison with a checkpoint.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { type OpenOptions, type OpenStore, openStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { fixtures, readFixtureText } from '../support/fixtures.ts';

export interface Checkpoint {
  readonly at: string;
  /** Absent: genesis itself, before any block. */
  readonly slot?: number;
  readonly blockNo?: number;
  readonly hash?: string;
  readonly blocks: number;
  readonly txs: number;
  readonly utxos: number;
  readonly lovelace: string;
  readonly created: number;
  readonly spent: number;
  readonly digest: string;
}

export interface InvalidTransaction {
  readonly slot: number;
  readonly blockNo: number;
  readonly txIndex: number;
  readonly txId: string;
  readonly declaredOutputs: number;
  readonly collateralSpent: readonly string[];
  readonly collateralReturnIndex: number;
}

export interface Oracle {
  readonly checkpoints: readonly Required<Checkpoint>[];
  readonly genesis: Checkpoint;
  readonly invalidTransactions: readonly InvalidTransaction[];
}

export function readOracle(file: string): Oracle {
  const { checkpoints, invalidTransactions = [] } = JSON.parse(readFixtureText('cardano', 'oracle', file)) as {
    checkpoints: readonly Checkpoint[];
    invalidTransactions?: readonly InvalidTransaction[];
  };
  const [genesis, ...rest] = checkpoints;
  return { genesis, checkpoints: rest as Required<Checkpoint>[], invalidTransactions };
}

/** The URL of a folder of chunks, as people write it. */
export function chunks(...path: readonly string[]): string {
  return `immutable:${fixtures('cardano', 'immutable', ...path)}`;
}

/** Wider than a network's own where that is small: many checkpoints are to be gone back to. */
const WINDOWS = ['utxo.pruneDepth=2160', 'utxo.rollbackWindow=4320'];

/** Opens stores, one after the other, in a directory of its own; the last is closed and the directory removed when the test ends. */
export function opener(t: TestContext): (options: OpenOptions, flags?: Readonly<Record<string, unknown>>) => Promise<OpenStore> {
  const data = mkdtempSync(join(tmpdir(), 'unspent-oracle-'));
  let store: OpenStore | undefined;
  t.after(async () => {
    await store?.close();
    rmSync(data, { recursive: true, force: true });
  });
  return async (options, flags = {}) => {
    await store?.close();
    store = undefined;
    const set = [...WINDOWS, ...((flags['set'] as readonly string[] | undefined) ?? [])];
    store = await openStore({ config: loadConfig({ flags: { ...flags, set } }).config, ...options, data });
    return store;
  };
}

function assertTotals(store: OpenStore, expected: Required<Checkpoint>): void {
  const { head } = store.fold;
  assert.ok(head !== null);
  const found = { slot: head.slot, blockNo: head.height, hash: toHex(head.hash), utxos: head.utxos, lovelace: String(head.value) };
  const { slot, blockNo, hash, utxos, lovelace } = expected;
  assert.deepEqual(found, { slot, blockNo, hash, utxos, lovelace }, expected.at);
  assert.equal(head.missing, 0);
}

/** Point, totals and a digest of the whole unspent set. */
export function assertCheckpoint(store: OpenStore, expected: Required<Checkpoint>): void {
  assertTotals(store, expected);
  const { utxos, value, digest } = store.digest();
  assert.deepEqual(
    { utxos, lovelace: String(value), digest },
    { utxos: expected.utxos, lovelace: expected.lovelace, digest: expected.digest },
    expected.at,
  );
}

export function assertSound(store: OpenStore): void {
  const { faults, utxos } = store.verify();
  assert.deepEqual(faults, []);
  assert.equal(utxos, store.fold.head?.utxos ?? 0);
}

/** The root of the tree over the unspent set, now or as it was at a place. */
export function rootOf(store: OpenStore, place?: string): string | null {
  const leaf = store.network.ledger.leaf!;
  const point = place === undefined ? undefined : store.locate(place);
  const root = store.read((query) => (point === undefined ? query.csmt(leaf) : query.csmt(leaf, point)).root());
  return root === null ? null : toHex(root);
}
