/** What a chain of a size needs, from what a row costs: rows by the layout of the columns, and shares of cores, disks and wires. */
import { COSTS } from './scale-costs.ts';
import { type Lag, simulateLag } from './scale-queue.ts';
import { type ChainSize, MACHINE } from './scale-sizes.ts';

const MICRO = 1e-6;
const YEAR_SECONDS = 365.25 * 24 * 3600;
/** Copies of a row in Cassandra. */
const COPIES = 3;
/** Of a block: in chain, chain_hash and delta, and the head. */
const ROWS_OF_BLOCK = 4;
/** Key and value, by the layout (docs/reference/columns.md): a row of an index, of an unspent output, and of `tx`, which stays for ever. */
const [INDEX_BYTES, OUTPUT_BYTES, TX_BYTES] = [76, 150, 41];
/** Of a block for ever, the same: in chain and chain_hash. */
const [BLOCK_ROWS, BLOCK_BYTES] = [2, 230];

export interface Needs {
  readonly rowsPerTransaction: number;
  readonly rowsPerSecond: number;
  /** Cores: of the fold and of the publisher there is one thread each, of the writing connection one process. */
  readonly fold: number;
  readonly publisher: number;
  readonly database: number;
  readonly readers: number;
  readonly reads: number;
  readonly cassandra: number;
  readonly catchUpHours: number;
  readonly localBytes: number;
  readonly localBytesPerYear: number;
  readonly databaseBytes: number;
  readonly databaseBytesPerYear: number;
  /** What a standby is sent. */
  readonly logPerSecond: number;
  readonly lag: Lag | null;
}

/** Rows that a transaction changes: put, deleted, and later pruned. */
export function rowsOf({ spends, creates, indexes, withHistory }: ChainSize): number {
  const made = creates * (1 + indexes);
  const spent = spends * (2 + indexes) + spends;
  return 1 + made + spent + (withHistory ? historyRows({ spends, creates }) : 0);
}

/** The transaction, its outputs' and inputs' scripts, its spends. */
function historyRows({ spends, creates }: Pick<ChainSize, 'spends' | 'creates'>): number {
  return 1 + (creates + spends) + spends;
}

export function needsOf(size: ChainSize): Needs {
  const { perSecond, secondsPerBlock, spends, creates, transactions, requests } = size;
  const rowsPerTransaction = rowsOf(size);
  const rowsPerSecond = perSecond * rowsPerTransaction + ROWS_OF_BLOCK / secondsPerBlock;
  const outputs = creates + spends;
  const rowMicros = COSTS.publisher.value + COSTS.database.value;
  return {
    rowsPerTransaction,
    rowsPerSecond,
    fold: perSecond * outputs * COSTS.fold.value * MICRO,
    publisher: rowsPerSecond * COSTS.publisher.value * MICRO,
    database: rowsPerSecond * COSTS.database.value * MICRO,
    readers: requests * COSTS.reader.value * MICRO,
    reads: requests * COSTS.read.value * MICRO,
    cassandra: rowsPerSecond * COPIES * COSTS.cassandra.value * MICRO,
    catchUpHours: (transactions * outputs * COSTS.catchUp.value * MICRO) / 3600,
    ...disksOf(size),
    logPerSecond: rowsPerSecond * COSTS.log.value,
    lag: simulateLag(size, (count) => (count * rowsPerTransaction + ROWS_OF_BLOCK) * rowMicros * MICRO),
  };
}

/** Bytes of the store and of the database, now and more a year. */
function disksOf(size: ChainSize): Pick<Needs, 'localBytes' | 'localBytesPerYear' | 'databaseBytes' | 'databaseBytesPerYear'> {
  const { indexes, withHistory, bytes } = size;
  const rowOverhead = COSTS.rowOverhead.value;
  const ofTransaction = TX_BYTES + (withHistory ? bytes + COSTS.history.value : 0);
  const rowsOfTransaction = 1 + (withHistory ? historyRows(size) : 0);
  const inDatabase = {
    output: OUTPUT_BYTES + indexes * INDEX_BYTES + (1 + indexes) * rowOverhead,
    transaction: ofTransaction + rowsOfTransaction * rowOverhead,
    block: BLOCK_BYTES + BLOCK_ROWS * rowOverhead,
  };
  const inStore = { output: COSTS.output.value, transaction: ofTransaction, block: BLOCK_BYTES };
  const now = { outputs: size.unspent, transactions: size.transactions, blocks: size.blocks };
  const year = {
    outputs: size.unspentPerYear,
    transactions: size.perSecond * YEAR_SECONDS,
    blocks: YEAR_SECONDS / size.secondsPerBlock,
  };
  const sum = (of: typeof inDatabase, { outputs, transactions, blocks }: typeof now): number =>
    outputs * of.output + transactions * of.transaction + blocks * of.block;
  return {
    localBytes: sum(inStore, now),
    localBytesPerYear: sum(inStore, year),
    databaseBytes: sum(inDatabase, now),
    databaseBytesPerYear: sum(inDatabase, year),
  };
}

/** Something that there is so much of on one machine: how much of it is used. Above 1 it is not enough. */
export interface Use {
  readonly what: string;
  readonly share: number;
}

/** Most used first: what breaks first when the chain grows. */
export function usesOf(size: ChainSize): Use[] {
  const needs = needsOf(size);
  const uses: Use[] = [
    { what: 'the fold: one thread', share: needs.fold },
    { what: 'the publisher: one thread', share: needs.publisher },
    { what: 'the connection that writes: one process', share: needs.database },
    { what: `reads in one database: ${MACHINE.cores} cores`, share: needs.reads / MACHINE.cores },
    { what: `readers on one machine: ${MACHINE.cores} cores`, share: needs.readers / MACHINE.cores },
    { what: `the disk of the store: ${MACHINE.diskBytes / 1e12} TB`, share: needs.localBytes / MACHINE.diskBytes },
    { what: `the disk of the database: ${MACHINE.diskBytes / 1e12} TB`, share: needs.databaseBytes / MACHINE.diskBytes },
    {
      what: `the wire to a standby: ${(MACHINE.networkBytesPerSecond * 8) / 1e9} Gbit/s`,
      share: needs.logPerSecond / MACHINE.networkBytesPerSecond,
    },
  ];
  return uses.sort((a, b) => b.share - a.share);
}
