/**
 * The panels below the charts: what happened, what is kept, how much room it
 * takes, and whom it listens to. Each fills itself from the status.
 */
import { type Child, h, update } from './dom.ts';
import { bytes, count, counted, percent } from './format.ts';
import { blockLink, copyButton, timeAgo } from './parts.ts';
import type { Column, Point, Rollback, Roots, Status } from './shapes.ts';

const ROLLBACKS_SHOWN = 7;
/** In place of a height: nothing was pruned. */
const NONE = -1;
/** The projection that has pages of its own. */
const CAGE = 'cage';

export class Panel {
  readonly element: HTMLElement;
  protected readonly body = h('div', {});

  constructor(title: string, id: string) {
    this.element = h('section', { class: 'card', id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), this.body);
  }

  protected fill(...children: Child[]): void {
    update(this.body, ...children);
  }
}

export class RollbackPanel extends Panel {
  constructor() {
    super('Last rollbacks', 'rollbacks');
  }

  show(rollbacks: readonly Rollback[]): void {
    const newest = [...rollbacks].reverse().slice(0, ROLLBACKS_SHOWN);
    const none = h('p', { class: 'empty' }, 'None since the process started.');
    const more = h('p', { class: 'empty' }, h('a', { href: '#/rollbacks' }, 'What they took away'));
    this.fill(newest.length === 0 ? none : [h('ol', { class: 'events' }, newest.map(rollbackRow)), more]);
  }
}

function rollbackRow({ undone, to, time }: Rollback): HTMLElement {
  const target = to === null ? 'to the origin' : ['to ', blockLink(to.height, to.hash)];
  return h('li', {}, h('span', { class: 'depth' }, counted(undone, 'block')), h('span', { class: 'target' }, target), timeAgo(time / 1000));
}

/** How far back the store can go, and from where on it knows who spent what. */
export class WindowPanel extends Panel {
  constructor() {
    super('How far back', 'window');
  }

  show({ tip, horizon, pruned }: Status): void {
    const top = tip?.height ?? 0;
    const undoFrom = horizon?.height ?? 0;
    const spentFrom = pruned.spent_outputs + 1;
    this.fill(
      h('div', { class: 'window' }, rail(pruned.deltas + 1, undoFrom, top)),
      pairs([
        ['Can undo', horizon === null ? `all ${counted(top + 1, 'block')}, to the origin` : counted(top - undoFrom, 'block')],
        ['Horizon', horizon === null ? 'the origin' : place(horizon)],
        ['Spent outputs kept', pruned.spent_outputs === NONE ? 'all of them' : ['from block ', count(spentFrom)]],
        ['Undo records kept', pruned.deltas === NONE ? 'all of them' : ['from block ', count(pruned.deltas + 1)]],
      ]),
    );
  }
}

/** The newest part of the chain: pale where undo records are kept, full where all it takes to undo is. */
function rail(deltasFrom: number, undoFrom: number, top: number): HTMLElement {
  const [records, undo] = [h('span', { class: 'records' }), h('span', { class: 'undo' })];
  const first = Math.min(deltasFrom, undoFrom);
  const share = (from: number): string => `${top <= first ? 100 : (100 * (top - from)) / (1.08 * (top - first))}%`;
  records.style.width = share(deltasFrom);
  undo.style.width = share(undoFrom);
  return h('div', { class: 'rail', 'aria-hidden': 'true' }, records, undo);
}

function place({ height, slot, hash }: Point): Child {
  return [blockLink(height, hash), slot !== height && h('span', { class: 'note' }, ` slot ${count(slot)}`)];
}

export class SourcePanel extends Panel {
  constructor() {
    super('Source', 'source');
  }

  show({ following }: Status): void {
    const { state, source, peer, version, connections_lost, last_error } = following;
    this.fill(
      pairs([
        ['State', state],
        ['Source', source ?? 'none'],
        ...(peer === null || peer === source ? [] : [['Peer', peer] as const]),
        ['Protocol', version ?? '–'],
        ['Connections lost', count(connections_lost)],
        ...(last_error === null ? [] : [['Last trouble', last_error] as const]),
      ]),
    );
  }
}

export class ColumnPanel extends Panel {
  constructor() {
    super('Size of each column', 'columns');
    this.element.classList.add('broad');
  }

  show(columns: readonly Column[]): void {
    const sorted = [...columns].sort((a, b) => b.bytes - a.bytes);
    const most = Math.max(1, ...sorted.map((column) => column.bytes));
    this.fill(
      h(
        'ul',
        { class: 'bars' },
        sorted.map((column) => barRow(column.name, bytes(column.bytes), column.bytes / most)),
      ),
    );
  }
}

/** What the store keeps, and how far those that came later are. */
export class ProjectionPanel extends Panel {
  constructor() {
    super('Kept', 'kept');
  }

  show({ projections, following }: Status): void {
    const filling = new Map(following.fills.map(({ projection, done }) => [projection, done]));
    const ready = projections.filter((name) => !filling.has(name));
    const bars = [...filling].map(([name, done]) => barRow(name, percent(done), done, 'info'));
    this.fill(
      bars.length > 0 && h('ul', { class: 'bars' }, bars),
      h(
        'div',
        { class: 'tags' },
        ready.map((name) =>
          name === CAGE ? h('a', { class: 'tag', href: '#/cages/tokens' }, 'cages') : h('span', { class: 'tag' }, name),
        ),
      ),
    );
  }
}

const ROOT_NAMES = [
  ['mmr', 'MMR'],
  ['csmt', 'CSMT'],
  ['setHash', 'Set hash'],
] as const;

/** What proofs are held against, and stores are compared by. Seen only where something of the kind is kept. */
export class RootPanel extends Panel {
  constructor() {
    super('Roots', 'roots');
    this.element.classList.add('whole');
    this.element.hidden = true;
  }

  show(point: Point | null, roots: Roots | undefined): void {
    this.element.hidden = roots === undefined || point === null;
    if (roots === undefined || point === null) return;
    const kept = ROOT_NAMES.filter(([name]) => roots[name] !== undefined);
    this.fill(
      pairs([
        ...kept.map(([name, text]) => [text, rootText(roots[name] ?? null, text)] as const),
        ['At block', blockLink(point.height, point.hash)],
      ]),
    );
  }
}

function rootText(root: string | null, what: string): Child {
  return root === null ? 'none: nothing is unspent' : [h('span', { class: 'mono' }, root), ' ', copyButton(root, what)];
}

function barRow(name: string, value: string, share: number, tone: string | null = null): HTMLElement {
  const fill = h('span', { class: 'fill', 'data-tone': tone });
  fill.style.width = `${100 * share}%`;
  return h('li', {}, h('span', { class: 'mono' }, name), h('span', { class: 'value' }, value), h('div', { class: 'track' }, fill));
}

export function pairs(rows: readonly (readonly [string, Child])[]): HTMLElement {
  return h(
    'dl',
    { class: 'pairs' },
    rows.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
  );
}
