/** What a second CBOR library reads in a block: its transactions, their effects, their ids and where they stand. */
import assert from 'node:assert/strict';
import { decode, decodeFirst, Tagged } from 'cborg';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import type { CardanoBlock, CardanoTx } from '../../../src/ledgers/cardano/decode.ts';
import { ERA } from '../../../src/ledgers/cardano/header.ts';
import { toHex } from '../../../src/util/bytes.ts';

/** cborg's reading, with every tag kept. */
const tags = Object.fromEntries(Array.from({ length: 1500 }, (_, tag) => [tag, Tagged.decoder(tag)]));
const cborgOptions = { useMaps: true, tags };
const untag = (value: unknown): unknown => (value instanceof Tagged ? value.value : value);
type Body = ReadonlyMap<number, unknown>;

function cborg(raw: Uint8Array): unknown[] | null {
  try {
    return (decode(raw, cborgOptions) as [number, unknown[]])[1];
  } catch {
    return null;
  }
}

/** Where the transactions stand, found by cborg alone: what an item leaves over says where it ends. */
function bodySpans(raw: Uint8Array, byron: boolean): [number, number][] {
  const skip = (at: number): number => raw.length - (decodeFirst(raw.subarray(at), cborgOptions) as [unknown, Uint8Array])[1].length;
  // The wrapper `82 <era>`, the block's array head, the header, and for Byron the head of the body.
  let at = skip(3);
  if (byron) at++;
  const info = raw[at] & 0x1f;
  const indefinite = info === 31;
  const count = indefinite ? Number.POSITIVE_INFINITY : info === 24 ? raw[at + 1] : info;
  at += info === 24 ? 2 : 1;
  const spans: [number, number][] = [];
  for (let i = 0; i < count && !(indefinite && raw[at] === 0xff); i++) {
    const end = skip(at);
    spans.push(byron ? [at + 1, skip(at + 1)] : [at, end]);
    at = end;
  }
  return spans;
}

const refs = (value: unknown): string[] => {
  const list = ((untag(value) ?? []) as [Uint8Array, number][]).map(([id, index]) => `${toHex(id)}#${index}`);
  return [...new Set(list)];
};
const coinOf = (value: unknown): bigint => BigInt((Array.isArray(value) ? value[0] : value) as number | bigint);

function theirOutput(output: unknown): { address: string; lovelace: bigint } {
  const [address, value] = output instanceof Map ? [output.get(0), output.get(1)] : (output as unknown[]);
  return { address: toHex(address as Uint8Array), lovelace: coinOf(value) };
}

function theirEffects(body: Body, valid: boolean) {
  const outputs = (body.get(1) as unknown[]).map(theirOutput);
  if (valid) return { spends: refs(body.get(0)), creates: outputs.map((output, index) => ({ index, ...output })) };
  const back = body.has(16) ? [{ index: outputs.length, ...theirOutput(body.get(16)) }] : [];
  return { spends: refs(body.get(13)), creates: back };
}

function theirByronEffects([inputs, outputs]: unknown[]) {
  const spends = (inputs as [number, Tagged][]).map(([, inner]) => {
    const [id, index] = decode(inner.value as Uint8Array) as [Uint8Array, number];
    return `${toHex(id)}#${index}`;
  });
  const creates = (outputs as [[Tagged, number], number | bigint][]).map(([[payload, crc], coin], index) => ({
    index,
    address: `82d818${bytesHead((payload.value as Uint8Array).length)}${toHex(payload.value as Uint8Array)}${uintHex(crc)}`,
    lovelace: BigInt(coin),
  }));
  return { spends, creates };
}

const bytesHead = (length: number): string =>
  length < 24 ? (0x40 + length).toString(16) : length < 256 ? `58${hexOf(length, 1)}` : `59${hexOf(length, 2)}`;
const uintHex = (value: number): string =>
  value < 24 ? hexOf(value, 1) : value < 256 ? `18${hexOf(value, 1)}` : value < 65536 ? `19${hexOf(value, 2)}` : `1a${hexOf(value, 4)}`;
const hexOf = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');

function ourEffects(raw: Uint8Array, tx: CardanoTx) {
  return {
    spends: tx.spends.map(({ at, index }) => `${toHex(raw, at, at + 32)}#${index}`),
    creates: tx.creates.map(({ index, addressStart, addressEnd, valueHi, valueLo }) => ({
      index,
      address: toHex(raw, addressStart, addressEnd),
      lovelace: (BigInt(valueHi) << 32n) | BigInt(valueLo),
    })),
  };
}

/** Compares what both read, and counts it; null where cborg refuses the block. */
export function compareWithCborg(name: string, raw: Uint8Array, block: CardanoBlock): { txs: number; outputs: number } | null {
  const theirs = cborg(raw);
  if (theirs === null) return null;
  const counts = { txs: 0, outputs: 0 };
  if (block.boundary) return counts;
  const byron = block.era === ERA.byron;
  const bodies = (byron ? (theirs[1] as unknown[])[0] : theirs[1]) as unknown[];
  assert.equal(block.txs.length, bodies.length, name);
  const spans = bodySpans(raw, byron);
  assert.equal(spans.length, bodies.length, name);
  const invalid = new Set((block.era >= ERA.alonzo ? theirs[4] : []) as number[]);
  assert.deepEqual(new Set(block.txs.flatMap((tx, i) => (tx.valid ? [] : [i]))), invalid, name);
  for (const [i, tx] of block.txs.entries()) {
    const expected = byron ? theirByronEffects((bodies[i] as unknown[][])[0]) : theirEffects(bodies[i] as Body, !invalid.has(i));
    assert.deepEqual(ourEffects(raw, tx), expected, `${name} transaction ${i}`);
    assert.deepEqual([tx.start, tx.end], spans[i], `${name} transaction ${i}`);
    assert.equal(toHex(tx.id), toHex(blake2b256(raw, ...spans[i])), `${name} transaction ${i}`);
    counts.txs++;
    counts.outputs += tx.creates.length;
  }
  return counts;
}
