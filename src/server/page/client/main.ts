/**
 * The page: one view at a time, chosen by what stands behind the #. The
 * overview stays alive while others are shown, so that coming back finds it as
 * it is now, not as it was.
 */
import { type Problem, problem, type TokenOf, takeToken, travel } from './api.ts';
import { byId, h, replace, say } from './dom.ts';
import { ago } from './format.ts';
import { problemPage } from './notice.ts';
import { Overview } from './overview.ts';
import { chain, hrefOf } from './parts.ts';
import type { Status } from './shapes.ts';
import type { View } from './subject.ts';
import { toggle } from './theme.ts';
import { askToken } from './token.ts';
import { TIMED_VIEWS, TravelBar } from './travel-bar.ts';
import { Watch } from './watch.ts';

/** A view that comes sooner than this needs no word about its coming. */
const PATIENCE_MS = 250;
const CLOCK_MS = 1000;
const SEARCHED = 'Address, tx#index, transaction, block';

const main = byId('main');
const query = byId('query') as HTMLInputElement;
const overview = new Overview();
const watch = new Watch(overview, {
  onLine: showLine,
  onStatus: showNames,
  onTip: (point) => {
    if (point !== null) bar.tipAt(point.height);
    void refresh();
  },
  onTokenNeeded: () => askForToken('server'),
});
const bar = new TravelBar((height) => void moveTo(height));
let turn = 0;
/** What is shown, if it follows the chain. */
let current: View | null = null;
/** How often another block became the newest. */
let tips = 0;
let isRefreshing = false;

async function navigate(): Promise<void> {
  const path = location.hash.replace(/^#/, '');
  // The target of the skip link is no view.
  if (path !== '' && !path.startsWith('/')) return;
  const mine = ++turn;
  leave();
  const [place, at] = path.split('?at=');
  travel.height = at !== undefined && /^\d{1,15}$/.test(at) ? Number(at) : null;
  const [named, ...rest] = place
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  const kind = named ?? 'overview';
  if (kind === 'overview' && travel.height === null) {
    bar.show(true, true);
    show(overviewTitle(), overview.element);
    watch.refresh();
    return;
  }
  const waiting = setTimeout(() => mine === turn && replace(main, h('p', { class: 'loading', role: 'status' }, 'Looking …')), PATIENCE_MS);
  try {
    // Of the page that was asked for first, nothing is known yet: what says that it is coming must not be moved when the bar comes.
    if (mine === 1) bar.show(TIMED_VIEWS.has(kind), true);
    await watch.chainKnown;
    const { explore } = await import('./explorer.ts');
    bar.show(TIMED_VIEWS.has(kind));
    const view = await explore(kind, rest.join('/'));
    if (mine !== turn) {
      view.close?.();
      return;
    }
    show(`${view.title} – Unspent`, view.element);
    current = view;
  } catch (error) {
    if (mine === turn) showFailure(problem(error));
  } finally {
    clearTimeout(waiting);
  }
}

/** The same page as of another block: it takes the place of the one before, and the focus stays where it is. */
async function moveTo(height: number | null): Promise<void> {
  const [shown] = location.hash.split('?at=');
  const place = shown === '' ? '#/' : shown;
  history.replaceState(null, '', height === null ? place : `${place}?at=${height}`);
  const top = scrollY;
  await navigate();
  scrollTo(0, top);
}

/** One at a time, and once more where a block has come meanwhile. */
async function refresh(): Promise<void> {
  tips++;
  if (isRefreshing) return;
  const mine = turn;
  isRefreshing = true;
  try {
    for (let shown = 0; shown !== tips && current?.refresh !== undefined && current.element.isConnected; ) {
      shown = tips;
      await current.refresh();
    }
  } catch (error) {
    // What was shown is gone, as a token is that was burned; a lost connection is told elsewhere.
    const why = problem(error);
    if (mine === turn && why.status !== 0) showFailure(why);
  } finally {
    isRefreshing = false;
  }
}

/** What was shown waits for nothing any more. */
function leave(): void {
  current?.close?.();
  current = null;
}

function showFailure(why: Problem): void {
  leave();
  if (why.status === 401) askForToken(why.tokenOf);
  else show(`${why.status === 404 ? 'Not found' : why.title.replace(/\.$/, '')} – Unspent`, problemPage(why));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show(title: string, element: HTMLElement): void {
  document.title = title;
  replace(main, element);
  window.scrollTo(0, 0);
  // The link that led here may be gone: whoever reads by keyboard or ear goes on at the top of what came.
  if (turn > 1 && document.activeElement === document.body) main.focus({ preventScroll: true });
}

function askForToken(of: TokenOf): void {
  // Several requests may be refused at once; what was typed meanwhile stays.
  if (document.getElementById('token') !== null) return;
  turn++;
  leave();
  const form = askToken(of, () => {
    replace(main);
    watch.restart();
    void navigate();
  });
  show('Token – Unspent', form);
}

function showLine(state: 'live' | 'lost' | 'connecting', text: string): void {
  const line = byId('line');
  line.dataset['state'] = state;
  say(line.lastElementChild!, text);
}

/** The verdict, so that a tab among many tells it too. */
function overviewTitle(): string {
  return overview.verdictTitle === '' ? 'Unspent' : `${overview.verdictTitle} – Unspent`;
}

function showNames(status: Status): void {
  const { network, version, shapes, following } = status;
  bar.learn(status);
  byId('mempool').hidden = !chain.hasEsplora || following.state === 'idle';
  byId('wallets').hidden = !shapes.includes('wallets');
  if (overview.element.isConnected) document.title = overviewTitle();
  const chip = byId('network');
  chip.hidden = false;
  say(chip, network);
  say(byId('version'), `Unspent ${version}`);
  query.placeholder = chain.hasAssets ? `${SEARCHED}, asset, policy` : SEARCHED;
}

function listen(): void {
  addEventListener('hashchange', () => void navigate());
  byId('search').addEventListener('submit', (event) => {
    event.preventDefault();
    const text = query.value.trim();
    if (text === '') return;
    location.hash = hrefOf('search', text);
    query.blur();
  });
  addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      query.focus();
      query.select();
    } else if (event.key === 'Escape' && event.target === query) query.blur();
  });
  byId('theme').addEventListener('click', () => {
    toggle();
    overview.redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => overview.redraw());
  document.addEventListener('visibilitychange', () => (document.hidden ? watch.pause() : watch.restart()));
}

/** Keeps every "ago" on the page true. */
function tick(): void {
  const now = Date.now() / 1000;
  for (const element of document.querySelectorAll<HTMLElement>('time[data-ago]')) say(element, ago(Number(element.dataset['ago']), now));
}

takeToken();
listen();
main.before(bar.element);
setInterval(tick, CLOCK_MS);
void navigate();
watch.restart();
