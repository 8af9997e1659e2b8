/**
 * What a follower says while it follows: how far it is while behind, each block
 * at the tip, each rollback, and what becomes of its peer.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { FollowProgress } from '../sources/follow.ts';
import type { PeerStatus } from '../sources/peer.ts';
import type { OpenStore } from '../store/store.ts';
import { count, counted, duration, placeText, rate } from './format.ts';

const BEHIND_LINE_MS = 2000;

const NOTHING: FollowProgress = {
  blocks: 0,
  bytes: 0,
  txs: 0,
  created: 0,
  spent: 0,
  rollbacks: 0,
  undone: 0,
  queued: 0,
  tip: undefined,
};

export class FollowLines {
  private readonly store: OpenStore;
  private readonly say: (text: string) => void;
  /** As of the last line. */
  private told = NOTHING;
  private toldAt = 0;
  private now = NOTHING;
  private status: PeerStatus | null = null;
  private filling: ReadonlySet<string>;
  private rollback: { readonly at: number; readonly to: Point | null; readonly undone: number } | null = null;

  constructor(store: OpenStore, say: (text: string) => void) {
    this.store = store;
    this.say = say;
    this.filling = new Set(store.fills().map(({ projection }) => projection));
  }

  progress(now: FollowProgress): void {
    this.now = now;
    const { head } = this.store.fold;
    if (head === null || now.blocks === this.told.blocks) return;
    const behind = this.lagBlocks();
    const at = Date.now();
    if (behind > 0 && at - this.toldAt < BEHIND_LINE_MS) return;
    const blocks = now.blocks - this.told.blocks;
    if (behind > 0) {
      const seconds = (at - this.toldAt) / 1000;
      const speed = this.toldAt === 0 ? '' : `, ${rate(blocks / seconds)} blocks/s`;
      this.say(`${this.place(head)}: ${this.lag()}${speed}`);
    } else {
      const what = blocks === 1 ? `block ${count(head.height)}` : `${counted(blocks, 'block')} up to ${count(head.height)}`;
      const txs = counted(now.txs - this.told.txs, 'transaction');
      const totals = this.store.totals();
      const outputs = `, +${now.created - this.told.created} -${now.spent - this.told.spent}; ${count(totals?.utxos ?? 0)} unspent`;
      const slot = hasSlots(this.store) ? `, slot ${count(head.slot)}` : '';
      this.say(`${what}${slot}: ${txs}${totals === null ? '' : outputs}`);
    }
    this.told = now;
    this.toldAt = at;
  }

  rolledBack(to: Point | null, undone: number): void {
    this.rollback = { at: Date.now(), to, undone };
    this.say(`rollback: ${counted(undone, 'block')} undone, back at ${this.place(to)}; the other fork follows`);
  }

  peer(status: PeerStatus): void {
    const before = this.status?.state;
    this.status = status;
    if (status.state === 'following') this.say(`connected to ${status.peer} (${status.version})`);
    else if (status.state === 'waiting' && before !== 'waiting') this.say(`lost ${status.peer}: ${status.lastError?.message ?? 'gone'}`);
  }

  /** Of what was switched on later: each once, when it is ready. */
  filled(fills: readonly { readonly projection: string }[]): void {
    const left = new Set(fills.map(({ projection }) => projection));
    for (const name of this.filling) if (!left.has(name)) this.say(`${name} is filled and ready`);
    this.filling = left;
  }

  /** For the status: tip, lag, peer, last rollback. */
  rows(): [string, string][] {
    const rows: [string, string][] = [['lag', this.lag()]];
    if (this.status !== null) {
      const { peer, state, version, lost, lastError } = this.status;
      rows.push(['peer', `${peer}, ${state}${version === '' ? '' : ` (${version})`}`]);
      if (lastError !== null) rows.push(['lost', `${counted(lost, 'connection')}, the last one: ${lastError.message}`]);
    }
    const { rollback } = this;
    const told = rollback === null ? 'none' : `${counted(rollback.undone, 'block')} to ${this.place(rollback.to)}, ${ago(rollback.at)}`;
    rows.push(['last rollback', told]);
    return rows;
  }

  private place(point: Pick<Point, 'height' | 'slot'> | null): string {
    return point === null ? 'the origin' : placeText(point, this.store.network.dialect);
  }

  private lagBlocks(): number {
    const { tip } = this.now;
    return tip?.height === undefined ? 0 : Math.max(0, tip.height - (this.store.fold.head?.height ?? -1));
  }

  /** Behind the source's newest block, in blocks and in the chain's own time. */
  private lag(): string {
    const { tip } = this.now;
    if (tip === undefined) return 'the source has not told its tip yet';
    const { clock } = this.store.network.dialect;
    const [theirs, ours] = [clock.time(tip.slot, null), clock.time(this.store.fold.head?.slot ?? 0, null)];
    const blocks = counted(this.lagBlocks(), 'block');
    // A chain whose blocks alone know the time cannot say how old one is that we do not have.
    if (theirs === null || ours === null) return `${blocks} behind the tip (height ${count(tip.height ?? tip.slot)})`;
    return `${blocks} and ${duration(Math.max(0, theirs - ours))} behind the tip (slot ${count(tip.slot)})`;
  }
}

/** Chains without slots of their own give the height as one. */
function hasSlots({ network: { dialect } }: OpenStore): boolean {
  return dialect.clock.epoch(0) !== null;
}

function ago(at: number): string {
  return `${duration((Date.now() - at) / 1000)} ago`;
}
