/**
 * What a run of plain blocks adds up to, and the rows a store should hold of
 * it: written here a second time, from the documented layouts, sharing nothing
 * with the projections but the arithmetic of MuHash.
 */
import { MuHash } from '../../src/ledgers/bitcoin/index.ts';
import { concatBytes, toHex } from '../../src/util/bytes.ts';
import { type PlainBlock, type PlainOutput, type PlainTx, sha256 } from './bitcoin-chain.ts';

const FLAGS_COINBASE = 1;
/** An address key, and no other. */
const FLAGS_KEYS = 1 << 5;
const HEADER_BYTES = 80;
const TAIL = 'ffffffff';

export interface PlainSpend {
  readonly output: PlainOutput;
  readonly by: PlainTx;
  readonly txIndex: number;
  readonly input: number;
  readonly height: number;
}

interface ScriptRow {
  readonly height: number;
  readonly txIndex: number;
  fundedCount: number;
  fundedSum: bigint;
  spentCount: number;
  spentSum: bigint;
}

export const unsigned = (value: number | bigint, bytes: number): string =>
  BigInt(value)
    .toString(16)
    .padStart(2 * bytes, '0');

function littleU32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24);
}

/** Plain maps of everything that is so after these blocks. */
export class Account {
  readonly blocks: readonly PlainBlock[];
  readonly unspent = new Map<string, PlainOutput>();
  readonly spends = new Map<string, PlainSpend>();
  readonly txs = new Map<string, { readonly tx: PlainTx; readonly height: number; readonly txIndex: number }>();
  readonly outputs = new Map<string, PlainOutput>();
  private hashed: { readonly row: string; readonly bogosize: number } | null = null;

  constructor(blocks: readonly PlainBlock[]) {
    this.blocks = blocks;
    for (const { height, txs } of blocks) for (const [txIndex, tx] of txs.entries()) this.add(tx, height, txIndex);
  }

  private add(tx: PlainTx, height: number, txIndex: number): void {
    for (const [input, output] of tx.spends.entries()) {
      if (!this.unspent.delete(output.name)) throw new Error(`the producer spent ${output.name} at height ${height}, which is not there`);
      this.spends.set(output.name, { output, by: tx, txIndex, input, height });
    }
    for (const output of tx.creates) {
      this.unspent.set(output.name, output);
      this.outputs.set(output.name, output);
    }
    this.txs.set(toHex(tx.id), { tx, height, txIndex });
  }

  get tip(): PlainBlock | undefined {
    return this.blocks.at(-1);
  }

  get value(): bigint {
    let sum = 0n;
    for (const { value } of this.unspent.values()) sum += value;
    return sum;
  }

  /** Unspent outputs with this script key, in the order they came to the chain. */
  byKey(key: string): PlainOutput[] {
    return [...this.unspent.values()].filter((output) => output.key === key).sort(inChainOrder);
  }

  /** What each transaction did to each script, by key, in the order of the chain. */
  scriptHistory(): ReadonlyMap<string, readonly ScriptRow[]> {
    const found = new Map<string, ScriptRow[]>();
    const row = ({ key }: PlainOutput, height: number, txIndex: number): ScriptRow => {
      const rows = found.get(key) ?? [];
      found.set(key, rows);
      const last = rows.at(-1);
      if (last?.height === height && last.txIndex === txIndex) return last;
      rows.push({ height, txIndex, fundedCount: 0, fundedSum: 0n, spentCount: 0, spentSum: 0n });
      return rows[rows.length - 1];
    };
    for (const { height, txs } of this.blocks) {
      for (const [txIndex, { spends, creates }] of txs.entries()) {
        for (const output of spends) {
          const mine = row(output, height, txIndex);
          mine.spentCount++;
          mine.spentSum += output.value;
        }
        for (const output of creates) {
          const mine = row(output, height, txIndex);
          mine.fundedCount++;
          mine.fundedSum += output.value;
        }
      }
    }
    return found;
  }

  /** The sha256 over all that is unspent, as `digest` says it. */
  digest(): string {
    const lines = [...this.unspent.values()].map(({ name, value }) => `${name} ${value}\n`).sort();
    return toHex(sha256(new TextEncoder().encode(lines.join(''))));
  }

  /** As the store keeps it: MuHash, and bogosize behind it. Empty: no row. */
  setHash(): { readonly row: string; readonly bogosize: number } {
    this.hashed ??= this.hashSet();
    return this.hashed;
  }

  private hashSet(): { readonly row: string; readonly bogosize: number } {
    const set = new MuHash();
    let bogosize = 0;
    for (const { txId, index, height, coinbase, raw, script } of this.unspent.values()) {
      set.add(concatBytes(txId, littleU32(index), littleU32(2 * height + (coinbase ? 1 : 0)), raw));
      bogosize += 50 + script.length;
    }
    return { row: this.unspent.size === 0 ? '' : toHex(set.toBytes()) + unsigned(bogosize, 8), bogosize };
  }

