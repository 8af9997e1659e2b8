/**
 * Balances against the unspent set: summed again in a plain way, and compared
 * row by row with what the store has. A large set is summed in parts, each in
 * a scan of its own, so that memory stays bounded.
 */
import { KEY_BYTES } from '../../ledgers/ledger.ts';
import { equalBytes, fromHex, readBigU64, readU16, toHex } from '../../util/bytes.ts';
import { VERIFY_BALANCE_OUTPUTS } from '../../util/limits.ts';
import { AT, keyOffset, outputOffset } from '../coin.ts';
import type { Inspection, ProjectionCheck } from '../inspection.ts';
import { wholeValue } from '../packed.ts';
import { UNSPENT } from '../utxo.ts';
import { type BalanceKind, balanceColumn, balanceValue } from './balance.ts';

interface Sum {
  /** Null: of an asset. */
  utxos: number | null;
  amount: bigint;
}

/** It sums up the outputs in scans of its own, and so expects nothing of the common one. */
export class BalanceCheck implements ProjectionCheck {
  readonly column: string;
  private readonly inspection: Inspection;
  private readonly kind: BalanceKind;

  constructor(inspection: Inspection, kind: BalanceKind) {
    this.column = balanceColumn(kind);
    this.inspection = inspection;
    this.kind = kind;
  }

  expect(): void {}

  finish(): number {
    const parts = Math.max(1, Math.ceil(this.inspection.utxos / VERIFY_BALANCE_OUTPUTS));
    let rows = 0;
    // Keys are hashes: any of their bits divide them evenly.
    for (let part = 0; part < parts; part++) rows += verifyPart(this.inspection, this.kind, (key) => readU16(key, 0) % parts === part);
    return rows;
  }
}

function verifyPart(inspection: Inspection, kind: BalanceKind, isMine: (key: Uint8Array) => boolean): number {
  const column = balanceColumn(kind);
  const sums = sumUnspent(inspection, kind, isMine);
  let rows = 0;
  for (const [key, value] of inspection.reader.scan(column)) {
    if (!isMine(key)) continue;
    inspection.progress(column, ++rows);
    const text = toHex(key);
    const sum = sums.get(text);
    sums.delete(text);
    if (sum === undefined) inspection.fault(column, key, 'is the balance of nothing');
    else if (!equalBytes(value, balanceValue(sum.utxos, sum.amount))) inspection.fault(column, key, `is not ${told(sum)}`);
  }
  for (const [text, sum] of sums) inspection.fault(column, fromHex(text), `is missing: it should be ${told(sum)}`);
  return rows;
}

function told({ utxos, amount }: Sum): string {
  return utxos === null ? `${amount}` : `${amount} in ${utxos} outputs`;
}

function sumUnspent({ reader, ledger, unreadable }: Inspection, kind: BalanceKind, isMine: (key: Uint8Array) => boolean): Map<string, Sum> {
  const { traits } = ledger;
  const sums = new Map<string, Sum>();
  for (const [outpoint, row] of reader.scan(UNSPENT)) {
    // Told already, and nobody knows whose it is.
    if (unreadable.has(toHex(outpoint))) continue;
    const stored = wholeValue(row, 0, ledger);
    const at = keyOffset(stored, 0, kind);
    if (at < 0 || !isMine(stored.subarray(at))) continue;
    const key = toHex(stored, at, at + KEY_BYTES);
    const totals = sumOf(sums, key, 0);
    totals.utxos!++;
    totals.amount += readBigU64(stored, AT.value);
    if (traits === null) continue;
    const start = outputOffset(stored, 0);
    if (traits.isPlain(stored, start, stored.length)) continue;
    traits.assets(stored, start, stored.length, (policy, name, quantity) => {
      sumOf(sums, key + toHex(policy) + toHex(name), null).amount += quantity;
    });
  }
  return sums;
}

function sumOf(sums: Map<string, Sum>, key: string, utxos: number | null): Sum {
  const known = sums.get(key);
  if (known !== undefined) return known;
  const sum = { utxos, amount: 0n };
  sums.set(key, sum);
  return sum;
}
