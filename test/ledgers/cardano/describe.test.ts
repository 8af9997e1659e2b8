/**
 * Outputs and transactions of real blocks, read twice: by our cursor and, as a
 * second opinion that shares no code, from cborg's decoding of the same block.
 * What cborg gave up (original bytes) is checked by hashes the chain names.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { decode, Tagged } from 'cborg';
import fc from 'fast-check';
import { blake2b224 } from '../../../src/crypto/hash.ts';
import type { Asset } from '../../../src/ledgers/asset.ts';
import { readAddress } from '../../../src/ledgers/cardano/address.ts';
import { type DescribedOutput, describeOutput, scriptRefHash } from '../../../src/ledgers/cardano/describe.ts';
import { type DescribedTx, describeByronTx, describeTx, type OutRef } from '../../../src/ledgers/cardano/transaction.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { Cursor } from '../../../src/util/cbor.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { fixtures, hasFixtures, needsFixtures, readFixture } from '../../support/fixtures.ts';

const FIRST_SHELLEY_TAG = 2;
const NO_TAGS_FROM_HERE = 1500;

interface BlockParts {
  readonly era: number;
  readonly raw: Uint8Array;
  /** Where each transaction body stands (Byron: each transaction). */
  readonly bodies: readonly (readonly [number, number])[];
  readonly invalid: ReadonlySet<number>;
}

const names = hasFixtures ? readdirSync(fixtures('cardano', 'blocks')).filter((name) => name.endsWith('.cbor')) : [];
const blocks = names.map((name) => [name, partsOf(readFixture('cardano', 'blocks', name))] as const);
const shelleyBlocks = blocks.filter(([, { era }]) => era >= FIRST_SHELLEY_TAG);

function partsOf(raw: Uint8Array): BlockParts {
  const cursor = new Cursor(raw);
  cursor.array();
  const era = cursor.uint();
  cursor.array();
  cursor.skip();
  const bodies: [number, number][] = [];
  const invalid = new Set<number>();
  if (era === 0) return { era, raw, bodies, invalid };
  const byron = era < FIRST_SHELLEY_TAG;
  if (byron) cursor.array();
  for (let i = 0, n = cursor.array(); cursor.more(n, i); i++) {
    const pair = byron ? cursor.array() : 0;
    const start = cursor.at;
    cursor.skip();
    bodies.push([start, cursor.at]);
    if (!byron) continue;
    cursor.skip();
    cursor.close(pair);
  }
  if (era < 5) return { era, raw, bodies, invalid };
  cursor.skip();
  cursor.skip();
  for (let i = 0, n = cursor.array(); cursor.more(n, i); i++) invalid.add(cursor.uint());
  return { era, raw, bodies, invalid };
}

const txsOf = ({ raw, bodies, invalid }: BlockParts): DescribedTx[] =>
  bodies.map(([start, end], i) => describeTx(raw, start, end, !invalid.has(i)));

/** cborg's own decoding, with every tag kept; null where it refuses the block. */
const tags = Object.fromEntries(Array.from({ length: NO_TAGS_FROM_HERE }, (_, tag) => [tag, Tagged.decoder(tag)]));
function secondOpinion(raw: Uint8Array): unknown[] | null {
  try {
    return (decode(raw, { useMaps: true, tags }) as unknown[][])[1] as unknown[];
  } catch {
    return null;
  }
}

type Cbor = Map<number, unknown>;
const untag = (value: unknown): unknown => (value instanceof Tagged ? value.value : value);
const hexOrNull = (bytes: unknown) => (bytes instanceof Uint8Array ? toHex(bytes) : null);
const big = (value: unknown) => BigInt(value as number | bigint);

/** Both sides are brought to this plain form, all bytes as hex. */
const plainAssets = (assets: readonly Asset[]) => assets.map(({ policy, name, quantity }) => [toHex(policy), toHex(name), quantity]);
const plainRefs = (refs: readonly OutRef[]) => refs.map(({ txId, index }) => [toHex(txId), index]);
const plainOutput = (output: DescribedOutput) => ({
  address: toHex(output.address),
  lovelace: output.lovelace,
  assets: plainAssets(output.assets),
  datumHash: hexOrNull(output.datumHash),
  inlineDatum: hexOrNull(output.inlineDatum),
  scriptRef: hexOrNull(output.scriptRef),
});

function theirAssets(value: unknown): unknown[] {
  const policies = [...((value ?? new Map()) as Map<Uint8Array, Map<Uint8Array, number>>)];
  return policies.flatMap(([policy, byName]) => [...byName].map(([name, quantity]) => [toHex(policy), toHex(name), big(quantity)]));
}

const theirRefs = (value: unknown) => ((untag(value) ?? []) as [Uint8Array, number][]).map(([txId, index]) => [toHex(txId), index]);

