/**
 * Reads a snapshot and believes nothing in it: each chunk has the size and the
 * hash the manifest gives before a row of it is looked at; rows ascend, each is
 * an output whose header says what its own bytes say, of no later block than the
 * snapshot's, about which only its header is asked (`base.ts`); and in the end the
 * set adds up to what the manifest claims.
 */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularLater } from '../files/regular.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { OUTPOINT_BYTES, outpointIndex, TXID_BYTES } from '../ledgers/outpoint.ts';
import type { ChainRow } from '../projections/chain.ts';
import { AT, type Coin } from '../projections/coin.ts';
import { OutputCheck } from '../store/verify/output.ts';
import { readU32, readU64, toHex } from '../util/bytes.ts';
import { BEGINS_ANEW, isUnspentError, UnspentError } from '../util/errors.ts';
import { SNAPSHOT_CHUNK_BYTES_MAX, SNAPSHOT_MANIFEST_BYTES_MAX } from '../util/limits.ts';
import { baseOf, isPlaced } from './base.ts';
import { readRows, rowBytes } from './chunk.ts';
import { invalid, MANIFEST_FILE, type ManifestChunk, parseManifest, type SnapshotManifest } from './manifest.ts';
import { SetSum } from './sum.ts';

export interface SnapshotFolder {
  readonly folder: string;
  readonly manifest: SnapshotManifest;
}

/** Reads the manifest only. Throws SNAPSHOT_INVALID. */
export async function openSnapshot(folder: string): Promise<SnapshotFolder> {
  const bytes = await readBounded(folder, MANIFEST_FILE, SNAPSHOT_MANIFEST_BYTES_MAX);
  const manifest = parseManifest(bytes);
  const listed = new Set(manifest.chunks.map(({ file }) => file));
  const stray = (await readdir(folder)).find((name) => name.endsWith('.chunk') && !listed.has(name));
  if (stray !== undefined) throw wrong(stray, 'is not in the manifest');
  return { folder, manifest };
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** After each chunk. */
  readonly onRows?: ((rows: number) => void) | undefined;
  /** Given the rows of one chunk after the other, each of which is good by itself; what they add up to is known at the end. */
  readonly take?: ((coins: readonly Coin[]) => void) | undefined;
  /** Who takes them says in the end what the set hashes to; default: that is worked out here. */
  readonly setHash?: (() => string) | undefined;
}

/** Resolves when all of it has been read and is right. Throws SNAPSHOT_INVALID. */
export async function readSnapshot({ folder, manifest }: SnapshotFolder, ledger: Ledger, options: ReadOptions = {}): Promise<void> {
  const check = new RowCheck(ledger, baseOf(manifest, ledger).row);
  const sum = new SetSum(ledger, options.setHash === undefined);
  let next = manifest.chunks.length > 0 ? readChunk(folder, manifest.chunks[0]) : null;
  for (let i = 0; next !== null; i++) {
    const bytes: Uint8Array = await next;
    if (options.signal?.aborted)
      throw new UnspentError('INTERRUPTED', 'interrupted between two chunks of the snapshot', { advice: BEGINS_ANEW });
    // The next is on its way while this one is looked at.
    next = i + 1 < manifest.chunks.length ? readChunk(folder, manifest.chunks[i + 1]) : null;
    // Its failure is told when its turn has come.
    next?.catch(() => {});
    const coins = chunkRows(bytes, manifest, i);
    for (const coin of coins) {
      check.row(coin, manifest.chunks[i].file);
      sum.add(coin);
    }
    options.take?.(coins);
    options.onRows?.(sum.rows);
  }
  if (!isPlaced(manifest, ledger, sum.newest))
    throw invalid(`says height ${manifest.point.height}, and the newest output is of height ${sum.newest}`);
  const { setHash, ...found } = sum.end();
  compare(manifest, { ...found, setHash: setHash ?? options.setHash?.() ?? '' });
}

async function readChunk(folder: string, { file, bytes, sha256 }: ManifestChunk): Promise<Uint8Array> {
  if (bytes > SNAPSHOT_CHUNK_BYTES_MAX) throw wrong(file, `is of ${bytes} bytes, more than a chunk can have`);
  const found = await readBounded(folder, file, bytes);
  if (found.length !== bytes) throw wrong(file, `has ${found.length} bytes, the manifest says ${bytes}`);
  if (createHash('sha256').update(found).digest('hex') !== sha256) throw wrong(file, 'does not have the hash that the manifest gives');
  return found;
}

