/**
 * Nothing is made or lost. Over the whole preview run, with a plain map of
 * unspent outputs that shares nothing with the store, every transaction's
 * lovelace and every native asset balance exactly.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import type { Asset } from '../../src/ledgers/asset.ts';
import { builtinGenesisUtxos } from '../../src/ledgers/cardano/builtin-genesis.ts';
import { type CardanoTx, decodeBlock } from '../../src/ledgers/cardano/decode.ts';
import { type DescribedOutput, describeOutput } from '../../src/ledgers/cardano/describe.ts';
import { type DescribedTx, describeTx, type OutRef } from '../../src/ledgers/cardano/transaction.ts';
import { toHex } from '../../src/util/bytes.ts';
import { Cursor } from '../../src/util/cbor.ts';
import { fixtures, needsFixtures, readFixture } from '../support/fixtures.ts';
import { readOracle } from './oracle.ts';

const FOLDER = ['cardano', 'immutable', 'preview-from-genesis'] as const;
const BYRON_EPOCH_SLOTS = 4320;
/** Lovelace. Every deposit of the time (2 ada a key, 500 ada a pool) is a multiple of it. */
const KEY_DEPOSIT = 2_000_000n;

type Holding = Pick<DescribedOutput, 'lovelace' | 'assets'>;
const keyOf = (id: Uint8Array, index: number): string => `${toHex(id)}#${index}`;

/** The blocks of a chunk, one after the other. */
function* blocksOf(chunk: Uint8Array): Iterable<Uint8Array> {
  const cursor = new Cursor(chunk);
  while (cursor.at < chunk.length) {
    const start = cursor.at;
    cursor.skip();
    yield chunk.subarray(start, cursor.at);
  }
}

const lovelaceOf = (holdings: readonly Holding[]): bigint => holdings.reduce((sum, { lovelace }) => sum + lovelace, 0n);

/** Adds quantities by policy and name; what comes to nothing is left out. */
function addAssets(totals: Map<string, bigint>, assets: readonly Asset[], sign: bigint): void {
  for (const { policy, name, quantity } of assets) {
    const key = `${toHex(policy)}.${toHex(name)}`;
    const total = (totals.get(key) ?? 0n) + sign * quantity;
    if (total === 0n) totals.delete(key);
    else totals.set(key, total);
  }
}

class Audit {
  readonly unspent = new Map<string, Holding>();
  readonly counts = { txs: 0, balanced: 0, withDeposits: 0, withAssets: 0, minting: 0, invalid: 0 };
  readonly exceptions: string[] = [];

  tx(tx: DescribedTx): void {
    this.counts.txs++;
    const created = tx.valid ? tx.outputs : tx.collateralReturn === null ? [] : [tx.collateralReturn];
    const consumed = this.consume(tx.valid ? tx.inputs : tx.collateral, tx);
    if (tx.valid) this.valid(tx, consumed);
    else this.invalid(tx, consumed, created);
    for (const output of created) this.unspent.set(keyOf(tx.id, output.index), output);
  }

  private valid(tx: DescribedTx, consumed: readonly Holding[]): void {
    const surplus = lovelaceOf(consumed) + tx.withdrawn - lovelaceOf(tx.outputs) - tx.fee - tx.donation;
    if (tx.certificateKinds.length === 0 && tx.proposals.length === 0) {
      // With a withdrawal it must balance too: the reward is an input like any other.
      this.check(tx, surplus === 0n, `${surplus} lovelace over`);
      if (tx.withdrawals.length === 0) this.counts.balanced++;
    } else {
      this.check(tx, surplus % KEY_DEPOSIT === 0n, `${surplus} lovelace are no deposits`);
      this.counts.withDeposits++;
    }
    this.assets(tx, consumed, tx.mint, tx.outputs);
  }

