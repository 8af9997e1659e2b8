/**
 * Writes a snapshot: chunks one by one, then the manifest, in a folder of its
 * own beside the place where it shall be; only what is whole and on the disk is
 * given that name. Memory holds one chunk, however large the set is.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Row } from '../engine/engine.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { Coin } from '../projections/coin.ts';
import { wholeValue } from '../projections/packed.ts';
import { toHex, utf8 } from '../util/bytes.ts';
import { BEGINS_ANEW, UnspentError } from '../util/errors.ts';
import { SNAPSHOT_CHUNK_BYTES } from '../util/limits.ts';
import { isPlaced } from './base.ts';
import { ChunkWriter } from './chunk.ts';
import {
  chunkFile,
  MANIFEST_FILE,
  type ManifestChunk,
  type ManifestFacts,
  manifestText,
  parseManifest,
  type SnapshotManifest,
} from './manifest.ts';
import { SetSum } from './sum.ts';

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** After each chunk. */
  readonly onRows?: ((rows: number) => void) | undefined;
  /** Other cuts make another snapshot. Default: those of the format. */
  readonly chunkBytes?: number | undefined;
}

type BlockFacts = Pick<ManifestFacts, 'network' | 'point' | 'era' | 'header'>;

/** `rows` in the order of their keys. Throws STORE_FOREIGN when the folder is there and not empty, UNSUPPORTED when nobody could check the height. */
export async function writeSnapshot(
  folder: string,
  block: BlockFacts,
  rows: Iterable<Row>,
  ledger: Ledger,
  options: WriteOptions = {},
): Promise<SnapshotManifest> {
  const wanted = resolve(folder);
  await refuseContent(wanted);
  await mkdir(dirname(wanted), { recursive: true });
  const partial = await mkdtemp(`${wanted}.partial-`);
  try {
    const written = await new SnapshotWriter(partial, ledger, options).write(block, rows);
    await rename(partial, wanted);
    await sync(dirname(wanted));
    return written;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw systemError(error, wanted);
  }
}

class SnapshotWriter {
  private readonly folder: string;
  private readonly options: WriteOptions;
  private readonly chunkBytes: number;
  private readonly chunk: ChunkWriter;
  private readonly ledger: Ledger;
  private readonly sum: SetSum;
  private readonly chunks: ManifestChunk[] = [];

  constructor(folder: string, ledger: Ledger, options: WriteOptions) {
    this.folder = folder;
    this.ledger = ledger;
    this.options = options;
    this.chunkBytes = options.chunkBytes ?? SNAPSHOT_CHUNK_BYTES;
    this.chunk = new ChunkWriter(this.chunkBytes);
    this.sum = new SetSum(ledger);
  }

  async write(block: BlockFacts, rows: Iterable<Row>): Promise<SnapshotManifest> {
    let first: Uint8Array | null = null;
    let last: Uint8Array | null = null;
    for (const [key, row] of rows) {
      const value = wholeValue(row, 0, this.ledger);
      if (this.chunk.isFullFor(value)) {
        await this.flush(first, last);
        first = null;
      }
      this.chunk.add(key, value);
      this.sum.add(new Coin(key, 0, value, 0, value.length, false));
      first ??= key;
      last = key;
    }
    if (this.chunk.rows > 0) await this.flush(first, last);
    if (!isPlaced(block, this.ledger, this.sum.newest)) {
      const message = `the block at height ${block.point.height} left no unspent output, and without one nobody could check that height`;
      throw new UnspentError('UNSUPPORTED', `${message}: take the snapshot at another block`, { height: block.point.height });
    }
    const { utxos, value, digest, setHash } = this.sum.end();
    const roots = { setHash: setHash ?? '', digest };
    const text = manifestText({ ...block, utxos, value: value.toString(), roots, chunkBytes: this.chunkBytes, chunks: this.chunks });
    const bytes = utf8(text);
    await this.file(MANIFEST_FILE, bytes);
    await sync(this.folder);
    // What is handed out is what a reader will see.
    return parseManifest(bytes);
  }

  private async flush(first: Uint8Array | null, last: Uint8Array | null): Promise<void> {
    if (this.options.signal?.aborted)
      throw new UnspentError('INTERRUPTED', 'the export was interrupted; nothing is left of it', { advice: BEGINS_ANEW });
    const file = chunkFile(this.chunks.length);
    const { rows } = this.chunk;
    const bytes = this.chunk.take();
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.chunks.push({ file, rows, bytes: bytes.length, first: toHex(first ?? NO_KEY), last: toHex(last ?? NO_KEY), sha256 });
    await this.file(file, bytes);
    this.options.onRows?.(this.sum.rows);
  }

  private async file(name: string, bytes: Uint8Array): Promise<void> {
    await usingFile(join(this.folder, name), 'wx', async (file) => {
      await file.writeFile(bytes);
      await file.sync();
    });
  }
}

const NO_KEY = new Uint8Array(0);

async function sync(folder: string): Promise<void> {
  await usingFile(folder, 'r', (file) => file.sync());
}

async function usingFile(path: string, flags: string, body: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags);
  try {
    await body(file);
  } finally {
    await file.close();
  }
}

async function refuseContent(folder: string): Promise<void> {
  let entries: readonly string[];
  try {
    entries = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw systemError(error, folder);
  }
  if (entries.length > 0)
    throw new UnspentError('STORE_FOREIGN', `${folder} is not empty; a snapshot is written into a new folder`, { folder });
}

function systemError(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof UnspentError || code === undefined) return error;
  const message = `the snapshot cannot be written to ${folder} (${code})`;
  return new UnspentError(code === 'ENOSPC' ? 'DISK_FULL' : 'IO', message, { folder }, error);
}
