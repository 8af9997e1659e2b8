/** Asks for the token of a server that has one, or for that of its wallets. It is kept for this tab only, and sent only to this server. */
import { keepToken, keptToken, type TokenOf } from './api.ts';
import { type Child, h } from './dom.ts';

const WORDS: Readonly<Record<TokenOf, { readonly title: string; readonly where: readonly Child[] }>> = {
  server: { title: 'This server asks for its token', where: ['It is the setting server.token.'] },
  wallets: {
    title: 'Wallets are shown only with their token',
    where: [
      'It is the setting wallet.token, or the line in the file ',
      'wallets.token in the directory of the store. A chain of your own (unspent start --network bitcoin-regtest) prints a link that brings it along.',
    ],
  },
};

export function askToken(of: TokenOf, onGiven: () => void): HTMLElement {
  const { title, where } = WORDS[of];
  const field = h('input', { type: 'password', id: 'token', autocomplete: 'current-password', required: true });
  const form = h('form', {}, h('label', { class: 'unseen', for: 'token' }, 'Token'), field, h('button', { class: 'button' }, 'Open'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    keepToken(of, field.value.trim());
    onGiven();
  });
  return h(
    'section',
    { class: 'notice' },
    h('h1', {}, title),
    keptToken(of) !== null && h('p', { class: 'refused', role: 'alert' }, 'The one that was given is refused.'),
    h('p', {}, where, ' The page keeps it for this tab, and sends it to this server only.'),
    form,
  );
}
