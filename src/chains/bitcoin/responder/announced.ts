/**
 * Transactions that clients were told of, with their bytes: one that is mined
 * before a client asks for it has left the mempool, and must be given all the
 * same, because nodes count a `notfound` for what was announced against us.
 * One memory for all clients of a server; past its bound the oldest are dropped.
 */
import { toHex } from '../../../util/bytes.ts';
import { P2P_ANNOUNCED_BYTES_MAX } from '../../../util/limits.ts';
import type { ServedChain } from './chain.ts';

export class AnnouncedTxs {
  private readonly chain: Pick<ServedChain, 'tx'>;
  private readonly bytesMax: number;
  /** By hex of the id, oldest first. */
  private readonly raws = new Map<string, Uint8Array>();
  private bytes = 0;

  constructor(chain: Pick<ServedChain, 'tx'>, bytesMax = P2P_ANNOUNCED_BYTES_MAX) {
    this.chain = chain;
    this.bytesMax = bytesMax;
  }

  /** These ids are about to be told to a client. */
  add(ids: readonly Uint8Array[]): void {
    for (const id of ids) {
      const key = toHex(id);
      const raw = this.raws.has(key) ? null : this.chain.tx(id);
      if (raw === null) continue;
      this.raws.set(key, raw);
      this.bytes += raw.length;
    }
    for (const [key, raw] of this.raws) {
      if (this.bytes <= this.bytesMax) break;
      this.raws.delete(key);
      this.bytes -= raw.length;
    }
  }

  /** A transaction of the mempool, or one that was announced; null: neither. */
  find(id: Uint8Array): Uint8Array | null {
    return this.chain.tx(id) ?? this.raws.get(toHex(id)) ?? null;
  }
}
