/**
 * The first pass over a folder, and each later look at it: finds the records of
 * every file and enters them in the index. The last files may still be written
 * to, so the last record of each counts only when all of it is there.
 */

import { stat } from 'node:fs/promises';
import { BITCOIN_NETWORKS, type BitcoinNetwork, decodeBlock } from '../../../ledgers/bitcoin/index.ts';
import { verifyBody } from '../../../ledgers/bitcoin/proof.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { SLICE_MS } from '../../../util/limits.ts';
import { TimeSlice } from '../../../util/time-slice.ts';
import type { BlockIndex } from './block-index.ts';
import { blockFile, listBlockFiles, unreadable } from './folder.ts';
import { type BlockRecord, RecordReader } from './records.ts';

/** Where we are in a file: behind its last record, and what the file looked like then. */
interface Scanned {
  end: number;
  size: number;
  modifiedMs: number;
}

/** Newest files that a node may still write to; it keeps two open while it checks a snapshot. */
const GROWING_FILES = 2;
/** A file touched this short ago is read again: its time may not show a second write. */
const FRESH_MS = 2000;

export class FolderScan {
  private readonly folder: string;
  private readonly network: BitcoinNetwork;
  private readonly key: Uint8Array | null;
  private readonly index: BlockIndex;
  private readonly scanned = new Map<number, Scanned>();
  /** For a check of blocks whose place in the chain may not be known yet. */
  private readonly withoutHeights: BitcoinNetwork;

  constructor(folder: string, network: BitcoinNetwork, key: Uint8Array | null, index: BlockIndex) {
    this.folder = folder;
    this.network = network;
    this.key = key;
    this.index = index;
    this.withoutHeights = { ...network, bip34Height: Number.POSITIVE_INFINITY };
  }

  /** Enters what is new since the last time. Throws NETWORK_WRONG, SOURCE_UNREACHABLE. */
  async look(signal: AbortSignal): Promise<void> {
    const numbers = await listBlockFiles(this.folder);
    for (const [i, number] of numbers.entries()) {
      if (signal.aborted) return;
      const isGrowing = i >= numbers.length - GROWING_FILES;
      const known = this.scanned.get(number);
      // One that was among the last when we looked is read once more when it no longer is.
      if (known !== undefined && !isGrowing && known.modifiedMs < 0) continue;
      await this.lookAt(number, isGrowing, i === 0, signal);
    }
  }

  private async lookAt(number: number, isGrowing: boolean, isFirst: boolean, signal: AbortSignal): Promise<void> {
    const path = blockFile(this.folder, number);
    const { size, mtimeMs } = await stat(path).catch((error) => {
      throw unreadable(path, error);
    });
    const known = this.scanned.get(number) ?? { end: 0, size: -1, modifiedMs: 0 };
    if (isGrowing && known.size === size && known.modifiedMs === mtimeMs && Date.now() - mtimeMs > FRESH_MS) return;
    const reader = new RecordReader(path, this.network.magic, this.key);
    try {
      if (known.end === 0) this.checkMagic(reader, isFirst);
      const end = await this.enter(reader, number, known.end, isGrowing, signal);
      this.scanned.set(number, { end, size, modifiedMs: isGrowing ? mtimeMs : -1 });
    } finally {
      reader.close();
    }
  }

  /** Returns where to go on. */
  private async enter(reader: RecordReader, file: number, start: number, isGrowing: boolean, signal: AbortSignal): Promise<number> {
    let held: BlockRecord | null = null;
    const slice = new TimeSlice(SLICE_MS);
    for (const record of reader.records(start, isGrowing)) {
      if (held !== null) this.index.add(held, file);
      held = record;
      if (!slice.isOver) continue;
      await slice.turn();
      if (signal.aborted) break;
    }
    if (held === null) return start;
    if (isGrowing && !this.isWhole(reader.block(held))) return held.start;
    this.index.add(held, file);
    return held.offset + held.length;
  }

  /** A file is made longer before it is filled: that the bytes are there does not say that they are written. */
  private isWhole(raw: Uint8Array): boolean {
    try {
      verifyBody(decodeBlock(raw, 1, this.network.mweb), this.withoutHeights);
      return true;
    } catch (error) {
      if (isUnspentError(error, 'BLOCK_INVALID')) return false;
      throw error;
    }
  }

  /** Only the beginning of the first file is sure to be that of a record. */
  private checkMagic(reader: RecordReader, isFirst: boolean): void {
    const { magic, name } = this.network;
    const found = reader.firstMagic();
    if (found === null || found === magic) return;
    const other = BITCOIN_NETWORKS.find((network) => network.magic === found);
    if (!isFirst && other === undefined) return;
    const of = other === undefined ? 'of no network we know (or written with a key, and its xor.dat is not here)' : `of '${other.name}'`;
    const message = `${reader.path} begins with ${hex(found)}, ${of}; block files of '${name}' begin with ${hex(magic)}`;
    throw new UnspentError('NETWORK_WRONG', message, { network: name, magic: hex(magic), found: hex(found) });
  }
}

function hex(magic: number): string {
  return magic.toString(16).padStart(8, '0');
}
