/**
 * What a group of applied blocks does to the tables for people, summed up: an
 * output that the group makes and spends goes to `spent` at once, and balances
 * move by what all of them add up to.
 */
import { META_PREFIX, readChainRow } from '../../../projections/chain.ts';
import { readSpent, readStored, SPENT_HEADER_BYTES } from '../../../projections/coin.ts';
import { HISTORY_TX } from '../../../projections/history/rows.ts';
import { readSeen } from '../../../projections/seen/seen.ts';
import { readTxRow, TX } from '../../../projections/transactions.ts';
import { SPENT, UNSPENT } from '../../../projections/utxo.ts';
import { DELTA, isSelfContained, readDelta } from '../../../state/delta.ts';
import { readU32, toHex } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import type { ColumnChange, CopyChange } from '../../change.ts';
import type { AssetCells, Cell, Cells, OutputRow, SqlRows } from './rows.ts';

/** An output on its way out, as the store knows it. */
export interface SpendFacts {
  readonly key: Uint8Array;
  /** What it held. */
  readonly stored: Uint8Array;
  /** Null: the ledger itself removed it. */
  readonly txId: Uint8Array | null;
  readonly input: number;
  readonly height: number;
}

/** From a row of `utxo_spent`; null: what it held is in the undo record. */
export function spendInRow(key: Uint8Array, value: Uint8Array): SpendFacts | null {
  if (value.length <= SPENT_HEADER_BYTES) return null;
  const { txId, input, height } = readSpent(value);
  return { key, stored: value.subarray(SPENT_HEADER_BYTES), txId, input, height };
}

/** From an undo record that carries what its block spent; nothing of one that does not. */
export function spendsInDelta(value: Uint8Array, height: number): SpendFacts[] {
  if (!isSelfContained(value)) return [];
  const { txs, spent } = readDelta(value, `the delta of block ${height}`);
  const spenders = txs.filter(({ kind }) => kind === 'tx');
  return spent.flatMap(({ key, carried }) => {
    if (carried === undefined) return [];
    const txId = carried.txIndex === null ? null : spenders[carried.txIndex].id;
    return [{ key, stored: carried.value, txId, input: carried.input, height }];
  });
}

interface Made {
  readonly row: OutputRow;
  readonly outpoint: readonly [string, string];
}

class Sums {
  readonly coins = new Map<string, { value: bigint; outputs: number }>();
  readonly assets = new Map<string, { readonly cells: readonly [string, string, string]; quantity: bigint }>();

  add({ address, value, assets }: OutputRow, sign: 1 | -1): void {
    const coins = this.coins.get(address) ?? { value: 0n, outputs: 0 };
    this.coins.set(address, coins);
    coins.value += BigInt(sign) * value;
    coins.outputs += sign;
    for (const { policy, name, quantity } of assets) {
      const key = `${policy} ${name} ${address}`;
      const sum = this.assets.get(key) ?? { cells: [address, policy, name] as const, quantity: 0n };
      this.assets.set(key, sum);
      sum.quantity += BigInt(sign) * quantity;
    }
  }
}

export class ChangedRows {
  readonly blocks: Cells[] = [];
  readonly transactions: Cells[] = [];
  readonly datums = new Map<string, Cells>();
  readonly scripts = new Map<string, Cells>();
  /** Outpoint and spending of outputs that were there before. */
  readonly gone: Cells[] = [];
  readonly spent: Cells[] = [];
  readonly spentAssets: Cells[] = [];
  private readonly made = new Map<string, Made>();
  private readonly sums = new Sums();
  private readonly rows: SqlRows;
  /** Of each change, by the id of its spender: what it spends. */
  private inputs = new Map<string, { value: bigint; count: number }>();
  heightMin = Number.POSITIVE_INFINITY;
  heightMax = -1;

  constructor(rows: SqlRows, changes: readonly CopyChange[]) {
    this.rows = rows;
    for (const change of changes) {
      if (change.kind === 'applied') this.add(change);
      if (change.kind === 'undone') this.addSeen(change);
    }
  }

  get unspent(): Cells[] {
    return Array.from(this.made.values(), ({ row }) => row.cells);
  }

  get unspentAssets(): Cells[] {
    return Array.from(this.made.values()).flatMap(({ row, outpoint }) => row.assets.map((asset) => assetCells(outpoint, asset)));
  }

