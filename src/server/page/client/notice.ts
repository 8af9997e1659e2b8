/** Failures as a person reads them: what happened, and what to do next. */
import type { Problem } from './api.ts';
import { type Child, h } from './dom.ts';

/** In place of a part of a page. */
export function problemNotice(problem: Problem): HTMLElement {
  return notice(problem, h('h2', {}, problem.title), null);
}

/** In place of a whole page. */
export function problemPage(problem: Problem): HTMLElement {
  const home = h('p', { class: 'home' }, h('a', { href: '#/' }, 'To the overview'));
  return h('div', { class: 'explorer' }, notice(problem, h('h1', {}, problem.title), home));
}

function notice({ title, message, advice, code, status }: Problem, heading: HTMLElement, home: Child): HTMLElement {
  return h(
    'section',
    { class: 'notice bad', role: 'alert' },
    heading,
    message !== '' && message !== title && h('p', {}, withCode(message)),
    advice !== '' && h('p', { class: 'note' }, withCode(advice)),
    code !== '' && h('p', { class: 'note' }, `${code}, HTTP ${status}`),
    home,
  );
}

/** What stands between backticks is a command. */
function withCode(text: string): Child[] {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : h('code', {}, part)));
}
