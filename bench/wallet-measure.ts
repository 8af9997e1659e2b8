/**
 * What `bench wallet` measures in one kind of database. A figure is the middle and
 * the 99th percentile of its rounds by the clock, and by the processor time of
 * this thread, which a busy machine does not lengthen; of a PostgreSQL server that
 * is only our side.
 */
import { selectPayment } from '../src/wallet/bitcoin/operations/payment.ts';
import type { WalletCoin, WalletTx } from '../src/wallet/records.ts';
import { collectGarbage, round, timed } from './support.ts';
import type { BenchDatabases } from './wallet-databases.ts';
import { CHOICE_SAT, fillWallets } from './wallet-fill.ts';
import { NOW, type WalletDatabase, type WalletLife } from './wallet-life.ts';

export interface WalletSizes {
  readonly transactions: number;
  readonly coins: number;
  readonly choices: number;
  readonly few: number;
  readonly block: number;
  readonly chain: number;
  readonly waiting: number;
  readonly dead: number;
  readonly rounds: number;
}

export interface WalletFigure {
  readonly database: string;
  readonly what: string;
  readonly unit: 'ms' | 'ratio';
  readonly p50: number;
  readonly p99: number | null;
  readonly cpuP50: number | null;
  readonly cpuP99: number | null;
  readonly limit: number | null;
  readonly limitOf: 'p50' | 'p99';
  /** Null: there is no limit. */
  readonly holds: boolean | null;
}

/** What the rounds of one figure took, in milliseconds. */
interface Rounds {
  readonly wall: readonly number[];
  readonly cpu: readonly number[];
}

const PAGE_COINS = 100;
const INPUTS = 20;
/** Between so many selections a block pays the wallet. */
const SELECTIONS_PER_BLOCK = 10;
const BLOCK_ROUNDS_MAX = 40;
const CHAIN_ROUNDS = 3;
const PAID_SCRIPT = Uint8Array.from([0x00, 0x14, ...new Uint8Array(20)]);
const RATE = 20_000;
/** A transaction with one input and two outputs, for those that somebody looks into: how large it is counts, and nothing else. */
const ONE_INPUT_TX = Uint8Array.from([
  ...[2, 0, 0, 0, 0, 1, 1],
  ...new Uint8Array(36).fill(1),
  ...[0, 0xff, 0xff, 0xff, 0xff, 2],
  ...[0, 0, 0, 0, 0, 0, 0, 1, PAID_SCRIPT.length, ...PAID_SCRIPT],
  ...[0, 0, 0, 0, 0, 0, 0, 1, PAID_SCRIPT.length, ...PAID_SCRIPT],
  ...[2, 72, ...new Uint8Array(72), 33, ...new Uint8Array(33), 0, 0, 0, 0],
]);

export async function measureWallets(
  databases: BenchDatabases,
  sizes: WalletSizes,
  tell: (line: string) => void,
): Promise<readonly WalletFigure[]> {
  const { name } = databases;
  const { transactions, coins, few, choices } = sizes;
  const filled = await fillWallets(databases, { transactions, coins, few, payable: choices + SELECTIONS_PER_BLOCK * INPUTS }, tell);
  const large = { database: filled.large, life: filled.large.life('large') };
  const small = { database: filled.small, life: filled.small.life('small') };
  collectGarbage();
  try {
    return [
      ...(await measureReads(name, large, sizes)),
      ...(await measureSelections(name, large.database, filled.large.life('payer'), sizes)),
      ...(await measureWaiting(name, large.database, filled.large.life('payer'), sizes)),
      ...(await measureBlocks(name, large, small, sizes)),
      ...(await measureInvalidations(name, large, sizes)),
    ];
  } finally {
    await filled.large.store.close();
    await filled.small.store.close();
  }
}

interface OwnWallet {
  readonly database: WalletDatabase;
  readonly life: WalletLife;
}

async function measureReads(name: string, { database, life }: OwnWallet, { rounds }: WalletSizes): Promise<WalletFigure[]> {
  const { store } = database;
  const { id } = life.info;
  const filter = { now: NOW };
  const balance = () => () => store.balance(id, filter);
  const firstBalance = await repeat(1, balance);
  const balances = await repeat(rounds, balance);
  let last: WalletCoin | undefined;
  const page = () => async () => {
    last = (await store.listCoins(id, filter, { after: last, limit: PAGE_COINS })).at(-1);
  };
  // Before the first page there is no coin to begin behind: that is one statement, and all others are another.
  await repeat(2, page);
  const pages = await repeat(rounds, page);
  return [
    figureOf(name, 'first balance after opening', firstBalance, 'p50', null),
    figureOf(name, 'balance', balances, 'p99', 5),
    figureOf(name, `page of ${PAGE_COINS} coins`, pages, 'p99', 10),
  ];
}

async function measureSelections(name: string, database: WalletDatabase, payer: WalletLife, sizes: WalletSizes): Promise<WalletFigure[]> {
  const { context } = database;
  const value = BigInt(INPUTS * ((CHOICE_SAT.least + CHOICE_SAT.most) / 2));
  const inputCounts: number[] = [];
  let count = 0;
  const pay = async (): Promise<() => Promise<void>> => {
    if (++count % SELECTIONS_PER_BLOCK === 0) await database.nextBlock([payer.chain.receive(SELECTIONS_PER_BLOCK * INPUTS)])();
    const wallet = await context.store.getWallet(payer.info.name);
    return async () => {
      const outputs = [{ script: PAID_SCRIPT, value: value - BigInt(count) }];
      const { selection } = await selectPayment(context, wallet, { outputs, rate: RATE, leaseMs: 3_600_000 });
      inputCounts.push(selection.inputs.length);
    };
  };
  const first = await repeat(1, pay);
  const rest = await repeat(sizes.rounds - 1, pay);
  const inputs = percentile(inputCounts, 0.5);
  return [
    figureOf(name, `first selection after opening, from ${sizes.choices} coins`, first, 'p50', null),
    figureOf(name, `selection and lease of ${inputs} inputs from ${sizes.choices} coins`, rest, 'p99', 50),
  ];
}