function chunkRows(bytes: Uint8Array, { chunks, chunkBytes }: SnapshotManifest, number: number): readonly Coin[] {
  const { file, rows, first, last } = chunks[number];
  const coins = readRows(bytes, file);
  if (coins.length !== rows) throw wrong(file, `has ${coins.length} rows, the manifest says ${rows}`);
  if (keyText(coins[0]) !== first || keyText(coins[rows - 1]) !== last)
    throw wrong(file, 'has other first and last keys than the manifest says');
  const isLong = bytes.length > chunkBytes && rows > 1;
  if (isLong || (number > 0 && chunks[number - 1].bytes + rowBytes(coins[0].length) <= chunkBytes))
    throw wrong(file, 'is not cut where chunks are');
  return coins;
}

function keyText({ keyBytes, keyAt }: Coin): string {
  return toHex(keyBytes, keyAt, keyAt + OUTPOINT_BYTES);
}

/** What can be said of a row without the others, but for their order. */
class RowCheck {
  private readonly ledger: Ledger;
  private readonly block: ChainRow;
  private readonly outputs: OutputCheck;
  private last: Coin | null = null;

  constructor(ledger: Ledger, block: ChainRow) {
    this.ledger = ledger;
    this.block = block;
    this.outputs = new OutputCheck(ledger);
  }

  row(coin: Coin, file: string): void {
    if (this.last !== null && !isBefore(this.last, coin)) throw this.fault(coin, file, 'does not come behind the row before it');
    this.last = coin;
    let faults: readonly string[];
    try {
      faults = this.outputs.faults(coin.bytes, coin.at, coin.end);
    } catch (error) {
      throw this.fault(coin, file, `does not decode: ${(error as Error).message}`, error);
    }
    if (faults.length > 0) throw this.fault(coin, file, `is stored wrong: ${faults[0]}`);
    const height = readU32(coin.bytes, coin.at + AT.height);
    const slot = readU64(coin.bytes, coin.at + AT.slot);
    const isPlaced = this.ledger.hasSlots || slot === height;
    if (height > this.block.height || slot > this.block.slot || !isPlaced)
      throw this.fault(coin, file, `names height ${height} and slot ${slot}, where it cannot have come from`);
  }

  private fault({ keyBytes, keyAt }: Coin, file: string, what: string, cause?: unknown): UnspentError {
    const id = this.ledger.formatId(keyBytes.subarray(keyAt, keyAt + TXID_BYTES));
    return wrong(file, `has an output ${id}#${outpointIndex(keyBytes, keyAt)} that ${what}`, cause);
  }
}

function isBefore(a: Coin, b: Coin): boolean {
  for (let i = 0; i < OUTPOINT_BYTES; i++) {
    const difference = a.keyBytes[a.keyAt + i] - b.keyBytes[b.keyAt + i];
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function compare(
  { utxos, value, roots }: SnapshotManifest,
  found: { utxos: number; value: bigint; digest: string; setHash: string },
): void {
  const pairs = [
    ['utxos', utxos, found.utxos],
    ['value', value, found.value.toString()],
    ['digest', roots.digest, found.digest],
    ['setHash', roots.setHash, found.setHash],
  ] as const;
  for (const [name, said, is] of pairs) if (said !== is) throw invalid(`says ${name} ${said}, and the chunks have ${is}`);
}

/** Throws SNAPSHOT_INVALID where the file is not there, is no regular one, or is larger than that. */
async function readBounded(folder: string, name: string, bytesMax: number): Promise<Uint8Array> {
  const path = join(folder, name);
  try {
    return await readRegularLater(path, { bytesMax, links: 'refuse' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isUnspentError(error, 'IO')) throw wrong(name, `is ${error.meta['kind']}; a snapshot has regular files only`, error);
    if (isUnspentError(error, 'LIMIT')) throw wrong(name, `has more than the ${bytesMax} bytes it may have`, error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw wrong(name, `is not there (${folder})`, error);
    if (code === undefined) throw error;
    throw new UnspentError('IO', `${path} cannot be read (${code})`, { path }, error);
  }
}

function wrong(file: string, what: string, cause?: unknown): UnspentError {
  return new UnspentError('SNAPSHOT_INVALID', `${file} ${what}`, { file }, cause);
}
