/**
 * Blocks asked of a node and not handed over yet: how many more may be asked
 * for, which have come, and how many bytes that is. Nothing is held that was
 * not asked for.
 */
import { formatId, HEADER_BYTES, headerHash } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { P2P_BLOCK_BYTES_AHEAD_MAX, P2P_BLOCKS_IN_FLIGHT_MAX } from '../../../util/limits.ts';
import { violation } from './frame.ts';

/** What a block is taken to have before the first has come. */
const FIRST_GUESS_BYTES = 256 * 1024;
/** Blocks differ: twice what they had of late, and never less than this, is reckoned for one on its way. */
const LEAST_GUESS_BYTES = 1024;

export class BlockWindow {
  private readonly inFlight = new Set<string>();
  private readonly here = new Map<string, Uint8Array>();
  private hereBytes = 0;
  private averageBytes = FIRST_GUESS_BYTES;

  get waiting(): number {
    return this.inFlight.size;
  }

  /** No more is to be read before something is taken. */
  get isFull(): boolean {
    return this.hereBytes >= P2P_BLOCK_BYTES_AHEAD_MAX;
  }

  /** Blocks that may be asked for now. */
  get room(): number {
    const each = Math.max(LEAST_GUESS_BYTES, 2 * this.averageBytes);
    const bytes = P2P_BLOCK_BYTES_AHEAD_MAX - this.hereBytes - this.inFlight.size * each;
    // However large they are, one must be able to come.
    const least = this.inFlight.size + this.here.size === 0 ? 1 : 0;
    return Math.min(P2P_BLOCKS_IN_FLIGHT_MAX - this.inFlight.size - this.here.size, Math.max(least, Math.floor(bytes / each)));
  }

  has(hash: Uint8Array): boolean {
    const key = toHex(hash);
    return this.inFlight.has(key) || this.here.has(key);
  }

  ask(hash: Uint8Array): void {
    this.inFlight.add(toHex(hash));
  }

  /** Takes a block that came; its hash. Throws PROTOCOL when its header is of none that was asked for. */
  arrived(raw: Uint8Array): Uint8Array {
    if (raw.length <= HEADER_BYTES) throw violation(`a block of ${raw.length} bytes`);
    const hash = headerHash(raw);
    const key = toHex(hash);
    if (!this.inFlight.delete(key)) throw violation(`block ${formatId(hash)}, which was not asked for`);
    // Nodes answer in the order they are asked; whoever does not could make us hold all of them at once.
    if (this.hereBytes > 4 * P2P_BLOCK_BYTES_AHEAD_MAX) throw violation('the first block asked for comes last');
    this.here.set(key, raw);
    this.hereBytes += raw.length;
    this.averageBytes += (raw.length - this.averageBytes) / 16;
    return hash;
  }

  /** The block with that hash, if it has come. */
  peek(hash: Uint8Array): Uint8Array | undefined {
    return this.here.get(toHex(hash));
  }

  drop(hash: Uint8Array): void {
    const key = toHex(hash);
    this.hereBytes -= this.here.get(key)?.length ?? 0;
    this.here.delete(key);
  }

  /** Blocks of a branch that lost are let go. */
  keepOnly(isWanted: (hash: Uint8Array) => boolean): void {
    for (const raw of this.here.values()) {
      const hash = headerHash(raw);
      if (!isWanted(hash)) this.drop(hash);
    }
  }
}
