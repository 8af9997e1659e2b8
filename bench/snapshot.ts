/**
 * Snapshots of a synthetic set of --outputs (default 1,000,000): export, verify
 * and import, in outputs a second, and each as a ratio to the floor: reading the
 * same files and hashing them, which is the least that anybody who checks them
 * has to do. --rounds N takes the best of several (default 1).
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DevnetChain } from '../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../src/config/load.ts';
import { exportSnapshot, importSnapshot, verifySnapshot } from '../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../src/store/store.ts';
import { type BenchOptions, best, option, round, say, temporary, timed } from './support.ts';
import { OUTPUTS_PER_TX, SyntheticChain } from './synthetic.ts';

const BLOCK_TXS = 1000;
/** What a store can keep besides its default indexes. */
const RICHER = ['utxo.balances=true', 'proofs.setHash=true', 'proofs.csmt=true'];

export async function run(options: BenchOptions): Promise<void> {
  const outputs = option(options.args, 'outputs', 1_000_000);
  const rounds = option(options.args, 'rounds', 1);
  const folder = temporary('snapshot');
  const [snapshot, fresh] = ['snapshot', 'fresh'].map((name) => join(folder.path, name));
  const config = (set: readonly string[]) => loadConfig({ flags: { set: [...set] } }).config;
  const repeated = async (before: () => void, body: () => Promise<unknown>): Promise<number> => {
    const seconds: number[] = [];
    for (let i = 0; i < rounds; i++) {
      before();
      seconds.push((await timed(body)).seconds);
    }
    return best(seconds);
  };
  const remove = (path: string) => (): void => rmSync(path, { recursive: true, force: true });
  try {
    const store = await filled(join(folder.path, 'store'), outputs);
    const exported = await repeated(remove(snapshot), () => exportSnapshot(store, snapshot));
    await store.close();
    const floor = await repeated(
      () => {},
      async () => hashAll(snapshot),
    );
    const verified = await repeated(
      () => {},
      () => verifySnapshot(snapshot),
    );
    const imported = await repeated(remove(fresh), () => importSnapshot(snapshot, { data: fresh, config: config([]) }));
    const richer = await repeated(remove(fresh), () => importSnapshot(snapshot, { data: fresh, config: config(RICHER) }));
    const bytes = sizeOf(snapshot);
    report(options, outputs, bytes, floor, { exported, verified, imported, richer });
  } finally {
    folder.remove();
  }
}

async function filled(data: string, outputs: number): Promise<OpenStore> {
  const { genesisByron, genesisShelley } = new DevnetChain({ seed: 1, addresses: 3 });
  const config = loadConfig({ flags: {} }).config;
  const store = await openStore({ data, network: 'devnet', genesis: { byron: genesisByron, shelley: genesisShelley }, config });
  const chain = new SyntheticChain(outputs + OUTPUTS_PER_TX * BLOCK_TXS);
  while (chain.liveCount < outputs) store.fold.apply([chain.block(BLOCK_TXS, 0)]);
  return store;
}

const filesIn = (folder: string): string[] => readdirSync(folder).map((name) => join(folder, name));

function hashAll(folder: string): void {
  for (const path of filesIn(folder)) createHash('sha256').update(readFileSync(path)).digest();
}

function sizeOf(folder: string): number {
  return filesIn(folder).reduce((sum, path) => sum + readFileSync(path).length, 0);
}

function report(options: BenchOptions, outputs: number, bytes: number, floor: number, seconds: Readonly<Record<string, number>>): void {
  const figures = Object.entries(seconds).map(([name, each]) => ({
    name,
    seconds: round(each, 2),
    outputsPerSecond: Math.round(outputs / each),
    toFloor: round(each / floor, 1),
  }));
  if (options.json) {
    console.log(JSON.stringify({ outputs, bytes, floorSeconds: round(floor, 3), figures }));
    return;
  }
  say(options, `${outputs} outputs, ${round(bytes / 1e6, 1)} MB; reading and hashing that takes ${round(floor, 2)} s`);
  for (const each of figures)
    say(options, `${each.name}: ${each.seconds} s, ${each.outputsPerSecond} outputs/s, ${each.toFloor} x the floor`);
}