  private invalid(tx: DescribedTx, consumed: readonly Holding[], created: readonly Holding[]): void {
    this.counts.invalid++;
    const taken = lovelaceOf(consumed) - lovelaceOf(created);
    this.check(tx, taken === tx.totalCollateral, `${taken} lovelace of collateral taken, ${tx.totalCollateral} declared`);
    this.counts.balanced++;
    this.assets(tx, consumed, [], created);
  }

  private assets(tx: DescribedTx, consumed: readonly Holding[], mint: readonly Asset[], created: readonly Holding[]): void {
    const totals = new Map<string, bigint>();
    for (const { assets } of consumed) addAssets(totals, assets, 1n);
    addAssets(totals, mint, 1n);
    if (mint.length > 0) this.counts.minting++;
    if (totals.size > 0) this.counts.withAssets++;
    for (const { assets } of created) addAssets(totals, assets, -1n);
    this.check(tx, totals.size === 0, `assets do not balance: ${[...totals].join(' ')}`);
  }

  private consume(refs: readonly OutRef[], tx: DescribedTx): Holding[] {
    const keys = new Set(refs.map(({ txId, index }) => keyOf(txId, index)));
    return [...keys].flatMap((key) => {
      const holding = this.unspent.get(key);
      this.check(tx, this.unspent.delete(key), `spends ${key}, which is not unspent`);
      return holding ?? [];
    });
  }

  private check({ id }: DescribedTx, holds: boolean, what: string): void {
    if (!holds) this.exceptions.push(`${toHex(id)}: ${what}`);
  }
}

/** The fold's reading of the same transaction: what it spends and creates, in the same words. */
function assertSameEffects(raw: Uint8Array, tx: CardanoTx, described: DescribedTx): void {
  const spends = described.valid ? described.inputs : described.collateral;
  const creates = described.valid ? described.outputs : described.collateralReturn === null ? [] : [described.collateralReturn];
  assert.deepEqual(
    tx.spends.map(({ at, index }) => keyOf(raw.subarray(at, at + 32), index)),
    [...new Set(spends.map(({ txId, index }) => keyOf(txId, index)))],
  );
  assert.equal(toHex(tx.id), toHex(described.id));
  assert.equal(tx.creates.length, creates.length);
  for (const [i, { index, start, end, valueHi, valueLo }] of tx.creates.entries()) {
    const value = (BigInt(valueHi) << 32n) | BigInt(valueLo);
    assert.deepEqual([index, start, end, value], [creates[i].index, creates[i].start, creates[i].end, creates[i].lovelace]);
  }
}

test('every transaction of the preview run balances', needsFixtures, (t) => {
  const audit = new Audit();
  for (const { txId, raw, create } of builtinGenesisUtxos('preview')?.byron ?? []) {
    const output = describeOutput(raw);
    if (output.lovelace > 0n) audit.unspent.set(keyOf(txId, create.index), output);
  }
  assert.equal(audit.unspent.size, 1);
  const chunks = readdirSync(fixtures(...FOLDER)).filter((name) => name.endsWith('.chunk.gz'));
  for (const name of chunks.sort()) {
    for (const raw of blocksOf(readFixture(...FOLDER, name))) {
      for (const tx of decodeBlock(raw, BYRON_EPOCH_SLOTS).txs) {
        const described = describeTx(raw, tx.start, tx.end, tx.valid);
        assertSameEffects(raw, tx, described);
        audit.tx(described);
      }
    }
  }
  assert.deepEqual(audit.exceptions, []);
  t.diagnostic(JSON.stringify(audit.counts));
  const { checkpoints } = readOracle('preview-from-genesis.json');
  const last = checkpoints[checkpoints.length - 1];
  assert.deepEqual(audit.counts, { txs: last.txs, balanced: 16_236, withDeposits: 938, withAssets: 11_966, minting: 7690, invalid: 9 });
  assert.equal(audit.unspent.size, last.utxos);
  assert.equal(String(lovelaceOf([...audit.unspent.values()])), last.lovelace);
});
