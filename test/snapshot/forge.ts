/**
 * Snapshots that somebody has tampered with: rows and manifest of a good one are
 * taken apart, changed, and put together again with hashes that fit, so that
 * only what is looked at behind the hashes can tell.
 */
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../../src/ledgers/ledger.ts';
import { OUTPOINT_BYTES } from '../../src/ledgers/outpoint.ts';
import { Coin } from '../../src/projections/coin.ts';
import { ChunkWriter, readRows } from '../../src/snapshot/chunk.ts';
import { chunkFile, type ManifestChunk, manifestText, parseManifest, type SnapshotManifest } from '../../src/snapshot/manifest.ts';
import { SetSum } from '../../src/snapshot/sum.ts';
import { toHex } from '../../src/util/bytes.ts';

export interface ForgedRow {
  key: Uint8Array;
  value: Uint8Array;
}

export function copied(from: string, to: string): string {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  return to;
}

export function manifestOf(folder: string): SnapshotManifest {
  return parseManifest(readFileSync(join(folder, 'manifest.json')));
}

/** Each with bytes of its own. */
export function rowsOf(folder: string): ForgedRow[] {
  return manifestOf(folder).chunks.flatMap(({ file }) =>
    readRows(new Uint8Array(readFileSync(join(folder, file))), file).map(({ bytes, keyAt, at, end }) => ({
      key: bytes.slice(keyAt, keyAt + OUTPOINT_BYTES),
      value: bytes.slice(at, end),
    })),
  );
}

export interface ForgeOptions {
  /** Whether the sums are those of the rows; otherwise they stay as they were. Default true. */
  readonly summed?: boolean;
  /** Where chunks are really cut, whatever the manifest says. */
  readonly cutAt?: number;
  readonly change?: (manifest: SnapshotManifest) => SnapshotManifest;
}

/** Writes these rows in place of those in the folder. */
export function forge(folder: string, rows: readonly ForgedRow[], ledger: Ledger, options: ForgeOptions = {}): void {
  const before = manifestOf(folder);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  const chunks: ManifestChunk[] = [];
  const writer = new ChunkWriter(options.cutAt ?? before.chunkBytes);
  let keys: Uint8Array[] = [];
  const flush = (): void => {
    const bytes = writer.take();
    const file = chunkFile(chunks.length);
    writeFileSync(join(folder, file), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    chunks.push({ file, rows: keys.length, bytes: bytes.length, first: toHex(keys[0]), last: toHex(keys[keys.length - 1]), sha256 });
    keys = [];
  };
  for (const { key, value } of rows) {
    if (writer.isFullFor(value)) flush();
    writer.add(key, value);
    keys.push(key);
  }
  if (keys.length > 0) flush();
  const manifest = { ...before, ...(options.summed === false ? {} : sumsOf(rows, ledger)), chunks };
  writeFileSync(join(folder, 'manifest.json'), manifestText(options.change?.(manifest) ?? manifest));
}

function sumsOf(rows: readonly ForgedRow[], ledger: Ledger): Pick<SnapshotManifest, 'utxos' | 'value' | 'roots'> {
  const sum = new SetSum(ledger);
  for (const { key, value } of rows) sum.add(new Coin(key, 0, value, 0, value.length, false));
  const { utxos, value, digest, setHash } = sum.end();
  return { utxos, value: value.toString(), roots: { digest, setHash: setHash ?? '' } };
}

/** Changes the manifest only; chunks stay. */
export function rewrite(folder: string, change: (manifest: SnapshotManifest) => SnapshotManifest): void {
  writeFileSync(join(folder, 'manifest.json'), manifestText(change(manifestOf(folder))));
}
