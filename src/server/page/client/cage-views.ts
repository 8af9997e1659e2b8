/**
 * Cages: the tokens there are, and one token with its facts and the requests
 * that wait for it. A button verifies a fact here in the browser: from the value
 * over the token's trie to the root of the unspent set. What is shown follows the
 * chain, block by block.
 */
import { getMpfs, problem } from './api.ts';
import { type CageReader, loadCageReader, type ShownState, type ShownToken } from './cage-loader.ts';
import { type Child, h, replace, update } from './dom.ts';
import { coins, count, duration, printable, shortHash } from './format.ts';
import { type LiveRow, LiveTable } from './live-table.ts';
import { chain, copyButton, fact, linkTo, outputLink, symbol } from './parts.ts';
import { frame, subject, type View, wide } from './subject.ts';

const POLICY_CHARS = 56;

type TokenName = Pick<ShownToken, 'policy' | 'name'>;

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
  const reader = await loadCageReader();
  const verdict = h('div', {});
  const table = new LiveTable('Tokens', ['Token', 'Owner', 'Root', 'State'], 'There are none.');
  const refresh = async (): Promise<void> => {
    const answer = await getMpfs<TokensAnswer>('/tokens');
    const read = reader.readTokens(answer);
    const where = `at block ${blockOf(answer.snapshot)} there are no others at the address of their script`;
    update(verdict, read.ok ? verdictLine('ok', 'complete', `Verified here: ${where}.`) : verdictLine('bad', 'not verified', read.why));
    table.show(read.ok ? read.tokens.map(tokenRow) : []);
  };
  await refresh();
  const element = frame(h('section', { class: 'card subject' }, h('h1', {}, 'Cages'), verdict), table.element);
  return { title: 'Cages', element, refresh };
}

function tokenRow({ policy, name, owner, root, txHash, index }: ShownToken): LiveRow {
  return {
    id: policy + name,
    says: `${txHash}#${index}`,
    cells: () => [
      linkTo('cage', policy + name, shortHash(name)),
      h('span', { class: 'mono', title: owner }, shortHash(owner)),
      h('span', { class: 'mono', title: root }, shortHash(root)),
      outputLink({ tx_hash: txHash, output_index: index }),
    ],
  };
}

/** `value` is policy and name joined. */
export async function showCage(value: string): Promise<View> {
  const token = { policy: value.slice(0, POLICY_CHARS), name: value.slice(POLICY_CHARS) };
  const path = `/tokens/${encodeURIComponent(value)}`;
  const reader = await loadCageReader();
  const about = h('div', {});
  const requests = new LiveTable('Requests', ['Output', 'Asks to', 'Key', 'Value', 'Phase'], 'None waits.');
  const facts = new LiveTable('Facts', ['Key', 'Value', 'Proof'], 'Its trie is empty.');
  const refresh = async (): Promise<void> => {
    const [known, waiting] = await Promise.all([
      getMpfs<FactsAnswer>(`${path}/facts`),
      getMpfs<{ readonly requests: readonly Request[] }>(`${path}/requests`),
    ]);
    const state = reader.readState(known.state.utxo.tx_out);
    const policy = wide('Policy', linkTo('policy', token.policy, token.policy));
    update(about, subject('Token of a cage', token.name, state !== null && stateFacts(state, known.state, known.facts.length), policy));
    requests.show(waiting.requests.map(requestRow));
    facts.show(known.facts.map((each) => factRow(reader, path, token, each)));
  };
  await refresh();
  return { title: `Token ${shortHash(token.name)}`, element: frame(about, requests.element, facts.element), refresh };
}

function factRow(reader: CageReader, path: string, token: TokenName, { key, value }: Fact): LiveRow {
  return { id: key, says: value, cells: () => [bytesText(key), bytesText(value), verifyCell(reader, path, token, key)] };
}

function stateFacts({ owner, root, terms }: ShownState, { utxo }: CageOutput, facts: number): Child[] {
  return [
    fact('Facts', h('span', { class: 'big' }, count(facts))),
    fact('State', outputLink({ tx_hash: utxo.tx_in.tx_id, output_index: utxo.tx_in.tx_ix })),
    terms !== null && fact('Tip', `${coins(terms.tip, chain.unit)} ${symbol()}`),
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

function requestRow({ utxo, request }: Request): LiveRow {
  const { tx_id: tx_hash, tx_ix: output_index } = utxo.tx_in;
  const { type, old_value: before, new_value: after } = request.operation;
  const [words, tone] = request.phase === null ? ['no phases', 'idle'] : (PHASES[request.phase] ?? [request.phase, 'idle']);
  const values = [before, after].filter((value) => value !== undefined).map(bytesText);
  return {
    id: `${tx_hash}#${output_index}`,
    says: words,
    cells: () => [
      outputLink({ tx_hash, output_index }),
      type,
      bytesText(request.key),
      h('span', {}, values[0], values.length > 1 && [' → ', values[1]]),
      h('span', { class: 'tag', 'data-tone': tone }, words),
    ],
  };
}

/** A button, and in its place what it found. */
function verifyCell(reader: CageReader, path: string, token: TokenName, key: string): HTMLElement {
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
  const text = printable(hex);
  return text === null ? h('span', { class: 'mono', title: hex }, shortHash(hex)) : h('span', { title: hex }, text);
}
