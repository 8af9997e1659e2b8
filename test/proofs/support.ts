/**
 * What the tests of the proofs share: the vectors of the specification, a
 * random source that repeats, and dumps of node stores to compare.
 */
import { existsSync } from 'node:fs';
import { type Bits, bitsFromText, MemoryNodes, type mmr } from '../../src/proofs/index.ts';
import { toHex } from '../../src/util/bytes.ts';
import { fixtures, readFixtureText } from '../support/fixtures.ts';
import { ROUNDS } from '../support/rounds.ts';

/** The seed of every random test here; the same setting as everywhere repeats a run. */
const TEST_SEED = Number(process.env['UNSPENT_TEST_SEED'] ?? 20_260_715);

/** True proofs that are made, accepted, changed in one place and then refused, by structure: together more than 100,000 (`counts.test.ts`). */
export const PROOFS = { csmt: 50_000 * ROUNDS, range: 20_000 * ROUNDS, unspent: 15_000 * ROUNDS, forestry: 20_000 * ROUNDS } as const;

const folder = fixtures('spec', 'vectors');

/** For the options of a test that reads vectors. */
export const needsVectors: { readonly skip: string | false } = {
  skip: existsSync(folder) ? false : `needs the vectors of the specification, not found at ${folder}; set UNSPENT_FIXTURES`,
};

/** A file of vectors, typed by the test that reads it. */
export function readVectors<T>(name: string): T {
  return JSON.parse(readFixtureText('spec', 'vectors', name)) as T;
}

export function bits(text: string): Bits {
  const found = bitsFromText(text);
  if (found === null) throw new Error(`not bits: ${text}`);
  return found;
}

/** Rows in key order, as text: equal dumps are equal stores. */
export function dumpNodes(nodes: MemoryNodes): string[] {
  return [...nodes.entries()].map(([key, value]) => `${toHex(key)} ${value === undefined ? '-' : toHex(value)}`).sort();
}

/** A small random source (mulberry32). Tests print the seed they begin with. */
export class Dice {
  readonly seed: number;
  private state: number;

  constructor(seed = TEST_SEED) {
    this.seed = seed;
    this.state = seed >>> 0;
  }

  /** A whole number from 0 to `below`, exclusive. */
  below(below: number): number {
    this.state = (this.state + 0x6d2b_79f5) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % below;
  }

  chance(outOf: number): boolean {
    return this.below(outOf) === 0;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  bitText(length: number): string {
    return Array.from({ length }, () => this.below(2)).join('');
  }
}

/** Rows of a range over outputs in memory, each kind apart. */
export function memorySpaces(): mmr.UtxoSpaces<MemoryNodes> {
  return { nodes: new MemoryNodes(), pruned: new MemoryNodes(), chunks: new MemoryNodes(), chunkNodes: new MemoryNodes() };
}

export function dumpSpaces({ nodes, pruned, chunks, chunkNodes }: mmr.UtxoSpaces<MemoryNodes>): string {
  return [nodes, pruned, chunks, chunkNodes].map((space) => dumpNodes(space).join('\n')).join('\n--\n');
}
