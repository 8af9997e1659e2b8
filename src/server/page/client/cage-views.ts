/**
 * Cages: the tokens there are, and one token with its facts and the requests
 * that wait for it. A button verifies a fact here in the browser: from the value
 * over the token's trie to the root of the unspent set.
 */
import { getMpfs, problem } from './api.ts';
import { type CageReader, loadCageReader, type ShownState, type ShownToken } from './cage-loader.ts';
import { type Child, h, replace } from './dom.ts';
import { coins, count, duration, shortHash } from './format.ts';
import { chain, copyButton, fact, linkTo, outputLink } from './parts.ts';
import { frame, subject, type View, wide } from './subject.ts';

const POLICY_CHARS = 56;
const PART_ROWS = 50;

interface Snapshot {
  readonly utxo_root: string | null;
  readonly chainpoint: { readonly slot: number; readonly block_id: string } | null;
}

interface TokensAnswer {
  readonly snapshot: Snapshot;
  readonly tokens: { readonly entries: readonly { readonly txout_cbor: string }[] };
}

interface CageOutput {
  readonly utxo: { readonly tx_in: { readonly tx_id: string; readonly tx_ix: number }; readonly tx_out: string };
}

interface FactsAnswer {
  readonly state: CageOutput;
  readonly facts: readonly Fact[];
}

interface Fact {
  readonly key: string;
  readonly value: string;
}

interface Request extends CageOutput {
  readonly request: {
    readonly key: string;
    readonly operation: { readonly type: string; readonly old_value?: string; readonly new_value?: string };
    /** Null: of v0, which has no phases. */
    readonly phase: string | null;
  };
}

/** What may be done with a request, in words and as a colour. */
const PHASES: Readonly<Record<string, readonly [words: string, tone: string]>> = {
  process: ['can be applied', 'ok'],
  retract: ['can be retracted', 'info'],
  reject: ['can be rejected', 'warn'],
  dishonest: ['from the future', 'bad'],
};

export async function showCages(): Promise<View> {
  const [reader, answer] = await Promise.all([loadCageReader(), getMpfs<TokensAnswer>('/tokens')]);
  const read = reader.readTokens(answer);
  const tokens = read.ok ? read.tokens : [];
  const rows = tokens.map((token) => [
    linkTo('cage', token.policy + token.name, shortHash(token.name)),
    h('span', { class: 'mono' }, shortHash(token.owner)),
    h('span', { class: 'mono' }, shortHash(token.root)),
    outputLink({ tx_hash: token.txHash, output_index: token.index }),
  ]);
  const verdict = read.ok
    ? verdictLine(
        'ok',
        'complete',
        `Verified here: at block ${blockOf(answer.snapshot)} there are no others at the address of their script.`,
      )
    : verdictLine('bad', 'not verified', read.why);
  const table = tableOf('Tokens', ['Token', 'Owner', 'Root', 'State'], rows, 'There are none.');
  return { title: 'Cages', element: frame(h('section', { class: 'card subject' }, h('h1', {}, 'Cages'), verdict), table) };
}

/** `value` is policy and name joined. */
export async function showCage(value: string): Promise<View> {
  const token = { policy: value.slice(0, POLICY_CHARS), name: value.slice(POLICY_CHARS) };
  const path = `/tokens/${encodeURIComponent(value)}`;
  const [reader, { state, facts }, requests] = await Promise.all([
    loadCageReader(),
    getMpfs<FactsAnswer>(`${path}/facts`),
    getMpfs<{ readonly requests: readonly Request[] }>(`${path}/requests`),
  ]);
  const shown = reader.readState(state.utxo.tx_out);
  const about = subject(
    'Token of a cage',
    token.name,
    shown === null ? [] : stateFacts(shown, state, facts.length),
    wide('Policy', linkTo('policy', token.policy, token.policy)),
  );
  const factRows = facts.map((each) => [bytesText(each.key), bytesText(each.value), verifyCell(reader, path, token, each)]);
  const requestRows = requests.requests.map(requestCells);
  return {
    title: `Token ${shortHash(token.name)}`,
    element: frame(
      about,
      tableOf('Requests', ['Output', 'Asks to', 'Key', 'Value', 'Phase'], requestRows, 'None waits.'),
      tableOf('Facts', ['Key', 'Value', 'Proof'], factRows, 'Its trie is empty.'),
    ),
  };
}