/** Coins of transactions that wait come with what their ancestors owe, and what is dead is in no payment's way. */
async function measureWaiting(name: string, database: WalletDatabase, payer: WalletLife, sizes: WalletSizes): Promise<WalletFigure[]> {
  const { context, store } = database;
  const { info, chain } = payer;
  const { waiting, dead } = sizes;
  const fallen = chain.chain(dead);
  await store.applyTxBatch(
    info.id,
    fallen.map((tx) => chain.news(info.id, tx, NOW)),
  );
  await store.invalidateTx(info.id, fallen[0].id);
  const txs = Array.from({ length: waiting }, () => ({ ...chain.spend(), raw: ONE_INPUT_TX }));
  await store.applyTxBatch(
    info.id,
    txs.map((tx) => chain.news(info.id, tx, NOW)),
  );
  const wallet = await store.getWallet(info.name);
  const outputs = [{ script: PAID_SCRIPT, value: BigInt(CHOICE_SAT.least) }];
  const pay = () => () => selectPayment(context, wallet, { outputs, rate: RATE, leaseMs: 1 });
  await repeat(1, pay);
  const what = `payment from a wallet in which ${waiting} transactions wait and ${dead} are dead`;
  return [figureOf(name, what, await repeat(Math.min(20, sizes.rounds), pay), 'p50', null)];
}

/** Half of them pay the wallet, half are paid by it. */
function blockTxs({ chain }: WalletLife, count: number): WalletTx[] {
  return Array.from({ length: count }, (_, i) => (i % 2 === 0 ? chain.receive() : chain.spend()));
}

async function measureBlocks(name: string, large: OwnWallet, small: OwnWallet, sizes: WalletSizes): Promise<WalletFigure[]> {
  const rounds = Math.min(BLOCK_ROUNDS_MAX, sizes.rounds);
  const next =
    ({ database, life }: OwnWallet) =>
    async () =>
      database.nextBlock(blockTxs(life, sizes.block));
  await repeat(2, next(large));
  await repeat(2, next(small));
  const [many, few] = [emptyRounds(), emptyRounds()];
  for (let i = 0; i < rounds; i++) {
    await measureInto(few, next(small));
    await measureInto(many, next(large));
  }
  const ratio = (part: keyof Rounds): number => round(percentile(many[part], 0.5) / percentile(few[part], 0.5), 2);
  const what = `block of ${sizes.block} transactions of the wallet`;
  return [
    figureOf(name, what, many, 'p50', name === 'SQLite' ? 150 : null),
    figureOf(name, `the same in a wallet with ${sizes.few} transactions`, few, 'p50', null),
    {
      database: name,
      what: `cost of a block at ${sizes.transactions} transactions to ${sizes.few}`,
      unit: 'ratio',
      p50: ratio('wall'),
      p99: null,
      cpuP50: ratio('cpu'),
      cpuP99: null,
      limit: 1.5,
      limitOf: 'p50',
      holds: ratio('wall') <= 1.5,
    },
  ];
}

async function measureInvalidations(name: string, { database, life }: OwnWallet, sizes: WalletSizes): Promise<WalletFigure[]> {
  const { id } = life.info;
  const rounds = await repeat(CHAIN_ROUNDS, async () => {
    const txs = life.chain.chain(sizes.chain);
    await database.store.applyTxBatch(
      id,
      txs.map((tx) => life.chain.news(id, tx, NOW)),
    );
    return () => database.store.invalidateTx(id, txs[0].id);
  });
  return [figureOf(name, `invalidating a chain of ${sizes.chain}`, rounds, 'p50', 2000)];
}

interface MutableRounds {
  readonly wall: number[];
  readonly cpu: number[];
}

const emptyRounds = (): MutableRounds => ({ wall: [], cpu: [] });

/** `prepare` is not measured; what it returns is. */
async function repeat(count: number, prepare: () => (() => Promise<unknown>) | Promise<() => Promise<unknown>>): Promise<Rounds> {
  const rounds = emptyRounds();
  for (let i = 0; i < count; i++) await measureInto(rounds, prepare);
  return rounds;
}

async function measureInto(
  rounds: MutableRounds,
  prepare: () => (() => Promise<unknown>) | Promise<() => Promise<unknown>>,
): Promise<void> {
  const body = await prepare();
  const before = process.threadCpuUsage();
  const { seconds } = await timed(body);
  const { user, system } = process.threadCpuUsage(before);
  rounds.wall.push(1000 * seconds);
  rounds.cpu.push((user + system) / 1000);
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

function figureOf(database: string, what: string, { wall, cpu }: Rounds, limitOf: 'p50' | 'p99', limit: number | null): WalletFigure {
  const of = (values: readonly number[], part: number): number => round(percentile(values, part), 2);
  const [p50, p99] = [of(wall, 0.5), of(wall, 0.99)];
  const holds = limit === null ? null : (limitOf === 'p50' ? p50 : p99) <= limit;
  return { database, what, unit: 'ms', p50, p99, cpuP50: of(cpu, 0.5), cpuP99: of(cpu, 0.99), limit, limitOf, holds };
}
