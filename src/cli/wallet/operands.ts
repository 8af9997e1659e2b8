/** Operands and options of `wallet` commands: outpoints, ids, times, files. Whatever is none is USAGE. */
import { existsSync, writeFileSync } from 'node:fs';
import { type Outpoint, parseOutpoint } from '../../ledgers/outpoint.ts';
import { fromHex, isHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { WalletNotation } from '../../wallet/documents.ts';

const MINUTES_MAX = 525_600;

export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

export function leaseMinutes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MINUTES_MAX) {
    throw new UnspentError('USAGE', `--minutes is a whole number from 1 to ${MINUTES_MAX}, not '${text.slice(0, 40)}'`);
  }
  return value;
}

export function outpoint({ parseId }: WalletNotation, text: string): Outpoint {
  return parseOutpoint(text, parseId);
}

export function txId({ parseId }: WalletNotation, text: string): Uint8Array {
  if (isHex(text, 32)) return parseId(text);
  throw new UnspentError('USAGE', `a transaction id has 64 hex digits, not '${text.slice(0, 80)}'`);
}

export function leaseId(text: string | undefined): Uint8Array {
  if (text !== undefined && isHex(text, 32)) return fromHex(text);
  throw new UnspentError('USAGE', 'whose lease it is, is said by --id with 64 hex digits');
}

/** A count of rows. */
export function rowLimit(text: string | undefined, usual: number): number {
  const value = Number(text ?? usual);
  if (Number.isInteger(value) && value >= 1 && value <= 100_000) return value;
  throw new UnspentError('USAGE', `--limit is a whole number from 1 to 100000, not '${text?.slice(0, 40)}'`);
}

/** Before anything is done whose result would be lost. Throws IO. */
export function checkNewFile(file: string | undefined): void {
  if (file !== undefined && existsSync(file)) throw new UnspentError('IO', `'${file.slice(0, 200)}' is there already`);
}

/** A new file, which only its owner can read. Throws IO, also where there is a file of that name. */
export function writeNewFile(file: string, content: string): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new UnspentError('IO', `'${file.slice(0, 200)}' cannot be written: ${(error as Error).message}`, {}, error);
  }
}
