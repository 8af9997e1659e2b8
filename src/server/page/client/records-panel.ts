/**
 * The records of transactions on the overview: how long they stay, whether
 * deleting them keeps up, and what is due and may not go, because of which
 * spender and why. Seen only where records are kept.
 */
import { h } from './dom.ts';
import { bytes, count, counted, shortHash } from './format.ts';
import { Panel, pairs } from './panels.ts';
import type { Status } from './shapes.ts';

const STATES = { ok: 'keeps up', at_risk: 'takes nearly as long as blocks do', behind: 'is behind' } as const;

/** Why a record stays, in words. */
const REASONS: Readonly<Record<string, string>> = {
  child_unmined: 'its spender is in no block',
  child_recent: 'its spender is not deep enough',
  child_missing: 'its spender is missing',
  child_conflicting: 'its spender has lost',
  read_error: 'its spender could not be read',
  changed: 'it changed meanwhile',
  unspent_slot: 'an output is unspent',
  referenced: 'somebody who waits needs it',
  preserved: 'it is preserved',
};

export class RecordsPanel extends Panel {
  constructor() {
    super('Records of transactions', 'records');
    this.element.classList.add('whole');
    this.element.hidden = true;
  }

  show({ txs }: Status): void {
    this.element.hidden = txs === null;
    if (txs === null) return;
    const { records, retention, window, state, due, completed, lag_blocks, blocked } = txs;
    this.fill(
      pairs([
        ['Kept', [count(records), h('span', { class: 'note' }, ` ${bytes(txs.bytes)}`)]],
        ['Retention', retention === 0 ? 'for ever' : `${counted(retention, 'block')}, spenders ${counted(window, 'block')} deep`],
        ['Pruning', `${STATES[state]}${completed === 0 ? '' : `, complete up to height ${count(completed)}`}`],
        ['Backlog', `${counted(due, 'record')} due, ${counted(lag_blocks, 'height')} to look at`],
        ...placeRows(txs),
        ...waitingRows(txs),
      ]),
      blocked.length > 0 &&
        h(
          'table',
          { class: 'rows' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              ['Blocked', 'Due at', 'Why', 'Spender'].map((name) => h('th', { scope: 'col' }, name)),
            ),
          ),
          h('tbody', {}, blocked.map(blockedRow)),
        ),
    );
  }
}

type Records = NonNullable<Status['txs']>;

/** Of a database beside the store: where it is, or that it does not answer. */
function placeRows({ place, height, feed_failure }: Records): [string, string][] {
  if (place === 'embedded') return [];
  const name = place === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  return [['Database', `${name}, ${feed_failure === null ? `at height ${count(height)}` : 'which does not answer'}`]];
}

/** Consumers of the blocks that are so far behind that records stay for them. */
function waitingRows({ consumers, height }: Records): [string, string][] {
  const slow = consumers.filter(({ allows }) => allows !== null && allows < height);
  return slow.map((consumer) => ['Waits for', `${consumer.name}, at height ${count(consumer.height)}`]);
}

function blockedRow({ tx_id, since, reason, child }: Records['blocked'][number]): HTMLElement {
  const id = (text: string): HTMLElement => h('span', { class: 'mono', title: text }, shortHash(text));
  return h(
    'tr',
    {},
    h('td', {}, id(tx_id)),
    h('td', {}, count(since)),
    h('td', {}, REASONS[reason] ?? reason),
    h('td', {}, child === null ? '–' : id(child)),
  );
}
