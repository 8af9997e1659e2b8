/**
 * The newest blocks as a row of bars, as tall as they have transactions. A new
 * one rises at the right; those a rollback takes turn red and sink.
 */
import { get, open, Problem } from './api.ts';
import { h, replace } from './dom.ts';
import { contentText, count, counted, utc } from './format.ts';
import { hrefOf } from './parts.ts';
import type { Block } from './shapes.ts';
import { eventsOf } from './stream.ts';

const BLOCKS = 60;
/** Room for a bar and the gap beside it. */
const BAR_PX = 10;
/** As long as the stylesheet lets them sink. */
const SINK_MS = 1600;
/** A few blocks with many transactions should not make the others look empty. */
const TALL_SHARE = 0.92;
/** While the store runs ahead faster than anybody could watch, the row is made anew this often. */
const ANEW_MS = 3000;
const REPLAY_MS = 5000;

export class BlockStrip {
  readonly element: HTMLElement;
  private readonly list = h('ol', { 'aria-label': 'The newest blocks, newest last' });
  private readonly from = h('span', {});
  private readonly to = h('span', {});
  private blocks: readonly Block[] = [];
  private loading = Promise.resolve();
  private anewAt = 0;

  constructor() {
    const scale = h('div', { class: 'scale' }, this.from, this.to);
    this.element = h('div', { class: 'strip' }, this.list, scale);
  }

  /** The tip is now there; what lies between is asked for, one move after the other. */
  moveTo(height: number, hash: string): void {
    this.loading = this.loading.then(() => this.load(height, hash)).catch(() => undefined);
  }

  /** Blocks above this height are no more. */
  rollback(height: number): void {
    const gone = this.blocks.filter((block) => block.height > height);
    this.blocks = this.blocks.filter((block) => block.height <= height);
    for (const { hash } of gone) this.sink(hash);
  }

  private async load(height: number, hash: string): Promise<void> {
    const last = this.blocks.at(-1);
    if (last?.hash === hash) return;
    if (last !== undefined && last.height >= height) this.rollback(height - 1);
    const kept = this.blocks.at(-1);
    const came = kept === undefined || height - kept.height > BLOCKS ? await this.anew(height) : await this.goOn(kept, height, hash);
    if (came.length > 0) this.draw(kept === undefined ? new Set() : new Set(came.map((block) => block.height)));
  }

  /** Behind a block we have. */
  private async goOn(kept: Block, height: number, hash: string): Promise<readonly Block[]> {
    const came = height === kept.height + 1 ? [(await get<Block>(`/blocks/${hash}`)).body] : await replay(kept, height);
    // A rollback, before we asked or meanwhile: what we have is of another branch.
    if (came[0]?.previous_hash !== kept.hash || this.blocks.at(-1) !== kept) return this.anew(height);
    this.blocks = [...this.blocks, ...came].slice(-BLOCKS);
    return came;
  }

  private async anew(height: number): Promise<readonly Block[]> {
    if (Date.now() < this.anewAt + ANEW_MS) return [];
    this.anewAt = Date.now();
    const { body: first } = await get<Block>(`/blocks/height:${Math.max(0, height - BLOCKS + 1)}`);
    this.blocks = [first, ...(first.height < height ? await replay(first, height) : [])];
    return this.blocks;
  }

  private draw(rising: ReadonlySet<number>): void {
    // A narrow screen has room for the newest only.
    const shown = this.blocks.slice(-Math.max(1, Math.floor((this.list.clientWidth || BLOCKS * BAR_PX) / BAR_PX)));
    const most = Math.max(1, ...shown.map((block) => block.tx_count ?? 0));
    const bars = shown.map((block) => this.bar(block, most, rising.has(block.height)));
    // One stop for the keyboard is enough: from a block's page its neighbours can be reached.
    bars.at(-1)?.firstElementChild?.removeAttribute('tabindex');
    const hadFocus = this.list.contains(document.activeElement);
    replace(this.list, bars);
    if (hadFocus) (bars.at(-1)?.firstElementChild as HTMLElement | null | undefined)?.focus({ preventScroll: true });
    const [first, last] = [shown[0], shown.at(-1)];
    this.from.textContent = first === undefined ? '' : `block ${count(first.height)}`;
    this.to.textContent = last === undefined ? '' : `${count(last.height)}: ${contentText(last)}`;
  }

  private bar(block: Block, most: number, rising: boolean): HTMLElement {
    const { height, hash, tx_count = 0, block_time } = block;
    const title = `block ${count(height)}\n${contentText(block)}\n${utc(block_time)}`;
    const label = `Block ${count(height)}, ${counted(tx_count, 'transaction')}`;
    const bar = h('a', { href: hrefOf('block', hash), title, 'aria-label': label, tabindex: -1, 'data-empty': tx_count === 0 });
    bar.style.setProperty('--tall', `${Math.round(8 + 100 * TALL_SHARE * (tx_count / most))}%`);
    return h('li', { 'data-hash': hash, class: rising ? 'new' : null }, bar);
  }

  private sink(hash: string): void {
    const item = this.list.querySelector(`[data-hash="${hash}"]`);
    item?.classList.add('gone');
    setTimeout(() => item?.remove(), SINK_MS);
  }
}

/** The blocks above one, up to a height, as events: one request, however many they are. */
async function replay(from: Block, height: number): Promise<Block[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(REPLAY_MS)]);
  const blocks: Block[] = [];
  try {
    for await (const events of eventsOf(await open('/events', { types: 'block', after: from.hash }, { signal }))) {
      for (const { type, data } of events) {
        if (type !== 'block') throw new Problem(0, 'The chain turned', type);
        const block = JSON.parse(data) as Block;
        if (blocks.push(block) > BLOCKS || block.height >= height) return blocks;
      }
    }
    return blocks;
  } finally {
    stop.abort();
  }
}
