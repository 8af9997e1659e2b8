/** The head of every page of the explorer: what it is about, and the facts known of that. */
import { type Child, h } from './dom.ts';
import { copyButton, fact } from './parts.ts';

export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  /** Shows what is so now; absent: what is shown stays as it was. Throws `Problem`. */
  refresh?(): Promise<void>;
  /** Another view is shown: whatever this one waits for is not wanted any more. */
  close?(): void;
}

export function frame(...children: Child[]): HTMLElement {
  const back = h('nav', { class: 'trail', 'aria-label': 'Back' }, h('a', { href: '#/' }, '← Overview'));
  return h('div', { class: 'explorer' }, back, children);
}

export function subject(what: string, name: string, ...facts: Child[]): HTMLElement {
  const heading = h('h1', { class: 'mono' }, name, copyButton(name, what.toLowerCase()));
  const list = h('dl', { class: 'facts' }, facts);
  return h('section', { class: 'card subject' }, h('p', { class: 'what' }, what), heading, list.hasChildNodes() && list);
}

/** A fact that takes the whole width. */
export function wide(name: string, ...value: Child[]): HTMLElement {
  const element = fact(name, ...value);
  element.classList.add('wide');
  return element;
}
