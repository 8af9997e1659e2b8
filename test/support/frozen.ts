/**
 * Stores, backups and snapshots as a version wrote them, each as one small file
 * that never changes again: what later versions must open, or upgrade. With the
 * files comes what that version knew of them, and the blocks that come next, so
 * that nothing of it is made by the code that is tested. `npm run freeze` writes
 * them.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

export const FROZEN_FOLDER = join(import.meta.dirname, '../store/frozen');

/** A block, and the digest of the unspent set after it. */
export interface FrozenMark {
  readonly height: number;
  readonly digest: string;
}

export interface Frozen {
  readonly kind: 'store' | 'backup' | 'snapshot';
  /** Of the store; of the one it was made of. */
  readonly schema: number;
  /** The version that wrote it. */
  readonly createdBy: string;
  readonly network: string;
  /** A block it can be rolled back to, the one it is at, and the last of those that come next. */
  readonly marks: { readonly early: FrozenMark; readonly head: FrozenMark; readonly last: FrozenMark };
  /** The blocks above the one it is at. */
  readonly next: readonly Uint8Array[];
  /** Wallets that are with it, and what they had. */
  readonly wallets: readonly { readonly name: string; readonly total: string }[];
  /** By their path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** The first line of a frozen file, before it is packed: all but bytes, which follow in this order. */
interface FrozenHead extends Omit<Frozen, 'next' | 'files'> {
  readonly next: readonly number[];
  readonly files: readonly (readonly [path: string, bytes: number])[];
}

const ENDING = '.br';
const NEW_LINE = 10;

export function frozenNames(): string[] {
  return readdirSync(FROZEN_FOLDER)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length))
    .sort();
}

export function readFrozen(name: string): Frozen {
  const bytes = brotliDecompressSync(readFileSync(join(FROZEN_FOLDER, name + ENDING)));
  const end = bytes.indexOf(NEW_LINE);
  const head = JSON.parse(bytes.subarray(0, end).toString()) as FrozenHead;
  let at = end + 1;
  const take = (length: number): Uint8Array => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const next = head.next.map(take);
  return { ...head, next, files: new Map(head.files.map(([path, length]) => [path, take(length)])) };
}

/** Never over one that is there. Returns its size. */
export function writeFrozen(name: string, frozen: Frozen): number {
  const { next, files } = frozen;
  const head: FrozenHead = {
    ...frozen,
    next: next.map(({ length }) => length),
    files: Array.from(files, ([path, { length }]) => [path, length]),
  };
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...next, ...files.values()]);
  const bytes = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } });
  writeFileSync(join(FROZEN_FOLDER, name + ENDING), bytes, { flag: 'wx' });
  return bytes.length;
}

/** All files of a folder. */
export function packFolder(folder: string): Frozen['files'] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path))]));
}

/** The files, in a folder that is made for them. */
export function thaw({ files }: Frozen, folder: string): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
