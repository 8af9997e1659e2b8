/**
 * The two databases that `bench wallet` measures, filled with the lives of three
 * wallets. Filling them takes longer than measuring them: in a folder that keeps
 * them they are filled once, and each run measures copies.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnspentError } from '../src/util/errors.ts';
import { round, timed } from './support.ts';
import type { BenchDatabases } from './wallet-databases.ts';
import { type DatabaseState, WalletDatabase } from './wallet-life.ts';

export interface FillSizes {
  readonly transactions: number;
  readonly coins: number;
  readonly few: number;
  /** Coins of the wallet that pays, those that are chosen while it is measured included. */
  readonly payable: number;
}

/** In a narrow range, so that the payments that are measured need as many inputs as they are meant to. */
export const CHOICE_SAT = { least: 90_000, most: 110_000 };
const COIN_SAT = { least: 10_000, most: 100_000_000 };

export interface FilledWallets {
  /** Wallets `large` and `payer`. */
  readonly large: WalletDatabase;
  /** Wallet `small`. */
  readonly small: WalletDatabase;
}

export async function fillWallets(databases: BenchDatabases, sizes: FillSizes, tell: (line: string) => void): Promise<FilledWallets> {
  const file = databases.folder === undefined ? undefined : join(databases.folder, `${databases.name}.json`);
  const { large, small } = (file !== undefined && readKept(file, sizes)) || (await fill(databases, sizes, tell));
  if (file === undefined) return { large: await open(databases, large), small: await open(databases, small) };
  if (!existsSync(file)) writeFileSync(file, JSON.stringify({ sizes, large, small }));
  return { large: await openCopy(databases, large), small: await openCopy(databases, small) };
}

interface Filled {
  readonly name: string;
  readonly state: DatabaseState;
}

interface Kept {
  readonly sizes: FillSizes;
  readonly large: Filled;
  readonly small: Filled;
}

/** Null: nothing is kept there. */
function readKept(file: string, sizes: FillSizes): Kept | null {
  if (!existsSync(file)) return null;
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept;
  const [has, wanted] = [JSON.stringify(kept.sizes), JSON.stringify(sizes)];
  if (has !== wanted) throw new UnspentError('USAGE', `${file} is of wallets with ${has}, not ${wanted}`);
  return kept;
}

async function fill(databases: BenchDatabases, sizes: FillSizes, tell: (line: string) => void): Promise<Omit<Kept, 'sizes'>> {
  const { transactions, coins, few, payable } = sizes;
  const { seconds, result } = await timed(async () => ({
    large: await fillOne(databases, async (database) => {
      await database.grow(await database.addWallet('large', COIN_SAT), transactions, coins);
      await database.give(await database.addWallet('payer', CHOICE_SAT), payable);
    }),
    small: await fillOne(databases, async (database) => {
      await database.grow(await database.addWallet('small', COIN_SAT), few, Math.ceil((coins * few) / transactions));
    }),
  }));
  const bytes = await databases.bytesOf(result.large.name);
  tell(`${databases.name}: the wallets were made in ${round(seconds, 0)} s; the large database has ${round(bytes / 1e6, 0)} MB`);
  return result;
}

async function fillOne(databases: BenchDatabases, live: (database: WalletDatabase) => Promise<void>): Promise<Filled> {
  const name = await databases.create();
  const database = await WalletDatabase.create(databases.urlOf(name));
  await live(database);
  await database.beginFeed();
  await database.store.close();
  await databases.settle(name);
  return { name, state: database.state };
}

function open(databases: BenchDatabases, { name, state }: Filled): Promise<WalletDatabase> {
  return WalletDatabase.open(databases.urlOf(name), state);
}

async function openCopy(databases: BenchDatabases, { name, state }: Filled): Promise<WalletDatabase> {
  return open(databases, { name: await databases.copyOf(name), state });
}
