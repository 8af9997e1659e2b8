/**
 * The history of the preview network from its first block: as many transactions
 * as the oracle counts, each with everything it names resolved and its value
 * preserved, the invalid ones as the oracle says, and redeemers and metadata as a
 * second CBOR library reads them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, Tagged } from 'cborg';
import { readMetadata } from '../../src/ledgers/cardano/metadata.ts';
import { SpendReader } from '../../src/query/cardano/spend-details.ts';
import { type ResolvedTx, Transactions } from '../../src/query/cardano/transactions.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { assertSound, chunks, opener, readOracle } from './oracle.ts';

/** Every so manyth transaction is looked at closely. */
const LOOKED_AT = 25;
const tags = Object.fromEntries(Array.from({ length: 1500 }, (_, tag) => [tag, Tagged.decoder(tag)]));
const read = (bytes: Uint8Array): unknown => decode(bytes, { useMaps: true, tags });
const untag = (value: unknown): unknown => (value instanceof Tagged ? value.value : value);

/** What goes in comes out; nothing is said of those with certificates, which deposit and refund. */
function assertPreserved({ valid, inputs, collateral, referenceInputs, outputs, fee, body, id }: ResolvedTx): void {
  for (const { utxo } of [...inputs, ...collateral, ...referenceInputs]) assert.ok(utxo !== null, `all of ${toHex(id)} is resolved`);
  if (body.certificateKinds.length > 0 || body.proposals.length > 0 || body.donation > 0n) return;
  const sum = (list: readonly { readonly value: bigint }[]): bigint => list.reduce((total, { value }) => total + value, 0n);
  const spent = sum((valid ? inputs : collateral).map(({ utxo }) => utxo!.output)) + (valid ? body.withdrawn : 0n);
  assert.equal(spent, sum(outputs.map(({ output }) => output)) + (fee ?? 0n), toHex(id));
}

/** Returns how many redeemers and labels of metadata there were. */
function assertAsCborg({ raw, redeemers, auxiliary }: ResolvedTx): [number, number] {
  const [, witnesses, , data] = read(raw) as [unknown, Map<number, unknown>, boolean, unknown];
  const given = (untag(witnesses.get(5)) ?? []) as unknown[] | Map<unknown, unknown>;
  assert.equal(redeemers.length, given instanceof Map ? given.size : given.length);
  if (auxiliary === null) return [redeemers.length, 0];
  const inner = untag(data);
  const map = data instanceof Tagged ? (inner as Map<number, unknown>).get(0) : Array.isArray(inner) ? inner[0] : inner;
  const labels = readMetadata(auxiliary);
  assert.deepEqual(
    labels.map(({ label }) => Number(label)),
    map === undefined ? [] : [...(map as Map<number, unknown>).keys()].map(Number),
  );
  return [redeemers.length, labels.length];
}

test('the history of preview', needsFixtures, async (t) => {
  const { checkpoints, invalidTransactions } = readOracle('preview-from-genesis.json');
  const last = checkpoints.at(-1)!;
  const store = await opener(t)({ network: 'preview' }, { set: ['utxo.history=true'] });
  await store.follow(chunks('preview-from-genesis'), { until: { kind: 'slot', slot: last.slot } });
  store.read((query) => {
    const txs = new Transactions(query);
    const spends = new SpendReader(txs.outputs.history);
    let [count, redeemers, labels, scripted] = [0, 0, 0, 0];
    for (const tx of txs.outputs.history.every()) {
      if (count++ % LOOKED_AT !== 0) continue;
      const resolved = txs.resolve(tx);
      assertPreserved(resolved);
      const [given, told] = assertAsCborg(resolved);
      redeemers += given;
      labels += told;
      if (given === 0 || !resolved.valid) continue;
      const details = resolved.inputs.map(({ txId, index }) => spends.details(tx.id, txId, index) ?? assert.fail('it is spent here'));
      const bySpending = resolved.redeemers.filter(({ tag }) => tag === 0);
      assert.equal(details.filter(({ redeemer }) => redeemer !== null).length, bySpending.length);
      scripted += bySpending.length;
    }
    assert.equal(count, last.txs);
    assert.ok(redeemers > 20 && labels > 2 && scripted > 10, `${redeemers} redeemers, ${labels} labels, ${scripted} inputs with scripts`);
    for (const { txId, collateralSpent, collateralReturnIndex, blockNo, txIndex } of invalidTransactions) {
      const tx = txs.byId(fromHex(txId)) ?? assert.fail(txId);
      assert.deepEqual(
        [tx.valid, tx.height, tx.txIndex, tx.outputs.map(({ index }) => index)],
        [false, blockNo, txIndex, [collateralReturnIndex]],
      );
      assert.deepEqual(
        tx.collateral.map((ref) => `${toHex(ref.txId)}#${ref.index}`),
        collateralSpent,
      );
      assertPreserved(tx);
    }
  });
  assertSound(store);
});
