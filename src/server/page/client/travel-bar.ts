/**
 * Time travel: a slider over the blocks that the store can answer for. The page
 * below it is drawn again as of the block that is chosen; at its right end it
 * follows the chain.
 */
import { get, travel } from './api.ts';
import { h, say } from './dom.ts';
import { count, utc } from './format.ts';
import type { Block, Status } from './shapes.ts';

/** While somebody moves it, the page is drawn this often at most. */
const SETTLE_MS = 180;

/** Pages that can be drawn as of an earlier block. */
export const TIMED_VIEWS: ReadonlySet<string> = new Set([
  'address',
  'stake',
  'credential',
  'policy',
  'asset',
  'block',
  'blocks',
  'overview',
  'output',
  'tx',
  'datum',
  'script',
]);

export class TravelBar {
  readonly element: HTMLElement;
  private readonly slider = h('input', { type: 'range', id: 'travel-height', step: 1, 'aria-describedby': 'travel-time' });
  private readonly place = h('output', { for: 'travel-height', class: 'travel-place' });
  private readonly time = h('span', { id: 'travel-time', class: 'travel-time' });
  private readonly back = h('button', { class: 'button', type: 'button' }, 'Back to now');
  private readonly onMove: (height: number | null) => void;
  private first = 0;
  private last = 0;
  private timer = 0;
  private turn = 0;

  /** `onMove`: a block was chosen; null: the newest. */
  constructor(onMove: (height: number | null) => void) {
    this.onMove = onMove;
    const label = h('label', { for: 'travel-height' }, 'As of block');
    this.element = h(
      'section',
      { class: 'travel', 'aria-label': 'Time travel', hidden: true },
      label,
      this.slider,
      this.place,
      this.time,
      this.back,
    );
    this.slider.addEventListener('input', () => {
      this.tell(Number(this.slider.value));
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.move(Number(this.slider.value)), SETTLE_MS);
    });
    this.back.addEventListener('click', () => {
      this.move(this.last);
      this.slider.focus();
    });
  }

  /** From where to where one can go. */
  learn({ tip, horizon }: Pick<Status, 'tip' | 'horizon'>): void {
    this.grow(horizon?.height ?? 0, tip?.height ?? 0);
  }

  tipAt(height: number): void {
    this.grow(Math.min(this.first, height), height);
  }

  /** On pages that can be drawn as of an earlier block. `isKept`: its place is taken before it is known how far one can go. */
  show(isWanted: boolean, isKept = false): void {
    this.element.hidden = !isWanted || (!isKept && this.last <= this.first);
    this.set();
  }

  private grow(first: number, last: number): void {
    [this.first, this.last] = [first, last];
    this.slider.min = String(first);
    this.slider.max = String(last);
    this.slider.disabled = last <= first;
    if (document.activeElement !== this.slider) this.set();
    else if (travel.height === null) this.tell(Number(this.slider.value));
  }

  private set(): void {
    const height = travel.height ?? this.last;
    this.slider.value = String(height);
    this.tell(height);
    this.element.dataset['past'] = travel.height === null ? '' : 'yes';
    this.back.hidden = travel.height === null;
  }

  private move(height: number): void {
    this.onMove(height >= this.last ? null : height);
  }

  private tell(height: number): void {
    const isNow = height >= this.last;
    say(this.place, count(height));
    const behind = this.last - height;
    // Before it is known how far one can go, nothing is the newest.
    say(this.time, this.last === 0 ? '' : isNow ? 'the newest' : `${count(behind)} back`);
    this.slider.setAttribute(
      'aria-valuetext',
      isNow ? `block ${count(height)}, the newest` : `block ${count(height)}, ${count(behind)} back`,
    );
    const turn = ++this.turn;
    if (isNow || this.element.hidden) return;
    void get<Block>(`/blocks/height:${height}`).then(
      ({ body }) => turn === this.turn && say(this.time, `${count(behind)} back, ${utc(body.block_time)}`),
      () => undefined,
    );
  }
}
