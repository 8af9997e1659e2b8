/**
 * Who wants to hear of what. When the store has moved or the mempool has
 * changed, only the scripts that may be touched are looked at again, and only
 * those whose status differs are told of. Moves that come while the last one is
 * still looked at are taken together: a client hears of the newest tip only.
 */

import { type ChainMove, ChainTracker } from '../../../query/chain-difference.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import { ELECTRUM_MOVE_BLOCKS_MAX, ELECTRUM_TRAIL_MAX } from '../../../util/limits.ts';
import { nextTurn } from '../../../util/time-slice.ts';
import type { Task } from '../../http/work/task.ts';
import type { Backend } from './backend.ts';
import { headerEntry } from './headers.ts';
import type { MethodCaller } from './method.ts';
import type { ScriptHash } from './params.ts';
import { RPC, RpcError } from './rpc.ts';
import { newestHeight, type ScriptStatus, scriptStatus } from './scripts.ts';
import { touchedBy } from './touched.ts';

const SCRIPTS = 'blockchain.scripthash.subscribe';
const HEADERS = 'blockchain.headers.subscribe';

class Watched {
  readonly name: string;
  readonly key: Uint8Array;
  /** Null: never looked at. */
  seen: ScriptStatus | null = null;
  /** Each with the script hash as it wrote it. */
  readonly subscribers = new Map<MethodCaller, string>();

  constructor(name: string, key: Uint8Array) {
    this.name = name;
    this.key = key;
  }
}

export class Subscriptions {
  private readonly backend: Backend;
  /** The work of telling what has changed, for all sessions: it takes its turns like any other. */
  private task: Task;
  private readonly scripts = new Map<string, Watched>();
  private readonly headers = new Set<MethodCaller>();
  private readonly tracker = new ChainTracker({ rememberedMax: ELECTRUM_TRAIL_MAX, blocksMax: ELECTRUM_MOVE_BLOCKS_MAX });
  private readonly stops: readonly (() => void)[];
  /** Names of scripts to look at again. */
  private touched = new Set<string>();
  /** Counts what may have changed a status. */
  private changes = 0;
  private stale = false;
  private working = false;
  private closed = false;

  constructor(backend: Backend) {
    this.backend = backend;
    this.task = this.newTask();
    backend.hold((query) => this.tracker.follow(query));
    const { reads } = backend.context;
    this.stops = [reads.onMove(() => this.wake([])), backend.mempool.onChange((keys) => this.wake(keys))];
  }

  addHeaders(asker: MethodCaller): void {
    this.headers.add(asker);
  }

  /** The status, from here on with news of it. */
  async add(asker: MethodCaller, { text, key }: ScriptHash): Promise<string | null> {
    const name = toHex(key);
    const { subscriptionsMax } = this.backend.context.config.electrum;
    if (!asker.scripts.has(name) && asker.scripts.size >= subscriptionsMax) {
      throw new RpcError(RPC.badRequest, `a session has at most ${subscriptionsMax} subscriptions (electrum.subscriptionsMax)`);
    }
    const watched = this.scripts.get(name) ?? new Watched(name, key);
    this.scripts.set(name, watched);
    watched.subscribers.set(asker, text);
    asker.scripts.add(name);
    if (watched.seen !== null && !this.stale && !this.working) return watched.seen.status;
    try {
      return await this.firstLook(asker.task, watched);
    } catch (error) {
      this.drop(watched, asker);
      throw error;
    }
  }

  /** False: it was not subscribed. */
  remove(asker: MethodCaller, { key }: ScriptHash): boolean {
    const name = toHex(key);
    const watched = this.scripts.get(name);
    if (watched === undefined || !asker.scripts.has(name)) return false;
    this.drop(watched, asker);
    return true;
  }

  /** The session is over. */
  leave(asker: MethodCaller): void {
    this.headers.delete(asker);
    for (const name of asker.scripts) {
      const watched = this.scripts.get(name);
      if (watched !== undefined) this.drop(watched, asker);
    }
  }

