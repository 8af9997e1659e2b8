/**
 * Devnet blocks with witnesses: datums and scripts put into the witness sets of
 * a block's transactions, from a pool so small that the same ones come back in
 * outputs and in other blocks. Which ones follows from the block's hash. The
 * header stays, so hash and links do too; only its proof of the body is void.
 */

import { Random } from '../../src/chains/random.ts';
import { blake2b224, blake2b256 } from '../../src/crypto/hash.ts';
import { type CardanoBlock, decodeBlock } from '../../src/ledgers/cardano/decode.ts';
import { describeOutput } from '../../src/ledgers/cardano/describe.ts';
import type { WitnessKind } from '../../src/ledgers/ledger.ts';
import { concatBytes, fromHex, readU32 } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';

const ERA_ALONZO = 5;
const TAG_SET = 258;
const DATUMS_KEY = 4;
/** By kind of script: its key in a witness set. */
const SCRIPT_KEYS = [1, 3, 6, 7] as const;
const BYRON_EPOCH_SLOTS = 21_600;

/** Small numbers, and the empty constructors that devnet outputs carry too. */
const DATUMS = ['00', '01', '182a', 'd87980', 'd87a80', 'd87b80', 'd87c80'].map((hex) => fromHex(hex));

/** By kind: a script as it stands in a witness set. */
const SCRIPTS: readonly (readonly Uint8Array[])[] = [
  ['8200581c'.concat('11'.repeat(28)), '8201818200581c'.concat('22'.repeat(28))],
  ['4401020304', '4101'],
  ['4401020304'],
  ['43aabbcc'],
].map((list) => list.map((hex) => fromHex(hex)));

/** What a transaction brought along. */
export interface Brought {
  readonly txIndex: number;
  readonly kind: WitnessKind;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface Dressed {
  readonly raw: Uint8Array;
  readonly brought: readonly Brought[];
}

export function dress(raw: Uint8Array): Dressed {
  const block = decodeBlock(raw, BYRON_EPOCH_SLOTS);
  if (block.era < ERA_ALONZO || block.txs.length === 0) return { raw, brought: [] };
  const random = new Random(readU32(block.hash, 0));
  const own = ownScripts(block);
  const brought: Brought[] = [];
  const w = new CborWriter(4096);
  w.startArray();
  for (let i = 0; i < block.txs.length; i++) witnessSet(w, random, own, i, brought);
  const [, from, to] = block.parts;
  return { raw: concatBytes(raw.subarray(0, from), w.end().take(), raw.subarray(to)), brought };
}

/** Scripts that outputs of this block carry, by kind, as they would stand in a witness set. */
function ownScripts({ raw, txs }: CardanoBlock): readonly (readonly Uint8Array[])[] {
  const own: Uint8Array[][] = [[], [], [], []];
  for (const { creates } of txs) {
    for (const { start, end } of creates) {
      // `[kind, script]`: one byte each for the head and the kind.
      const { scriptRef } = describeOutput(raw, start, end);
      if (scriptRef !== null) own[scriptRef[1]].push(scriptRef.subarray(2));
    }
  }
  return own;
}

function witnessSet(w: CborWriter, random: Random, own: readonly (readonly Uint8Array[])[], txIndex: number, brought: Brought[]): void {
  w.startMap();
  if (random.chance(0.5)) {
    const datums = drawn(random, DATUMS);
    list(w.uint(DATUMS_KEY), random, datums);
    for (const bytes of datums) brought.push({ txIndex, kind: 'datum', hash: blake2b256(bytes), bytes });
  }
  for (const [kind, key] of SCRIPT_KEYS.entries()) {
    if (!random.chance(0.2)) continue;
    const scripts = drawn(random, [...SCRIPTS[kind], ...own[kind]]);
    list(w.uint(key), random, scripts);
    for (const script of scripts) {
      const hashed = kind === 0 ? script : stringBody(script);
      const hash = blake2b224(concatBytes(Uint8Array.of(kind), hashed));
      brought.push({ txIndex, kind: 'script', hash, bytes: concatBytes(Uint8Array.of(0x82, kind), script) });
    }
  }
  w.end();
}

function drawn(random: Random, pool: readonly Uint8Array[]): Uint8Array[] {
  return Array.from({ length: random.int(4) }, () => random.pick(pool));
}

/** The content of a CBOR byte string shorter than 256 bytes. */
function stringBody(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes[0] === 0x58 ? 2 : 1);
}

function list(w: CborWriter, random: Random, items: readonly Uint8Array[]): void {
  if (random.chance(0.5)) w.tag(TAG_SET);
  const indefinite = random.chance(0.3);
  if (indefinite) w.startArray();
  else w.array(items.length);
  for (const item of items) w.raw(item);
  if (indefinite) w.end();
}
