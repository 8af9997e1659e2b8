/**
 * What an address or a stake credential holds, kept as blocks come and go, so
 * that asking costs the same however many outputs it has.
 *
 *   key28                  ->  unspent outputs u32 | value
 *   key28 | policy | name  ->  quantity
 *
 * Amounts are big-endian of as many bytes as they need: a sum of outputs is not
 * bound to 64 bits. What falls to nothing has no row. A balance is a function of
 * the unspent set, so forward and back are one body.
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import { POLICY_BYTES } from '../../ledgers/asset.ts';
import { type AssetVisitor, KEY_BYTES, type OutputTraits } from '../../ledgers/ledger.ts';
import { copyBytes, readU32, toHex, writeU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { inPrefixOrder } from '../../util/key-order.ts';
import { keyAfter, prefixEnd } from '../../util/key-range.ts';
import { AT, type Coin, keyOffset, outputOffset } from '../coin.ts';
import type { Projection, Step } from '../projection.ts';

/** Whose balances are kept. */
export const BALANCE_KINDS = ['address', 'stake'] as const;
export type BalanceKind = (typeof BALANCE_KINDS)[number];

const COUNT_BYTES = 4;

export function balanceColumn(kind: BalanceKind): string {
  return `balance_${kind}`;
}

export interface BalanceTotals {
  readonly utxos: number;
  readonly value: bigint;
}

export interface BalanceAsset {
  readonly policy: Uint8Array;
  readonly name: Uint8Array;
  readonly quantity: bigint;
}

const NOTHING: BalanceTotals = { utxos: 0, value: 0n };

/** The row of the key itself. */
export function readBalanceTotals(value: Uint8Array): BalanceTotals {
  return { utxos: readU32(value, 0), value: readAmount(value, COUNT_BYTES) };
}

/** A row of one asset. */
export function readBalanceAsset(key: Uint8Array, value: Uint8Array): BalanceAsset {
  const nameAt = KEY_BYTES + POLICY_BYTES;
  return { policy: key.subarray(KEY_BYTES, nameAt), name: key.subarray(nameAt), quantity: readAmount(value, 0) };
}

/** What this key holds, its assets in ascending order of policy and name. */
export function readBalance(reader: Reader, kind: BalanceKind, key: Uint8Array): BalanceTotals & { readonly assets: BalanceAsset[] } {
  const column = balanceColumn(kind);
  const totals = reader.get(column, key);
  const assets: BalanceAsset[] = [];
  // The row of the key alone holds its totals. No policy is all 0xff, so no asset's row reaches the end of the range.
  const range = { gte: keyAfter(key), lt: prefixEnd(key, POLICY_BYTES) };
  for (const [row, value] of reader.scan(column, range)) assets.push(readBalanceAsset(row, value));
  return { ...(totals === undefined ? NOTHING : readBalanceTotals(totals)), assets };
}

function readAmount(bytes: Uint8Array, from: number): bigint {
  let amount = 0n;
  for (let at = from; at < bytes.length; at++) amount = (amount << 8n) | BigInt(bytes[at]);
  return amount;
}

