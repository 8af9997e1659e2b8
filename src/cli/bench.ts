/**
 * `bench cardano|bitcoin|relay|growth|proofs|cage|snapshot|http|readers|publish|cassandra|scale|kupo|engines|wallet|txs`: runs a benchmark of the checkout.
 * Each is a module in bench/ with its own options, which are handed over as they were typed.
 */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { UnspentError } from '../util/errors.ts';
import { action } from './context.ts';

interface Benchmark {
  run(options: { json: boolean; args: string[] }): Promise<void>;
}

const BENCHMARKS = {
  cardano: 'decode, floor and full sync of the sample chunks, and their ratio',
  bitcoin: 'sync from block files against its floor and a real node; scripts with many outputs',
  relay: 'sync over N2N and N2C against the folder itself; latency at the tip',
  http: 'requests a second at rest, while syncing, and of large answers',
  readers: 'the server beside its store against one and two readers of a copy in PostgreSQL',
  publish: 'publishing into PostgreSQL against a bare COPY, a block at the tip, and what it costs a sync',
  cassandra: 'publishing into Cassandra against the batches of the bare driver',
  scale: 'what chains of three sizes need and what breaks first, from measured costs a row: the tables of docs/scale.md',
  kupo: 'lists of 25 to 176,000 matches for eight clients at a time, as Kupo measures itself',
  proofs: 'what the Merkle structures and the set hash cost a sync; proofs and their verification as the set grows',
  cage: 'what following cages costs a chain without them; one trie of a million facts; blocks full of requests',
  snapshot: 'export, verification and import of a synthetic set against reading and hashing its files',
  engines: 'RocksDB and SQLite in turns: sync, single blocks, lookups, scans, a growing set',
  wallet: 'wallets in SQLite and in PostgreSQL: balances, pages, selections, blocks, and what a long history costs',
  txs: 'the transaction store: creates, spends and a prune pass against bare writes; spends during a pass; storage',
  growth: 'cost per output and bytes on disk as the unspent set grows',
} as const;

export function registerBench(program: Command): void {
  const bench = program.command('bench').description('measure speed (needs a checkout)').helpCommand(false);
  for (const [name, doc] of Object.entries(BENCHMARKS)) {
    bench
      .command(name)
      .description(doc)
      .argument('[options...]', 'handed to the benchmark as they are')
      .allowUnknownOption()
      .addHelpText('after', `\nThe options of the benchmark itself are described at the top of bench/${name}.ts.`)
      .action(action(({ output }) => runBenchmark(name, output.json)));
  }
}

async function runBenchmark(name: string, json: boolean): Promise<void> {
  const module = new URL(`../../bench/${name}.ts`, import.meta.url);
  if (!existsSync(module)) {
    throw new UnspentError('UNSUPPORTED', `there is no benchmark '${name}' here: benchmarks come with a checkout of the sources`, { name });
  }
  const { run } = (await import(module.href)) as Partial<Benchmark>;
  if (run === undefined) throw new Error(`bench/${name}.ts has no function run`);
  await run({ json, args: argumentsAfter(name) });
}

/** As typed, because some of them look like ours. */
function argumentsAfter(name: string): string[] {
  const args = process.argv.slice(2);
  const after = args.slice(args.indexOf(name, args.indexOf('bench') + 1) + 1);
  return after.filter((arg) => arg !== '--json');
}
