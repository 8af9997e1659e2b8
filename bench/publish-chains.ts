/** The sample chains that `bench publish` publishes, and what its parts share. */
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import type { Config } from '../src/config/schema.ts';
import { type OpenOptions, type OpenStore, openStore } from '../src/store/store.ts';
import type { PostgresServer } from '../test/support/sql/postgres-server.ts';
import { processorSecondsOf, samples, temporary, unpackChunks } from './support.ts';

export interface SampleChain {
  readonly name: string;
  readonly chunks: string;
  readonly open: OpenOptions;
}

export interface SampleChains {
  /** Small blocks, many of them. */
  readonly preview: SampleChain;
  /** Blocks as mainnet has them. */
  readonly conway: SampleChain;
}

/** Unpacked into that folder. `previewChunks`: how many from its first, of 280. */
export function unpackSamples(folder: string, previewChunks: number): SampleChains {
  const [preview, conway] = [join(folder, 'preview'), join(folder, 'conway')];
  const isWanted = Array.from({ length: previewChunks }, (_, i) => `${i}`.padStart(5, '0')).join('|');
  unpackChunks(samples('cardano', 'immutable', 'preview-from-genesis'), new RegExp(`^(${isWanted})\\.(chunk|secondary)\\.gz$`), preview);
  unpackChunks(samples('cardano', 'immutable', 'mainnet'), /^06189\.(chunk|secondary)\.gz$/, conway);
  return {
    preview: { name: 'preview', chunks: preview, open: { network: 'preview' } },
    conway: { name: 'mainnet, a Conway chunk', chunks: conway, open: { network: 'mainnet', partial: true } },
  };
}

/** A window that holds the whole sample, so that every block of it can be published as a change. */
function config(): Config {
  return loadConfig({ flags: { set: ['utxo.pruneDepth=100000', 'utxo.rollbackWindow=100000'] }, env: {} }).config;
}

/** An empty store for a chain; it goes when it is closed. */
export async function openSampleStore(chain: SampleChain): Promise<{ readonly store: OpenStore; close(): Promise<void> }> {
  const folder = temporary('publish');
  const store = await openStore({ ...chain.open, data: join(folder.path, 'data'), config: config() });
  const close = async (): Promise<void> => {
    await store.close();
    folder.remove();
  };
  return { store, close };
}

/** Processes of a server that serve connections by that name. */
export async function backendsOf(server: PostgresServer, application: string): Promise<readonly number[]> {
  const rows = await server.execute(`SELECT pid FROM pg_stat_activity WHERE application_name = '${application}'`);
  return rows.map(({ pid }) => Number(pid));
}

/** Seconds of processor time of some processes. */
export function processorSecondsOfAll(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + processorSecondsOf(pid), 0);
}
