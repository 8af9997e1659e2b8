/**
 * What the tests of snapshots share: a chain of either family, stores over it
 * that came to the same block in different ways, and folders to compare.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { Block, Point } from '../../src/ledgers/ledger.ts';
import { exportSnapshot, importSnapshot } from '../../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { type ErrorCode, isUnspentError } from '../../src/util/errors.ts';
import { ForgedChain, randomFrom } from '../support/forged-chain.ts';
import { Devnet, devnetOptions } from '../support/harness.ts';

/** Few rows fit, so that these small sets have several chunks. */
export const CHUNK_BYTES = { cardano: 1500, bitcoin: 10_000 } as const;

/** A chain, and how a store of it is opened. */
export interface World {
  readonly name: string;
  readonly network: string;
  readonly genesis?: { readonly byron: string; readonly shelley: string };
  /** All that is kept, as `--set` writes it. */
  readonly everything: readonly string[];
  /** Blocks of the main chain, oldest first. */
  readonly blocks: readonly Block[];
  /** Another branch: blocks that follow the block at this place of `blocks`. */
  readonly fork: { readonly from: number; readonly blocks: readonly Block[] };
}

const BLOCKS = 160;
const FORK_AT = 100;
const FORK_BLOCKS = 12;

/** Every era from Byron on, or Conway only. */
export function cardano(seed: number, flavour: 'ancient' | 'conway'): World {
  const devnet = new Devnet(devnetOptions(seed, flavour), { dressed: flavour === 'conway' });
  devnet.mine(FORK_AT + FORK_BLOCKS);
  const side = devnet.blocks(FORK_AT);
  devnet.chain.rollback(FORK_BLOCKS);
  devnet.mine(BLOCKS - FORK_AT);
  const kept = ['balances', 'datums', 'scripts', ...['policy', 'asset', 'datumHash', 'referenceScript'].map((name) => `index.${name}`)];
  return {
    name: `cardano (${flavour})`,
    network: 'devnet',
    genesis: { byron: devnet.chain.genesisByron, shelley: devnet.chain.genesisShelley },
    everything: [...kept.map((name) => `utxo.${name}=true`), 'proofs.setHash=true', 'proofs.csmt=true'],
    blocks: devnet.blocks(),
    fork: { from: FORK_AT - 1, blocks: side },
  };
}

export function bitcoin(seed: number): World {
  const chain = new ForgedChain(randomFrom(seed));
  chain.mine(FORK_AT + FORK_BLOCKS - 1);
  const side = chain.blocks.slice(FORK_AT);
  chain.fork(FORK_AT - 1);
  chain.mine(BLOCKS - FORK_AT);
  return {
    name: 'bitcoin',
    network: chain.network.name,
    everything: ['utxo.balances=true', 'proofs.setHash=true', 'proofs.csmt=true'],
    blocks: chain.blocks,
    fork: { from: FORK_AT - 1, blocks: side },
  };
}

export function configOf(set: readonly string[]) {
  const small = ['engine.memtableBytes=2000000', 'engine.cacheBytes=2000000', 'utxo.pruneScheduleSeconds=86400'];
  return loadConfig({ flags: { set: [...small, ...set] } }).config;
}

/** A folder that goes with the process. */
export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-snapshot-'));
  if (folders.push(directory) === 1) process.on('exit', () => folders.forEach(remove));
  return directory;
}

const folders: string[] = [];

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Opens (and makes) a store and closes it after the body. */
export async function withStore<T>(
  world: World,
  data: string,
  body: (store: OpenStore) => T | Promise<T>,
  set: readonly string[] = [],
): Promise<T> {
  const { network, genesis } = world;
  const store = await openStore({ data, network, config: configOf(set), ...(genesis === undefined ? {} : { genesis }) });
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** A store at the first `count` blocks, in groups of `size`. */
export function synced<T>(
  world: World,
  data: string,
  count: number,
  size: number,
  body: (store: OpenStore) => T | Promise<T>,
  set: readonly string[] = [],
): Promise<T> {
  return withStore(
    world,
    data,
    (store) => {
      applyIn(store, world.blocks.slice(0, count), size);
      return body(store);
    },
    set,
  );
}

export function applyIn(store: OpenStore, blocks: readonly Block[], size: number): void {
  for (let at = 0; at < blocks.length; at += size) store.fold.apply(blocks.slice(at, at + size));
}

/** By way of the other branch, and back and forth on the main one. */
export function wander(store: OpenStore, { blocks, fork }: World, count: number): void {
  applyIn(store, blocks.slice(0, fork.from + 1), 7);
  applyIn(store, fork.blocks, 3);
  store.rollback(blocks[fork.from]);
  applyIn(store, blocks.slice(fork.from + 1, count), 5);
  store.rollback(blocks[count - 30]);
  applyIn(store, blocks.slice(count - 29, count), 2);
}

export async function exported(store: OpenStore, folder: string, at?: Point | null): Promise<ReadonlyMap<string, string>> {
  await exportSnapshot(store, folder, { chunkBytes: CHUNK_BYTES[store.network.family.name], at: at ?? undefined });
  return filesOf(folder);
}

/** Every file, as latin1. */
export function filesOf(folder: string): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'latin1')]),
  );
}

export function imported(world: World, folder: string, data: string, set: readonly string[] = []) {
  return importSnapshot(folder, { data, config: configOf(set), ...(world.genesis === undefined ? {} : { genesis: world.genesis }) });
}

export async function assertFails(body: () => Promise<unknown>, code: ErrorCode, what: string): Promise<string> {
  let message = '';
  await assert.rejects(
    body,
    (error) => {
      if (!isUnspentError(error)) throw error;
      assert.equal(error.code, code, `${what}: ${error.message}`);
      message = error.message;
      return true;
    },
    what,
  );
  return message;
}