  get balances(): Cells[] {
    return Array.from(this.sums.coins)
      .filter(([, { value, outputs }]) => value !== 0n || outputs !== 0)
      .map(([address, { value, outputs }]) => [address, String(value), String(outputs)]);
  }

  get assetBalances(): Cells[] {
    return [...this.sums.assets.values()]
      .filter(({ quantity }) => quantity !== 0n)
      .map(({ cells, quantity }) => [...cells, String(quantity)]);
  }

  private add({ columns }: CopyChange): void {
    const puts = new Map(columns.map((change) => [change.column, change.puts]));
    const of = (column: string): ColumnChange['puts'] => puts.get(column) ?? [];
    this.inputs = new Map();
    for (const [key, value] of of('chain')) {
      if (key[0] === META_PREFIX) continue;
      const row = readChainRow(key, value);
      this.heightMin = Math.min(this.heightMin, row.height);
      this.heightMax = Math.max(this.heightMax, row.height);
      this.blocks.push(this.rows.block(row));
    }
    for (const [key, value] of of(UNSPENT)) this.create(key, this.rows.output(key, value));
    for (const [key, value] of of(DELTA)) for (const spend of spendsInDelta(value, Number(readU32(key, 4)))) this.spend(spend);
    for (const [key, value] of of(SPENT)) {
      const spend = spendInRow(key, value);
      if (spend !== null) this.spend(spend);
    }
    this.addTransactions(of(TX), of(HISTORY_TX));
    this.addSeen({ columns });
  }

  private addSeen({ columns }: Pick<CopyChange, 'columns'>): void {
    for (const { column, puts } of columns) {
      const into = column === 'datum' ? this.datums : column === 'script' ? this.scripts : null;
      for (const [hash, value] of puts) into?.set(toHex(hash), this.rows.seen(hash, readSeen(value)));
    }
  }

  private create(key: Uint8Array, row: OutputRow): void {
    this.made.set(toHex(key), { row, outpoint: this.rows.outpoint(key) });
    this.sums.add(row, 1);
  }

  private spend({ key, stored, txId, input, height }: SpendFacts): void {
    const outpoint = this.rows.outpoint(key);
    const spending = this.rows.spending(txId, input, height);
    if (txId !== null) {
      const name = toHex(txId);
      const sum = this.inputs.get(name) ?? { value: 0n, count: 0 };
      this.inputs.set(name, { value: sum.value + readStored(stored).value, count: sum.count + 1 });
    }
    const row = this.rows.output(key, stored);
    const name = toHex(key);
    // Made in this very block it was never unspent; made by an earlier one of the group it is taken back.
    const born = this.made.delete(name);
    if (born) this.sums.add(row, -1);
    if (born || row.height === height) {
      this.spent.push([...row.cells, ...spending]);
      for (const asset of row.assets) this.spentAssets.push([...assetCells(outpoint, asset), String(height)]);
      return;
    }
    this.sums.add(row, -1);
    this.gone.push([...outpoint, ...spending]);
  }

  private addTransactions(txs: ColumnChange['puts'], history: ColumnChange['puts']): void {
    const payments = new Map(history.map(([key, value]) => [`${readU32(key, 0)} ${readU32(key, 4)}`, value]));
    for (const [id, value] of txs) {
      const { height, txIndex, valid } = readTxRow(value);
      const raw = payments.get(`${height} ${txIndex}`);
      const [fee, size] = raw === undefined || raw.length <= 32 ? [null, null] : this.paid(id, raw.subarray(32));
      this.transactions.push(this.rows.transaction(id, height, txIndex, valid, fee, size));
    }
  }

  private paid(id: Uint8Array, raw: Uint8Array): [bigint | null, number] {
    const { size, fee, inputs, paid } = this.rows.payment(raw);
    const sum = this.inputs.get(toHex(id));
    return [fee ?? (sum === undefined || sum.count !== inputs ? null : sum.value - paid), size];
  }
}

export function assetCells(outpoint: readonly [string, string], { policy, name, quantity }: AssetCells): Cells {
  return [...outpoint, policy, name, String(quantity)];
}

/** Rows as a list for each column, which is what one statement takes them as. */
export function byColumn(rows: readonly Cells[], count: number): (readonly Cell[])[] {
  assert(
    rows.every((row) => row.length === count),
    'a row has a cell for each column',
  );
  return Array.from({ length: count }, (_, i) => rows.map((row) => row[i]));
}