function theirOutput(output: unknown) {
  const map = output instanceof Map ? (output as Cbor) : null;
  const [address, value, arrayHash] = map === null ? (output as unknown[]) : [map.get(0), map.get(1)];
  const [coin, assets] = Array.isArray(value) ? value : [value, null];
  const [kind, datum] = (map?.get(2) ?? []) as unknown[];
  return {
    address: toHex(address as Uint8Array),
    lovelace: big(coin),
    assets: theirAssets(assets),
    datumHash: hexOrNull(kind === 0 ? datum : arrayHash),
    inlineDatum: hexOrNull(kind === 1 ? untag(datum) : null),
    scriptRef: hexOrNull(untag(map?.get(3))),
  };
}

const plainTx = (tx: DescribedTx) => ({
  inputs: plainRefs(tx.inputs),
  outputs: tx.outputs.map(plainOutput),
  fee: tx.fee,
  certificates: tx.certificateKinds.length,
  withdrawals: tx.withdrawals.length,
  withdrawn: tx.withdrawn,
  mint: plainAssets(tx.mint),
  collateral: plainRefs(tx.collateral),
  collateralReturn: tx.collateralReturn && plainOutput(tx.collateralReturn),
  totalCollateral: tx.totalCollateral,
  referenceInputs: plainRefs(tx.referenceInputs),
  proposals: tx.proposals.length,
  treasury: tx.treasury,
  donation: tx.donation,
});

function theirTx(body: Cbor) {
  const list = (key: number) => (untag(body.get(key)) ?? []) as unknown[];
  const withdrawals = [...((body.get(5) ?? new Map()) as Map<Uint8Array, number>).values()];
  const amount = (key: number) => (body.has(key) ? big(body.get(key)) : null);
  return {
    inputs: theirRefs(body.get(0)),
    outputs: list(1).map(theirOutput),
    fee: big(body.get(2)),
    certificates: list(4).length,
    withdrawals: withdrawals.length,
    withdrawn: withdrawals.reduce<bigint>((total, coin) => total + big(coin), 0n),
    mint: theirAssets(body.get(9)),
    collateral: theirRefs(body.get(13)),
    collateralReturn: body.has(16) ? theirOutput(body.get(16)) : null,
    totalCollateral: amount(17),
    referenceInputs: theirRefs(body.get(18)),
    proposals: list(20).length,
    treasury: amount(21),
    donation: amount(22) ?? 0n,
  };
}

describe('real blocks', () => {
  test('every transaction of every Shelley and later block reads the same in both decoders', needsFixtures, (t) => {
    let txs = 0;
    let refused = 0;
    const seen = { map: 0, array: 0, assets: 0, datumHash: 0, inlineDatum: 0, scriptRef: 0, mint: 0, sets: 0 };
    for (const [name, parts] of shelleyBlocks) {
      const ours = txsOf(parts);
      const theirs = secondOpinion(parts.raw);
      if (theirs === null) {
        refused++;
        continue;
      }
      const bodies = theirs[1] as Cbor[];
      assert.equal(ours.length, bodies.length, name);
      for (const [i, tx] of ours.entries()) {
        assert.deepEqual(plainTx(tx), theirTx(bodies[i]), `${name} transaction ${i}`);
        txs++;
        if (tx.mint.length > 0) seen.mint++;
        if (bodies[i].get(0) instanceof Tagged) seen.sets++;
        for (const output of tx.outputs) {
          seen[parts.raw[output.start] >> 5 === 5 ? 'map' : 'array']++;
          if (output.assets.length > 0) seen.assets++;
          for (const field of ['datumHash', 'inlineDatum', 'scriptRef'] as const) if (output[field] !== null) seen[field]++;
        }
      }
    }
    t.diagnostic(
      `${txs} transactions of ${shelleyBlocks.length - refused} blocks compared, ${refused} refused by cborg; ${JSON.stringify(seen)}`,
    );
    assert.ok(txs > 1000 && Object.values(seen).every((count) => count > 0), 'the sample covers every form');
  });

  test('the spans of outputs are outputs by themselves, at addresses of a known kind', needsFixtures, () => {
    const kinds = new Set<string>();
    let farthest = 0n;
    for (const [, parts] of shelleyBlocks) {
      for (const { outputs } of txsOf(parts)) {
        for (const { index, start, end, ...output } of outputs) {
          assert.deepEqual(describeOutput(parts.raw, start, end), output);
          assert.deepEqual(describeOutput(parts.raw.slice(start, end)), output);
          const address = readAddress(output.address);
          kinds.add(address.kind);
          if (address.kind === 'pointer' && address.pointer.slot > farthest) farthest = address.pointer.slot;
        }
      }
    }
    assert.deepEqual([...kinds].sort(), ['base', 'byron', 'enterprise', 'pointer']);
    // One pointer of the legacy testnet has a slot number of some 1,300 bits.
    assert.ok(farthest > 1n << 1000n);
  });

  test('the invalid transaction of mainnet: collateral, no return', needsFixtures, () => {
    const [, parts] = blocks.find(([name]) => name.startsWith('mainnet-alonzo-049503576'))!;
    const invalid = txsOf(parts).filter(({ valid }) => !valid);
    assert.equal(invalid.length, 1);
    assert.equal(invalid[0].collateralReturn, null);
    assert.ok(invalid[0].collateral.length > 0);
  });

  test('a collateral return stands behind the declared outputs', needsFixtures, () => {
    const returning = shelleyBlocks.flatMap(([, parts]) => txsOf(parts)).filter(({ collateralReturn }) => collateralReturn !== null);
    assert.ok(returning.length > 0);
    for (const { collateralReturn, outputs } of returning) assert.equal(collateralReturn?.index, outputs.length);
  });

  test('transactions that spend one of their own block name the id we compute', needsFixtures, () => {
    let links = 0;
    for (const [, parts] of shelleyBlocks) {
      const byId = new Map<string, DescribedTx>();
      for (const tx of txsOf(parts)) {
        for (const { txId, index } of tx.inputs) {
          const parent = byId.get(toHex(txId));
          if (parent === undefined) continue;
          links++;
          assert.ok(index < parent.outputs.length);
        }
        byId.set(toHex(tx.id), tx);
      }
    }
    assert.ok(links > 10, `${links} links`);
  });

  test('Byron: outputs, inputs, ids', needsFixtures, () => {
    let outputs = 0;
    for (const [, { era, raw, bodies }] of blocks) {
      if (era !== 1) continue;
      for (const [start, end] of bodies) {
        const tx = describeByronTx(raw, start, end);
        assert.ok(tx.inputs.length > 0);
        for (const output of tx.outputs) {
          assert.equal(readAddress(output.address).kind, 'byron');
          assert.ok(output.lovelace > 0n && output.datumHash === null && output.scriptRef === null);
          outputs++;
        }
      }
    }
    assert.ok(outputs > 10, `${outputs} outputs`);
  });
});

