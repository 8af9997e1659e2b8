/**
 * Chunk folders for the tests of the ImmutableDB source: real ones, ones made of
 * a devnet, plain copies of some of their chunks, and what the source makes of a
 * folder.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import { readHeader } from '../../../src/ledgers/cardano/header.ts';
import type { Point } from '../../../src/ledgers/ledger.ts';
import { openImmutable } from '../../../src/sources/cardano/immutable/index.ts';
import type { ChainEvent, Run } from '../../../src/sources/source.ts';
import { type ErrorCode, isUnspentError, type UnspentError } from '../../../src/util/errors.ts';
import { type ChunkFiles, makeChunkFiles, writeChunkFolder } from '../../support/chunk-folder.ts';
import { mineEveryEra } from '../../support/every-era.ts';
import { fixtures, readFixture } from '../../support/fixtures.ts';

export const PREVIEW = { byronEpochSlots: 4320, pollMs: 5 };
export const MAINNET = { byronEpochSlots: 21_600, pollMs: 5 };
export const ALL_ERAS = { byronEpochSlots: 600, pollMs: 5 };
export const NEVER = new AbortController().signal;

/** 400 Conway blocks in four chunks. */
export const devnet = mined(new DevnetChain({ seed: 4, addresses: 3, txPerBlock: 1 }), 400);
export const DEVNET_CHUNKS = ['00000', '00001', '00002', '00003'];
/** Every era from Byron with its boundary blocks to Conway, in three chunks. */
export const everyEra = mineEveryEra(9);
export const EVERY_ERA_CHUNKS = ['00000', '00001', '00002'];

const MADE: Readonly<Record<string, ChunkFiles>> = {
  devnet: makeChunkFiles(devnet, 100),
  everyEra: makeChunkFiles(everyEra, 80),
};

const scratch = mkdtempSync(join(tmpdir(), 'unspent-immutable-'));
after(() => rmSync(scratch, { recursive: true }));
let folders = 0;

export function newFolder(): string {
  const folder = join(scratch, String(folders++));
  mkdirSync(folder);
  return folder;
}

/** An archived folder: of the sample data, or made. */
export function place(name: string): string {
  if (MADE[name] === undefined) return fixtures('cardano', 'immutable', name);
  const folder = join(scratch, `${name}-packed`);
  if (!existsSync(folder)) writeChunkFolder(folder, MADE[name], true);
  return folder;
}

/** A file of such a folder, unpacked. */
export function inflated(folder: string, name: string): Uint8Array {
  return MADE[folder]?.get(name) ?? readFixture('cardano', 'immutable', folder, `${name}.gz`);
}

function mined(chain: DevnetChain, blocks: number): DevnetChain {
  while (chain.blocks.length < blocks) chain.mine();
  return chain;
}

/** A plain copy of some chunks, with or without their indexes. */
export function unpack(from: string, chunks: readonly string[], indexes = true): string {
  const folder = newFolder();
  for (const chunk of chunks) {
    writeFileSync(join(folder, `${chunk}.chunk`), inflated(from, `${chunk}.chunk`));
    if (indexes) writeFileSync(join(folder, `${chunk}.secondary`), inflated(from, `${chunk}.secondary`));
  }
  return folder;
}

interface Collected {
  readonly runs: Run[];
  readonly events: ChainEvent[];
  readonly raws: Uint8Array[];
  readonly intact: number;
  readonly error: UnspentError | undefined;
}

export async function collect(path: string, options = PREVIEW, from: readonly Point[] = []): Promise<Collected> {
  const runs: Run[] = [];
  let error: UnspentError | undefined;
  try {
    for await (const run of openImmutable(path, options).runs({ from, signal: NEVER, follow: false })) runs.push(run);
  } catch (thrown) {
    if (!isUnspentError(thrown)) throw thrown;
    error = thrown;
  }
  const events = runs.flatMap((run) => run.events);
  const blocks = events.filter((event) => event.kind === 'forward');
  return { runs, events, raws: blocks.map(({ raw }) => raw), intact: blocks.filter(({ intact }) => intact).length, error };
}

export async function firstRun(path: string, options: typeof PREVIEW, from: readonly Point[]): Promise<Run> {
  for await (const run of openImmutable(path, options).runs({ from, signal: NEVER, follow: false })) return run;
  return assert.fail('no run at all');
}

export const digest = (raws: readonly Uint8Array[]): string => {
  const hash = createHash('sha256');
  for (const raw of raws) hash.update(raw);
  return `${raws.length} ${hash.digest('hex')}`;
};

export const pointOf = (raw: Uint8Array, { byronEpochSlots } = PREVIEW): Point => {
  const { height, slot, hash } = readHeader(raw, byronEpochSlots);
  return { height, slot, hash };
};

export function assertLinked(raws: readonly Uint8Array[], { byronEpochSlots } = PREVIEW): void {
  let before: Uint8Array | undefined;
  for (const raw of raws) {
    const { hash, prevHash } = readHeader(raw, byronEpochSlots);
    if (before !== undefined) assert.ok(prevHash !== null && Buffer.compare(prevHash, before) === 0, 'linked');
    before = hash;
  }
}

export function assertFailed({ error }: Collected, code: ErrorCode, message: RegExp): void {
  assert.equal(error?.code, code);
  assert.match(error?.message ?? '', message);
}

export const unknownAt = (slot: number): Point => ({ height: 1, slot, hash: new Uint8Array(32).fill(7) });
/** A block that the devnet's folder does not have, at the slot of one that it has. */
export const unknownBeside = (height: number): Point => unknownAt(devnet.blocks[height].slot);
export const lastOf = <T>(items: readonly T[]): T => items[items.length - 1];
