/**
 * Stores of both families with the tree over the unspent set, beside producers
 * that know what is unspent. How an output stands in the tree is written here a
 * second time, from the specification, and the root of a set is that of the
 * plain reference: nothing is shared with the projection but the hashes.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { blake2b256 } from '../../src/crypto/hash.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Ledger, OutputLeaf, Point } from '../../src/ledgers/ledger.ts';
import { bitsToText, type csmt } from '../../src/proofs/index.ts';
import type { Query } from '../../src/query/query.ts';
import type { Fold } from '../../src/state/fold.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { csmtRoot } from '../proofs/reference.ts';
import type { PlainOutput } from './bitcoin-chain.ts';
import type { BitcoinRig } from './bitcoin-rig.ts';
import type { Rig } from './harness.ts';

/** An unspent output as the tree should have it. */
export interface WorldOutput extends csmt.UtxoEntry {
  readonly owner: Uint8Array;
}

export interface World {
  readonly name: string;
  readonly ledger: Ledger;
  readonly leaf: OutputLeaf;
  engine(): Engine;
  fold(): Fold;
  /** Of the producer, by `<id hex>#<index>`. */
  outputs(): Map<string, WorldOutput>;
  /** Block of the producer's chain by its place in it. */
  point(place: number): Point;
  length(): number;
  forward(blocks: number, sizes: readonly number[]): void;
  /** The producer goes back, too. */
  back(depth: number): void;
  /** Applies blocks that the producer has, from that place on. */
  again(from: number, sizes: readonly number[]): void;
  read<T>(body: (query: Query) => T): T;
  close(): Promise<void>;
}

export function cardanoWorld(rig: Rig): World {
  const { chain, ledger } = rig.devnet;
  return {
    name: 'cardano',
    ledger,
    leaf: ledger.leaf!,
    engine: () => rig.engine,
    fold: () => rig.fold,
    // Before the first block not even genesis has happened.
    outputs: () => new Map(chain.blocks.length === 0 ? [] : [...chain.utxos.values()].map((utxo) => named(cardanoOutput(utxo)))),
    point: (place) => chain.blocks[place],
    length: () => chain.blocks.length,
    forward: (blocks, sizes) => rig.forward(blocks, sizes),
    again: (from, sizes) => rig.apply(rig.devnet.blocks(from), sizes),
    back(depth) {
      rig.fold.rollback(rig.devnet.pointBelow(depth));
      chain.rollback(depth);
    },
    read: (body) => rig.read(body),
    close: () => rig.close(),
  };
}

export function bitcoinWorld(rig: BitcoinRig): World {
  const { chain, ledger } = rig;
  return {
    name: 'bitcoin',
    ledger,
    leaf: ledger.leaf!,
    engine: () => rig.engine,
    fold: () => rig.fold,
    outputs: () => new Map([...chain.utxos.values()].map((output) => named(bitcoinOutput(output)))),
    point: (place) => chain.blocks[place],
    length: () => chain.blocks.length,
    forward: (blocks, sizes) => rig.forward(blocks, sizes),
    again: (from, sizes) => rig.apply(chain.blocks.slice(from), sizes),
    back: (depth) => rig.back(depth),
    read: (body) => rig.read(body),
    close: () => rig.close(),
  };
}

function named(output: WorldOutput): readonly [string, WorldOutput] {
  return [`${toHex(output.txId)}#${output.index}`, output];
}

/** Owner: the hash of the raw address. Content: the output as it stands in its block. */
export function cardanoOutput({
  txId,
  index,
  addressHex,
  output,
}: ReturnType<Rig['devnet']['chain']['utxos']['get']> & object): WorldOutput {
  return { txId, index, owner: blake2b256(fromHex(addressHex)), txOut: output };
}

/** Owner: the script hash. Content: CBOR `[value, script]`. */
export function bitcoinOutput({ txId, index, value, script }: PlainOutput): WorldOutput {
  const owner = Uint8Array.from(createHash('sha256').update(script).digest());
  return { txId, index, owner, txOut: concatBytes(Uint8Array.of(0x82), cborHead(0, value), cborHead(2, BigInt(script.length)), script) };
}

function cborHead(major: number, argument: bigint): Uint8Array {
  if (argument < 24n) return Uint8Array.of((major << 5) | Number(argument));
  const width = argument < 1n << 8n ? 1 : argument < 1n << 16n ? 2 : argument < 1n << 32n ? 4 : 8;
  const more = argument.toString(16).padStart(2 * width, '0');
  return concatBytes(Uint8Array.of((major << 5) | (24 + Math.log2(width))), fromHex(more));
}

/** `[id, index]` in CBOR, as text of bits behind the owner. */
function keyText({ owner, txId, index }: WorldOutput): string {
  const key = concatBytes(owner, Uint8Array.of(0x82, 0x58, 0x20), txId, cborHead(0, BigInt(index)));
  return bitsToText({ bytes: key, length: 8 * key.length });
}

/** The root of a tree built from nothing over the producer's set. */
export function rootFromScratch(outputs: ReadonlyMap<string, WorldOutput>): string | null {
  return csmtRoot(new Map([...outputs.values()].map((output) => [keyText(output), blake2b256(output.txOut)])));
}

export function rootHex(root: csmt.Root): string | null {
  return root === null ? null : toHex(root);
}

export function storedRoot(world: World, at?: Point | null): string | null {
  return world.read((query) => rootHex(at === undefined ? query.csmt(world.leaf).root() : query.csmt(world.leaf, at).root()));
}

/** The store has the tree of the producer's set. Returns its root. */
export function assertTree(world: World, when = 'the tree'): string | null {
  const root = rootFromScratch(world.outputs());
  assert.equal(storedRoot(world), root, `${world.name}: ${when}`);
  return root;
}