/** The value of a row; `utxos` null: of an asset's. */
export function balanceValue(utxos: number | null, amount: bigint): Uint8Array {
  const from = utxos === null ? 0 : COUNT_BYTES;
  const length = amount === 0n ? 0 : Math.ceil(amount.toString(16).length / 2);
  const bytes = new Uint8Array(from + length);
  if (utxos !== null) writeU32(bytes, 0, utxos);
  for (let at = bytes.length - 1, rest = amount; at >= from; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

interface AssetChange {
  readonly policy: Uint8Array;
  readonly name: Uint8Array;
  quantity: bigint;
}

/** What a step changes for one key. */
class Change {
  readonly key: Uint8Array;
  utxos = 0;
  /** Lovelace in two halves, each with its sign: exact for two million outputs, and no bigint per output. */
  private hi = 0;
  private lo = 0;
  readonly assets = new Map<string, AssetChange>();

  constructor(key: Uint8Array) {
    this.key = key;
  }

  add(coin: Coin, sign: 1 | -1): void {
    this.utxos += sign;
    this.hi += sign * readU32(coin.bytes, coin.at + AT.value);
    this.lo += sign * readU32(coin.bytes, coin.at + AT.value + 4);
  }

  addAsset(policy: Uint8Array, name: Uint8Array, quantity: bigint): void {
    const text = byteText(policy) + byteText(name);
    const known = this.assets.get(text);
    if (known === undefined) this.assets.set(text, { policy, name, quantity });
    else known.quantity += quantity;
  }

  get value(): bigint {
    return (BigInt(this.hi) << 32n) + BigInt(this.lo);
  }
}

/** A name for a map: one character a byte. */
function byteText(bytes: Uint8Array): string {
  return String.fromCharCode.apply(null, bytes as unknown as number[]);
}

/** A row to change: by so many outputs (of an asset's row: none) and so much. */
interface RowChange {
  readonly key: Uint8Array;
  readonly utxos: number;
  readonly amount: bigint;
}

export function balanceProjection(kind: BalanceKind, traits: OutputTraits | null): Projection {
  const column = balanceColumn(kind);

  function move(step: Step, view: Reader, batch: Batch): undefined {
    const changes = new Map<string, Change>();
    collect(changes, step.removed, -1);
    collect(changes, step.added, 1);
    const rows = inPrefixOrder(rowChanges(changes.values()), ({ key }) => readU32(key, 0));
    if (rows.length === 0) return;
    const before = view.getMany(
      column,
      rows.map(({ key }) => key),
    );
    for (let i = 0; i < rows.length; i++) write(rows[i], before[i], batch);
  }

  function collect(changes: Map<string, Change>, coins: readonly Coin[], sign: 1 | -1): void {
    for (const coin of coins) {
      const at = keyOffset(coin.bytes, coin.at, kind);
      if (at < 0) continue;
      const key = coin.bytes.subarray(at, at + KEY_BYTES);
      const text = byteText(key);
      let change = changes.get(text);
      if (change === undefined) {
        change = new Change(key);
        changes.set(text, change);
      }
      change.add(coin, sign);
      if (traits !== null) collectAssets(traits, change, coin, sign);
    }
  }

  function write({ key, utxos, amount }: RowChange, before: Uint8Array | undefined, batch: Batch): void {
    const ofAsset = key.length > KEY_BYTES;
    const had = before === undefined ? NOTHING : ofAsset ? { utxos: 0, value: readAmount(before, 0) } : readBalanceTotals(before);
    const now = { utxos: had.utxos + utxos, value: had.value + amount };
    if (now.utxos < 0 || now.value < 0n || (!ofAsset && now.utxos === 0 && now.value !== 0n)) throw damaged(column, key, now);
    if (now.utxos === 0 && now.value === 0n) {
      batch.del(column, key);
      return;
    }
    batch.put(column, key, balanceValue(ofAsset ? null : now.utxos, now.value));
  }

  return {
    name: `balance.${kind}`,
    columns: [{ name: column, access: 'prefix', prefixBytes: KEY_BYTES, weight: 8 }],
    fillable: 'exact',
    apply: (step, view, batch) => move(step, view, batch),
    revert: (step, _undo, view, batch) => move(step, view, batch),
  };
}

function collectAssets(traits: OutputTraits, change: Change, coin: Coin, sign: 1 | -1): void {
  const start = outputOffset(coin.bytes, coin.at);
  if (traits.isPlain(coin.bytes, start, coin.end)) return;
  const visit: AssetVisitor = (policy, name, quantity) => change.addAsset(policy, name, sign < 0 ? -quantity : quantity);
  traits.assets(coin.bytes, start, coin.end, visit);
}

/** Only rows that do change: much of what a key spends comes back to it. */
function rowChanges(changes: Iterable<Change>): RowChange[] {
  const rows: RowChange[] = [];
  for (const { key, utxos, value, assets } of changes) {
    if (utxos !== 0 || value !== 0n) rows.push({ key, utxos, amount: value });
    for (const { policy, name, quantity } of assets.values())
      if (quantity !== 0n) rows.push({ key: assetRow(key, policy, name), utxos: 0, amount: quantity });
  }
  return rows;
}

function assetRow(key: Uint8Array, policy: Uint8Array, name: Uint8Array): Uint8Array {
  const row = new Uint8Array(KEY_BYTES + POLICY_BYTES + name.length);
  copyBytes(key, 0, row, 0, KEY_BYTES);
  copyBytes(policy, 0, row, KEY_BYTES, POLICY_BYTES);
  copyBytes(name, 0, row, KEY_BYTES + POLICY_BYTES, name.length);
  return row;
}

function damaged(column: string, key: Uint8Array, { utxos, value }: BalanceTotals): UnspentError {
  return new UnspentError('STORE_DAMAGED', `${column} would fall to ${value} in ${utxos} outputs at ${toHex(key)}`, {
    column,
    key: toHex(key),
  });
}
