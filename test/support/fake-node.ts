/**
 * A node of the Bitcoin family that is not there: a source that hands over the
 * blocks of a `PoolChain` as they are mined and taken back, and shows a mempool
 * that holds what the test puts into it.
 */
import { decodeTx, formatId } from '../../src/ledgers/bitcoin/index.ts';
import type { Point } from '../../src/ledgers/ledger.ts';
import type { ChainEvent, FollowOptions, MempoolChange, MempoolFeed, Run, Source } from '../../src/sources/source.ts';
import { equalBytes, toHex } from '../../src/util/bytes.ts';
import { UnspentError } from '../../src/util/errors.ts';
import type { PoolChain } from './pool-chain.ts';

type Listener = (change: MempoolChange) => void;

export class FakeNode implements Source {
  readonly name = 'fake node';
  readonly chain: PoolChain;
  /** By hex of the id. */
  readonly pool = new Map<string, Uint8Array>();
  readonly listeners = new Set<Listener>();
  /** What it says to the next transaction that is submitted; null: it takes it. */
  refusal: UnspentError | null = null;
  /** How long it thinks about it. */
  answered: Promise<void> = Promise.resolve();
  readonly mempool: MempoolFeed = { watch: (listener) => this.watch(listener), submit: (raw) => this.submit(raw) };
  /** Where it says its chain ends; default: where it does. */
  tipHeight: number | null = null;
  private wake: () => void = () => {};

  constructor(chain: PoolChain) {
    this.chain = chain;
  }

  /** `from` must be on its chain. */
  async *runs({ from, signal }: FollowOptions): AsyncIterable<Run> {
    const given: Point[] = this.chain.blocks.slice(0, (from[0]?.height ?? -1) + 1).map(({ point }) => point);
    signal.addEventListener('abort', () => this.wake());
    while (!signal.aborted) {
      const moved = Promise.withResolvers<void>();
      this.wake = moved.resolve;
      const events = this.eventsAfter(given);
      const height = this.tipHeight ?? this.chain.height;
      yield { events, tip: { slot: height, height }, atTip: true };
      await moved.promise;
    }
  }

  private eventsAfter(given: Point[]): ChainEvent[] {
    const { blocks } = this.chain;
    const before = given.length;
    while (given.length > 0 && !isOn(this.chain, given[given.length - 1])) given.pop();
    const events: ChainEvent[] = given.length < before ? [{ kind: 'back', point: given.at(-1) ?? null }] : [];
    for (const { raw, point } of blocks.slice(given.length)) {
      events.push({ kind: 'forward', raw, intact: true, height: point.height });
      given.push(point);
    }
    return events;
  }

  /** The chain is another one now. */
  moved(): void {
    this.wake();
  }

  add(...txs: readonly Uint8Array[]): void {
    for (const raw of txs) this.pool.set(toHex(decodeTx(raw).id), raw);
    this.tell({ kind: 'add', txs });
  }

  remove(...ids: readonly Uint8Array[]): void {
    for (const id of ids) this.pool.delete(toHex(id));
    this.tell({ kind: 'remove', ids });
  }

  private tell(change: MempoolChange): void {
    for (const listener of this.listeners) listener(change);
  }

  private watch(listener: Listener): () => void {
    this.listeners.add(listener);
    listener({ kind: 'add', txs: [...this.pool.values()] });
    return () => this.listeners.delete(listener);
  }

  /** It tells nobody by itself: whoever submitted need not wait for that. */
  private async submit(raw: Uint8Array): Promise<Uint8Array> {
    await this.answered;
    const { id } = decodeTx(raw);
    if (this.refusal !== null) throw new UnspentError('TX_REFUSED', this.refusal.message, { id: formatId(id) });
    this.pool.set(toHex(id), raw);
    return id;
  }
}

function isOn({ blocks }: PoolChain, { height, hash }: Point): boolean {
  return height < blocks.length && equalBytes(blocks[height].point.hash, hash);
}