describe('made outputs', () => {
  const address = fromHex(`61${'11'.repeat(28)}`);
  const hash = new Uint8Array(32).fill(9);

  const write = new CborWriter();

  test('indefinite lengths everywhere', () => {
    const assets = write.startMap().bytes(new Uint8Array(28)).startMap().bytes(Uint8Array.of(1)).uint(5).end().end().take();
    const value = write.startArray().uint(7).raw(assets).end().take();
    const pieces = write.startBytes().bytes(address.subarray(0, 10)).bytes(address.subarray(10)).end().take();
    const datum = write.startArray().uint(0).bytes(hash).end().take();
    for (const raw of [
      write.startArray().bytes(address).raw(value).bytes(hash).end().take(),
      write.startMap().uint(0).raw(pieces).uint(1).raw(value).uint(2).raw(datum).end().take(),
    ]) {
      const output = describeOutput(raw);
      assert.deepEqual(output.address, address);
      assert.equal(output.lovelace, 7n);
      assert.deepEqual(plainAssets(output.assets), [['00'.repeat(28), '01', 5n]]);
      assert.deepEqual(output.datumHash, hash);
    }
  });

  test('amounts up to 64 bits are exact', () => {
    const raw = write.array(2).bytes(address).bigUint(18446744073709551615n).take();
    assert.equal(describeOutput(raw).lovelace, 18446744073709551615n);
  });

  test('script hashes: the script that always succeeds, V1 and V2, and a native one', () => {
    const plutus = (kind: number) => write.array(2).uint(kind).bytes(fromHex('4d01000033222220051200120011')).take();
    assert.equal(toHex(scriptRefHash(plutus(1))), '67f33146617a5e61936081db3b2117cbf59bd2123748f58ac9678656');
    assert.notEqual(toHex(scriptRefHash(plutus(2))), toHex(scriptRefHash(plutus(1))));
    // CDDL: script_pubkey = (0, addr_keyhash).
    const native = write.array(2).uint(0).bytes(new Uint8Array(28)).take();
    const hashed = blake2b224(concatBytes(Uint8Array.of(0), native));
    assert.deepEqual(scriptRefHash(write.array(2).uint(0).raw(native).take()), hashed);
  });

  test('what is not an output is an error with its place', () => {
    const wrong: Uint8Array[] = [
      new Uint8Array(),
      write.array(1).bytes(address).take(),
      write.array(4).bytes(address).uint(1).bytes(hash).uint(1).take(),
      write.array(3).bytes(address).uint(1).bytes(address).take(),
      write.map(1).uint(0).bytes(address).take(),
      write.array(2).bytes(address).uint(1).uint(0).take(),
    ];
    for (const raw of wrong) assert.throws(() => describeOutput(raw), { code: 'BLOCK_INVALID', message: /at byte \d+/ });
  });

  test('any bytes give an output or BLOCK_INVALID, nothing else', () => {
    const sound = write.array(3).bytes(address).uint(1).bytes(hash).take();
    const damaged = fc.tuple(fc.nat(sound.length - 1), fc.nat(255)).map(([at, byte]) => sound.map((old, i) => (i === at ? byte : old)));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), damaged), (raw) => {
        try {
          describeOutput(raw);
          describeTx(raw, 0, raw.length, true);
        } catch (error) {
          assert.ok(isUnspentError(error, 'BLOCK_INVALID'), String(error));
        }
      }),
      { numRuns: 3000 },
    );
  });
});