  /** Rows as `key value` in hex, in order, by column. Spent outputs of blocks above a height only; `carried`: what they held is in the undo records. */
  rows(spentAbove: number, carried = false): ReadonlyMap<string, readonly string[]> {
    const { blocks } = this;
    const unspent = [...this.unspent.values()];
    const spent = [...this.spends.values()];
    const history = this.historyTxRows();
    return new Map([
      ['chain', blocks.map((block) => `${unsigned(block.height, 8)} ${chainValue(block)}`)],
      ['chain_hash', blocks.map(({ hash, height }) => `${toHex(hash)} ${unsigned(height, 8)}`).sort()],
      ['tx', [...this.txs].map(([id, at]) => `${id} ${unsigned(at.height, 4)}${unsigned(at.txIndex, 4)}00`).sort()],
      ['utxo_unspent', unspent.map((output) => `${outpoint(output)} ${stored(output)}`).sort()],
      [
        'utxo_spent',
        spent
          .filter(({ height }) => height > spentAbove)
          .map((spend) => spentRow(spend, carried))
          .sort(),
      ],
      ['utxo_address', unspent.map(indexRow).sort()],
      ['balance_address', balanceRows(unspent)],
      ['history_tx', history],
      ['history_script', [...this.scriptHistory()].flatMap(([key, rows]) => rows.map((row) => scriptRow(key, row))).sort()],
      ['history_spend', spent.map(historySpendRow).sort()],
    ]);
  }

  private historyTxRows(): string[] {
    return this.blocks.flatMap(({ height, txs, tail }) => [
      ...txs.map(({ id, raw }, i) => `${unsigned(height, 4)}${unsigned(i, 4)} ${toHex(id)}${toHex(raw)}`),
      ...(tail.length > 0 ? [`${unsigned(height, 4)}${TAIL} ${toHex(tail)}`] : []),
    ]);
  }
}

function inChainOrder(a: PlainOutput, b: PlainOutput): number {
  return a.height - b.height || a.txIndex - b.txIndex || a.index - b.index;
}

function outpoint({ txId, index }: PlainOutput): string {
  return toHex(txId) + unsigned(index, 4);
}

function stored({ coinbase, height, txIndex, value, raw }: PlainOutput): string {
  const flags = FLAGS_KEYS | (coinbase ? FLAGS_COINBASE : 0);
  const header = unsigned(flags, 1) + unsigned(height, 4) + unsigned(height, 8) + unsigned(txIndex, 4) + unsigned(value, 8);
  return `${header}ff${toHex(raw)}`;
}

function spentRow({ output, by, input, height }: PlainSpend, carried: boolean): string {
  const spender = toHex(by.id) + unsigned(input, 4) + unsigned(height, 8) + unsigned(height, 4);
  return `${outpoint(output)} ${spender}${carried ? '' : stored(output)}`;
}

function indexRow({ key, height, txIndex, index, txId }: PlainOutput): string {
  return `${key}${unsigned(height, 8)}${unsigned(txIndex, 4)}${unsigned(index, 4)} ${toHex(txId)}`;
}

function balanceRows(unspent: readonly PlainOutput[]): string[] {
  const held = new Map<string, { count: number; value: bigint }>();
  for (const { key, value } of unspent) {
    const before = held.get(key) ?? { count: 0, value: 0n };
    held.set(key, { count: before.count + 1, value: before.value + value });
  }
  const amount = (value: bigint): string => (value === 0n ? '' : unsigned(value, Math.ceil(value.toString(16).length / 2)));
  return [...held].map(([key, { count, value }]) => `${key} ${unsigned(count, 4)}${amount(value)}`).sort();
}

function scriptRow(key: string, { height, txIndex, fundedCount, fundedSum, spentCount, spentSum }: ScriptRow): string {
  const did = unsigned(fundedCount, 4) + unsigned(fundedSum, 8) + unsigned(spentCount, 4) + unsigned(spentSum, 8);
  return `${key}${unsigned(height, 4)}${unsigned(txIndex, 4)} ${did}`;
}

function historySpendRow({ output, height, txIndex, input }: PlainSpend): string {
  return `${outpoint(output)} ${unsigned(height, 4)}${unsigned(txIndex, 4)}${unsigned(input, 4)}`;
}

function chainValue({ hash, prevHash, height, txs, raw }: PlainBlock): string {
  const link = toHex(hash) + toHex(prevHash ?? new Uint8Array(32)) + unsigned(height, 8);
  // BIP141: what stands in front of the transactions counts four times, and so does each byte outside the witnesses.
  const count = txs.length < 0xfd ? 1 : 3;
  const weight = 4 * (HEADER_BYTES + count) + txs.reduce((sum, tx) => sum + 3 * tx.strippedSize + tx.raw.length, 0);
  return `${link}00${unsigned(txs.length, 4)}${unsigned(raw.length, 4)}${toHex(littleU32(weight))}${toHex(raw, 0, HEADER_BYTES)}`;
}