  /** Scripts that somebody is subscribed to. */
  get size(): number {
    return this.scripts.size;
  }

  close(): void {
    this.closed = true;
    for (const stop of this.stops) stop();
  }

  private drop(watched: Watched, asker: MethodCaller): void {
    asker.scripts.delete(watched.name);
    watched.subscribers.delete(asker);
    if (watched.subscribers.size === 0) this.scripts.delete(watched.name);
  }

  /** What was looked up may be old by the time it is there: then it is looked at once more. */
  private async firstLook(task: Task, watched: Watched): Promise<string | null> {
    const before = this.changes;
    const seen = await this.backend.read((query) => this.look(task, query, watched), task);
    watched.seen = seen;
    if (this.changes !== before) this.wake([watched.name]);
    return seen.status;
  }

  private look(task: Task, query: Query, { key }: Watched): ScriptStatus | Promise<ScriptStatus> {
    return scriptStatus(task, query, this.backend.mempool, key, this.backend.historyMax);
  }

  private wake(names: Iterable<string>): void {
    for (const name of names) if (this.scripts.has(name)) this.touched.add(name);
    this.changes++;
    this.stale = true;
    if (this.working || this.closed) return;
    this.working = true;
    this.work()
      .catch((error) => {
        if (!this.closed) this.backend.failed(error, 'notifications');
      })
      .finally(() => {
        this.working = false;
      });
  }

  private async work(): Promise<void> {
    // Whoever moves the store also settles the mempool: in the next turn both are of one point.
    await nextTurn();
    this.task = this.newTask();
    while (this.stale && !this.closed) {
      this.stale = false;
      const touched = this.touched;
      this.touched = new Set();
      await this.backend.hold(async (query) => {
        const move = this.tracker.follow(query);
        if (move !== null) this.tellHeaders(query);
        await this.tellScripts(query, await this.suspects(query, move, touched));
      });
    }
  }

  private newTask(): Task {
    return this.backend.context.workload.ownTask(() => this.closed);
  }

  private tellHeaders(query: Query): void {
    if (query.head === null || this.headers.size === 0) return;
    const entry = headerEntry(query, query.head.height);
    for (const asker of [...this.headers]) asker.notify(HEADERS, [entry]);
  }

  /** Scripts whose status may be another now. */
  private async suspects(query: Query, move: ChainMove | null, touched: ReadonlySet<string>): Promise<Set<string>> {
    const names = new Set(touched);
    if (move === null) return names;
    const inBlocks = this.scripts.size === 0 ? new Set<string>() : touchedBy(query, move, this.scripts.size);
    const each = (watched: Watched): boolean => {
      const { seen } = watched;
      if (seen === null) return true;
      const moved = inBlocks?.has(watched.name) ?? newestHeight(query, watched.key) > move.fork;
      // What a parent that is confirmed now changes in the mempool, the mempool tells itself.
      if (moved || seen.top > move.fork) names.add(watched.name);
      return true;
    };
    await this.task.inSlices([...this.scripts.values()], each, () => undefined);
    return names;
  }

  private async tellScripts(query: Query, names: ReadonlySet<string>): Promise<void> {
    for (const name of names) {
      const watched = this.scripts.get(name);
      // One that nobody has looked at yet is being looked at, and seen to be old when that is done.
      if (watched === undefined || watched.seen === null) continue;
      await this.compare(query, watched, watched.seen);
    }
  }

  private async compare(query: Query, watched: Watched, before: ScriptStatus): Promise<void> {
    try {
      watched.seen = await this.look(this.task, query, watched);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // It has grown past what may be listed: servers may drop a subscription, and a status that stays would be a lie.
      for (const asker of [...watched.subscribers.keys()]) this.drop(watched, asker);
      return;
    }
    if (watched.seen.status === before.status) return;
    for (const [asker, text] of [...watched.subscribers]) asker.notify(SCRIPTS, [text, watched.seen.status]);
  }
}
