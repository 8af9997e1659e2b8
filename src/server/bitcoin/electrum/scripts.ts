/**
 * What a script has been through, as Electrum tells it: confirmed transactions
 * in the order of the chain, then those of the mempool, and the one hash over
 * all of them by which a client sees that something has changed.
 */
import { createHash } from 'node:crypto';
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import type { Mempool, MempoolTx } from '../../../query/bitcoin/mempool/mempool.ts';
import type { Query } from '../../../query/query.ts';
import type { Task } from '../../http/work/task.ts';
import { RPC, RpcError } from './rpc.ts';

/** A transaction as clients are told of it. `height` of one in the mempool: 0, or -1 where a parent is in there too. */
export interface Entry {
  readonly tx_hash: string;
  readonly height: number;
  /** In the mempool only. */
  readonly fee?: number;
}

/** Characters that are hashed at once. */
const TEXT_CHARS = 16 * 1024;

/** In the order that the status is made of: by height, where 0 comes before -1, then by id as people write it. */
export function mempoolEntries(mempool: Mempool, key: Uint8Array): Entry[] {
  return mempool.byScript(key).map(mempoolEntry).sort(byStatusOrder);
}

export function mempoolEntry({ id, fee, hasUnconfirmedParents }: MempoolTx): Required<Entry> {
  // Clients take nothing but a number. The fee is unknown where a node has told of a child before its parent.
  return { tx_hash: formatId(id), height: hasUnconfirmedParents ? -1 : 0, fee: Number(fee ?? 0n) };
}

export function byStatusOrder(a: Entry, b: Entry): number {
  return b.height - a.height || (a.tx_hash < b.tx_hash ? -1 : 1);
}

/** The status over these, in this order; null: over none. */
export class StatusHash {
  private readonly hash = createHash('sha256');
  private text = '';
  private isEmpty = true;

  add({ tx_hash, height }: Entry): void {
    this.isEmpty = false;
    this.text += `${tx_hash}:${height}:`;
    if (this.text.length > TEXT_CHARS) this.flush();
  }

  end(): string | null {
    this.flush();
    return this.isEmpty ? null : this.hash.digest('hex');
  }

  private flush(): void {
    this.hash.update(this.text, 'latin1');
    this.text = '';
  }
}

/** Confirmed and unconfirmed. Throws an RpcError when there are more than `max`. */
export function historyEntries(task: Task, query: Query, mempool: Mempool, key: Uint8Array, max: number): Entry[] | Promise<Entry[]> {
  const entries: Entry[] = [];
  const unconfirmed = mempoolEntries(mempool, key);
  return walk(
    task,
    query,
    key,
    max,
    unconfirmed.length,
    (entry) => entries.push(entry),
    () => entries.concat(unconfirmed),
  );
}

export interface ScriptStatus {
  readonly status: string | null;
  /** Height of its newest confirmed transaction; -1: none. */
  readonly top: number;
}

export function scriptStatus(
  task: Task,
  query: Query,
  mempool: Mempool,
  key: Uint8Array,
  max: number,
): ScriptStatus | Promise<ScriptStatus> {
  const hash = new StatusHash();
  const unconfirmed = mempoolEntries(mempool, key);
  let top = -1;
  const take = (entry: Entry): void => {
    hash.add(entry);
    top = entry.height;
  };
  return walk(task, query, key, max, unconfirmed.length, take, () => {
    for (const entry of unconfirmed) hash.add(entry);
    return { status: hash.end(), top };
  });
}

/** Height of the newest confirmed transaction of a script; -1: none. */
export function newestHeight(query: Query, key: Uint8Array): number {
  for (const { height } of query.history().ofKey('address', key, { order: 'desc', limit: 1 })) return height;
  return -1;
}

function walk<T>(
  task: Task,
  query: Query,
  key: Uint8Array,
  max: number,
  more: number,
  take: (entry: Entry) => void,
  result: () => T,
): T | Promise<T> {
  const history = query.history();
  let left = max - more;
  const each = ({ id, height }: { readonly id: Uint8Array; readonly height: number }): boolean => {
    if (left-- <= 0) throw tooLarge(max);
    take({ tx_hash: formatId(id), height });
    return true;
  };
  if (left < 0) throw tooLarge(max);
  return task.inSlices(history.idsOfKey('address', key), each, result);
}

export function tooLarge(max: number): RpcError {
  return new RpcError(RPC.badRequest, `history too large: more than ${max} entries (electrum.historyMax)`);
}
