/**
 * The reference, once scripts run: a search over its routes, the route that is
 * read marked in the list at the side, and forms that ask this server with
 * values that its store has.
 */
import { keptToken, takeToken } from './api.ts';
import { byId, h, replace, say } from './dom.ts';
import { bytes, counted, milliseconds } from './format.ts';
import { copyButton } from './parts.ts';
import { exampleValues } from './reference-examples.ts';

/** Of an answer that is shown; more of it would make the page slow. */
const SHOWN_CHARS_MAX = 20_000;
const TOLD_HEADERS = ['x-block-height', 'x-next-after'];

const words = byId('words') as HTMLInputElement;
let values: Promise<ReadonlyMap<string, string>> | null = null;

function search(): void {
  const wanted = words.value
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  let found = 0;
  for (const element of document.querySelectorAll<HTMLElement>('[data-words]')) {
    const isHit = wanted.every((word) => element.dataset['words']?.includes(word));
    element.hidden = !isHit;
    if (isHit && element.matches('article.route')) found++;
  }
  for (const group of document.querySelectorAll<HTMLElement>('.groups > li, main > section:not(.lead)')) {
    const items = [...group.querySelectorAll<HTMLElement>('[data-words]')];
    group.hidden = items.length === 0 ? wanted.length > 0 : items.every((item) => item.hidden);
  }
  say(byId('found'), wanted.length === 0 ? '' : counted(found, 'route'));
}

/** The first route on the screen is the one that is read. */
function watchReading(): void {
  const seen = new Set<Element>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
      const target = document.querySelector('article:target');
      const first =
        target !== null && seen.has(target) ? target : [...document.querySelectorAll('article')].find((article) => seen.has(article));
      for (const link of document.querySelectorAll('#side a')) {
        if (first !== undefined && link.getAttribute('href') === `#${first.id}`) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      }
    },
    { rootMargin: '-70px 0px -45% 0px' },
  );
  for (const article of document.querySelectorAll('article')) observer.observe(article);
}

function fieldsOf(form: HTMLFormElement): NodeListOf<HTMLInputElement | HTMLTextAreaElement> {
  return form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea');
}

/** Fills in what is empty, once for all forms, when the first is about to be used. */
async function fill(form: HTMLFormElement): Promise<void> {
  values ??= exampleValues();
  const known = await values;
  const path = form.dataset['path'] ?? '';
  for (const input of fieldsOf(form)) {
    const value = known.get(`${path} ${input.name}`) ?? (input.required ? known.get(input.name) : undefined);
    if (input.value === '' && value !== undefined && input.dataset['filled'] === undefined) input.value = value;
    input.dataset['filled'] = '';
  }
}

function urlOf(form: HTMLFormElement): URL {
  let path = form.dataset['path'] ?? '';
  const query = new URLSearchParams();
  for (const { name, value, dataset } of fieldsOf(form)) {
    if (dataset['in'] === 'body') continue;
    if (dataset['in'] === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '') query.set(name, value);
  }
  const url = new URL(path, location.origin);
  url.search = query.toString();
  return url;
}

async function run(form: HTMLFormElement): Promise<void> {
  const result = form.querySelector('.result');
  if (result === null) return;
  await fill(form);
  if (!form.reportValidity()) return;
  const url = urlOf(form);
  const token = keptToken(url.pathname.startsWith('/api/v1/wallets') ? 'wallets' : 'server');
  const started = performance.now();
  const body = form.querySelector('textarea')?.value;
  const given = body === undefined ? {} : { method: form.dataset['method'] ?? 'POST', body };
  const headers = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  try {
    const response = await fetch(url, { ...given, headers });
    const text = await response.text();
    const took = performance.now() - started;
    const command = commandOf(url, token !== null, body);
    const told = TOLD_HEADERS.flatMap((name) =>
      response.headers.has(name) ? [h('span', {}, `${name}: ${response.headers.get(name)}`)] : [],
    );
    replace(
      result,
      h('div', { class: 'asked' }, h('code', {}, command), copyButton(command, 'command')),
      h(
        'div',
        { class: 'told' },
        h('span', { class: 'tag', 'data-tone': response.ok ? 'ok' : 'bad' }, `${response.status}`),
        h('span', {}, milliseconds(took)),
        h('span', {}, bytes(text.length)),
        told,
      ),
      h('pre', { tabindex: 0, 'aria-label': 'The answer' }, pretty(text, response.headers.get('content-type') ?? '')),
    );
  } catch (error) {
    replace(result, h('p', { class: 'refused', role: 'alert' }, `No answer: ${(error as Error).message}`));
  }
}

/** For a terminal; a quote inside of quotes is closed, written, and opened again. */
function commandOf(url: URL, hasToken: boolean, body: string | undefined): string {
  const token = hasToken ? '-H "authorization: Bearer $TOKEN" ' : '';
  const sent = body === undefined ? '' : `-H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}' `;
  return `curl ${token}${sent}'${url.href}'`;
}

function pretty(text: string, type: string): string {
  // A document, not lines of documents (`application/jsonl`).
  const shown = /json\b/.test(type) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return shown.length <= SHOWN_CHARS_MAX
    ? shown
    : `${shown.slice(0, SHOWN_CHARS_MAX)}\n… ${counted(shown.length - SHOWN_CHARS_MAX, 'character')} more`;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

takeToken();
byId('find').hidden = false;
byId('find').addEventListener('submit', (event) => event.preventDefault());
words.addEventListener('input', search);
addEventListener('keydown', (event) => {
  if (event.key !== '/' || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  words.focus();
});
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) {
  form.hidden = false;
  // Values are filled in first; then it is looked whether all are there.
  form.noValidate = true;
  form.addEventListener('focusin', () => void fill(form).catch(() => undefined));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run(form);
  });
}
watchReading();
