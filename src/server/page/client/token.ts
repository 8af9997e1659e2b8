/** Asks for the token of a server that has one. It is kept for this tab only, and sent only to this server. */
import { keepToken } from './api.ts';
import { h } from './dom.ts';

export function askToken(onGiven: () => void): HTMLElement {
  const field = h('input', { type: 'password', id: 'token', autocomplete: 'current-password', required: true });
  const form = h('form', {}, h('label', { class: 'unseen', for: 'token' }, 'Token'), field, h('button', { class: 'button' }, 'Open'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    keepToken(field.value.trim());
    onGiven();
  });
  return h(
    'section',
    { class: 'notice' },
    h('h1', {}, 'This server asks for its token'),
    h('p', {}, 'It is the setting server.token. The page keeps it for this tab, and sends it to this server only.'),
    form,
  );
}