function stateFacts({ owner, root, terms }: ShownState, { utxo }: CageOutput, facts: number): Child[] {
  return [
    fact('Facts', h('span', { class: 'big' }, count(facts))),
    fact('State', outputLink({ tx_hash: utxo.tx_in.tx_id, output_index: utxo.tx_in.tx_ix })),
    terms !== null && fact('Tip', `${coins(terms.tip, chain.unit)} ${chain.coin}`),
    terms !== null &&
      fact(
        'Requests can be applied for',
        duration(terms.processTime / 1000),
        h('small', {}, ', then retracted for '),
        duration(terms.retractTime / 1000),
      ),
    wide('Owner', h('span', { class: 'mono' }, owner), copyButton(owner, 'owner')),
    wide('Root', h('span', { class: 'mono' }, root), copyButton(root, 'root')),
  ];
}

function requestCells({ utxo, request }: Request): Child[] {
  const { type, old_value: before, new_value: after } = request.operation;
  const [words, tone] = request.phase === null ? ['no phases', 'idle'] : (PHASES[request.phase] ?? [request.phase, 'idle']);
  return [
    outputLink({ tx_hash: utxo.tx_in.tx_id, output_index: utxo.tx_in.tx_ix }),
    type,
    bytesText(request.key),
    h(
      'span',
      {},
      before !== undefined && bytesText(before),
      before !== undefined && after !== undefined && ' → ',
      after !== undefined && bytesText(after),
    ),
    h('span', { class: 'tag', 'data-tone': tone }, words),
  ];
}

/** A button, and in its place what it found. */
function verifyCell(reader: CageReader, path: string, token: Pick<ShownToken, 'policy' | 'name'>, { key }: Fact): HTMLElement {
  const cell = h('div', {});
  const button = h('button', { class: 'button', type: 'button' }, 'Verify');
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const answer = await getMpfs<{ readonly snapshot: Snapshot }>(`${path}/facts/${key}`);
      const read = reader.readFact(answer, token, key);
      const root = answer.snapshot.utxo_root ?? '';
      const words = [
        'Its value is ',
        read.ok && bytesText(read.value),
        ', by the root of the unspent set ',
        h('span', { class: 'mono', title: root }, shortHash(root)),
        ` at block ${blockOf(answer.snapshot)}.`,
      ];
      replace(cell, read.ok ? verdictLine('ok', 'verified', words) : verdictLine('bad', 'refused', read.why));
    } catch (error) {
      const { title, message } = problem(error);
      replace(cell, verdictLine('bad', title, message));
    }
  });
  cell.append(button);
  return cell;
}

function verdictLine(tone: string, word: string, detail: Child): HTMLElement {
  return h('p', { class: 'note', role: 'status' }, h('span', { class: 'tag', 'data-tone': tone }, word), ' ', detail);
}

function blockOf({ chainpoint }: Snapshot): string {
  return chainpoint === null ? 'none' : shortHash(chainpoint.block_id);
}

/** Text where the bytes are text, with the hex on hover; else hex. */
function bytesText(hex: string): HTMLElement {
  if (hex === '') return h('span', { class: 'note' }, 'empty');
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const text = new TextDecoder().decode(bytes);
  const isText = /^[\p{L}\p{N}\p{P}\p{S}\p{M} ]+$/u.test(text) && !text.includes('\uFFFD');
  return isText ? h('span', { title: hex }, text) : h('span', { class: 'mono', title: hex }, shortHash(hex));
}

function tableOf(title: string, names: readonly string[], rows: readonly (readonly Child[])[], none: string): HTMLElement {
  if (rows.length === 0) return h('section', { class: 'card' }, h('h2', {}, title), h('p', { class: 'empty' }, none));
  const body = h('tbody', {});
  const more = h('button', { class: 'button', type: 'button' }, 'Show more');
  const foot = h('div', { class: 'more' }, more);
  const show = (): void => {
    const from = body.childElementCount;
    for (const cells of rows.slice(from, from + PART_ROWS))
      body.append(
        h(
          'tr',
          {},
          cells.map((cell, i) => h('td', { 'data-label': names[i] }, cell)),
        ),
      );
    foot.hidden = body.childElementCount >= rows.length;
  };
  more.addEventListener('click', show);
  show();
  const head = h(
    'tr',
    {},
    names.map((name) => h('th', { scope: 'col' }, name)),
  );
  const caption = h('caption', {}, title, ' ', h('small', {}, count(rows.length)));
  return h('section', { class: 'card' }, h('table', { class: 'rows' }, caption, h('thead', {}, head), body), foot);
}
