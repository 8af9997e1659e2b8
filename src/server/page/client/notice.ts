/** Failures as a person reads them: what happened, and what to do next. */
import type { Problem } from './api.ts';
import { type Child, h } from './dom.ts';

export function problemNotice(problem: Problem, ...more: Child[]): HTMLElement {
  const { title, message, advice, code, status } = problem;
  return h(
    'section',
    { class: 'notice bad', role: 'alert' },
    h('h2', {}, title),
    message !== '' && message !== title && h('p', {}, message),
    advice !== '' && h('p', { class: 'note' }, advice),
    code !== '' && h('p', { class: 'note' }, `${code}, HTTP ${status}`),
    more,
  );
}
