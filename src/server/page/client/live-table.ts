/**
 * A table that is shown again whenever its rows change: a row that says the same
 * as before stays as it is, with the focus and whatever was done in it. A long
 * one is shown in parts, or the browser would be busy for a while.
 */
import { type Child, h, say } from './dom.ts';
import { count } from './format.ts';

const PART_ROWS = 50;

export interface LiveRow {
  /** Which row it is. */
  readonly id: string;
  /** What it says: another text makes the row anew. */
  readonly says: string;
  /** One for each column. */
  cells(): readonly Child[];
}

export interface LiveTableOptions {
  /** Names of columns of numbers. */
  readonly numbers?: readonly string[];
  /** Rows that are shown at first, and that each part has. */
  readonly rows?: number;
  /** Told how many rows are wanted; without it all of them are at hand. */
  onMore?(rows: number): void;
}

export class LiveTable {
  readonly element: HTMLElement;
  private readonly names: readonly string[];
  private readonly body = h('tbody', {});
  private readonly size = h('small', {});
  private readonly foot: HTMLElement;
  private readonly table: HTMLElement;
  private readonly empty: HTMLElement;
  private known = new Map<string, { readonly says: string; readonly element: HTMLElement }>();
  private rows: readonly LiveRow[] = [];
  private readonly numbers: readonly string[];
  private most: number;

  constructor(title: string, names: readonly string[], none: Child, { numbers = [], rows = PART_ROWS, onMore }: LiveTableOptions = {}) {
    this.names = names;
    this.numbers = numbers;
    this.most = rows;
    const more = h('button', { class: 'button', type: 'button' }, 'Show more');
    more.addEventListener('click', () => {
      this.most += PART_ROWS;
      if (onMore === undefined) this.show(this.rows);
      else onMore(this.most);
    });
    this.foot = h('div', { class: 'more' }, more);
    const head = names.map((name) => h('th', { scope: 'col', class: this.classOf(name) }, name));
    this.table = h('table', { class: 'rows' }, h('caption', {}, title, ' ', this.size), h('thead', {}, h('tr', {}, head)), this.body);
    this.empty = h('div', {}, h('h2', {}, title), h('p', { class: 'empty' }, none));
    this.element = h('section', { class: 'card' }, this.table, this.foot, this.empty);
  }

  /** `hasMore`: there are rows behind these, which are not at hand. */
  show(rows: readonly LiveRow[], hasMore = false): void {
    this.rows = rows;
    const shown = rows.slice(0, this.most);
    this.known = new Map(shown.map((row) => [row.id, this.kept(row) ?? { says: row.says, element: this.make(row) }]));
    const wanted = [...this.known.values()].map(({ element }) => element);
    for (const old of [...this.body.children]) if (!wanted.includes(old as HTMLElement)) old.remove();
    // Moving an element takes the focus from it, so only those move that stand elsewhere.
    wanted.forEach((element, i) => {
      if (this.body.children[i] !== element) this.body.insertBefore(element, this.body.children[i] ?? null);
    });
    say(this.size, hasMore ? `first ${count(rows.length)}` : count(rows.length));
    this.table.hidden = rows.length === 0;
    this.empty.hidden = rows.length > 0;
    this.foot.hidden = rows.length <= this.most && !hasMore;
  }

  private kept({ id, says }: LiveRow): { readonly says: string; readonly element: HTMLElement } | null {
    const known = this.known.get(id);
    return known?.says === says ? known : null;
  }

  private make({ id, cells }: LiveRow): HTMLElement {
    const row = cells().map((cell, i) => h('td', { 'data-label': this.names[i], class: this.classOf(this.names[i]) }, cell));
    return h('tr', { 'data-row': id }, row);
  }

  private classOf(name: string): string | null {
    return this.numbers.includes(name) ? 'number' : null;
  }
}
