/**
 * Proofs, verified here with a button: the root is asked for by itself, the
 * proof as a document, and the library's own verifier holds one against the
 * other, step by step. A second button changes a byte of the claim, to show that
 * it is then refused.
 */
import { type Answer, get, problem } from './api.ts';
import { type Child, h, replace } from './dom.ts';
import { bytes, count, counted, shortHash } from './format.ts';
import { blockLink, chain, copyButton } from './parts.ts';
import type { Point, Roots } from './shapes.ts';

/** As `server/proof-reader.ts` has it, which runs here though it is no part of the page. */
interface ProofSteps {
  readonly ok: boolean;
  readonly why: string | null;
  readonly kind: string;
  readonly siblings: readonly string[];
  readonly path: readonly string[];
}

interface ProofReader {
  checkProof(answer: unknown, trusted: { readonly root: string | null; readonly network: string; readonly family: string }): ProofSteps;
}

type Document = Readonly<Record<string, unknown>> & { readonly claim: Readonly<Record<string, unknown>> };
type RootsAt = Roots & { readonly point: Point | null };
type RootName = 'csmt' | 'mmr';

export interface Provable {
  /** What the proof is asked for at, by the structure it is of. */
  readonly paths: Partial<Record<RootName, string>>;
  /** What it shows, as a sentence. */
  readonly shows: string;
  /** In place of a button, where none of the structures that are kept can show it. */
  readonly without?: string;
}

/** Between two requests a block may come; more than a few in a row do not. */
const TRIES = 5;
const MODULE = './server_proof-reader.js';
const NAMES: Readonly<Record<RootName, string>> = { csmt: 'the tree over the unspent set (CSMT)', mmr: 'the range over all outputs (MMR)' };
const SETTINGS = 'proofs.csmt = true, or utxo.store = "mmr"';

/** Null: a store that keeps no outputs has nothing to prove. */
export function proofCard({ paths, shows, without }: Provable): HTMLElement {
  const kept = (Object.keys(paths) as RootName[]).filter((name) => chain.projections.includes(name));
  const heading = h('h2', {}, 'Proof');
  if (kept.length === 0) {
    const isKept = chain.projections.includes('csmt') || chain.projections.includes('mmr');
    const note =
      (isKept ? without : undefined) ?? `This store keeps no Merkle structure to prove it with. A new one with ${SETTINGS} does.`;
    return h('section', { class: 'card', id: 'proof' }, heading, h('p', { class: 'empty' }, note));
  }
  const result = h('div', { class: 'proof-result', 'aria-live': 'polite' });
  const buttons = kept.map((name) =>
    h(
      'button',
      { class: 'button', type: 'button', click: () => void run(result, name, paths[name] ?? '', false) },
      `Verify by ${NAMES[name]}`,
    ),
  );
  const about = `${shows} This browser asks for the root and for the proof, and checks one against the other; the server is not believed.`;
  return h(
    'section',
    { class: 'card proof', id: 'proof' },
    heading,
    h('p', { class: 'note' }, about),
    h('div', { class: 'buttons' }, buttons),
    result,
  );
}

async function run(result: HTMLElement, name: RootName, path: string, isChanged: boolean): Promise<void> {
  replace(result, h('p', { class: 'note' }, 'Asking for root and proof …'));
  try {
    const [reader, { roots, proof }] = await Promise.all([import(MODULE) as Promise<ProofReader>, ofOneBlock(path)]);
    const root = roots.body[name] ?? null;
    const document = isChanged ? changed(proof.body) : proof.body;
    const steps = reader.checkProof(document, { root, network: chain.network, family: chain.family });
    const again = h('button', { class: 'button', type: 'button', click: () => void run(result, name, path, !isChanged) });
    again.textContent = isChanged ? 'Verify it as it is' : 'Change one byte, and verify again';
    replace(
      result,
      stepList(steps, root, roots.body.point, JSON.stringify(proof.body).length, isChanged),
      h('div', { class: 'buttons' }, again),
    );
  } catch (error) {
    const { title, message } = problem(error);
    replace(result, h('p', { class: 'refused', role: 'alert' }, message === '' ? title : message));
  }
}

/** Root and proof are asked for apart, and must be of the same block. */
async function ofOneBlock(path: string): Promise<{ readonly roots: Answer<RootsAt>; readonly proof: Answer<Document> }> {
  for (let tries = 1; ; tries++) {
    const [roots, proof] = await Promise.all([get<RootsAt>('/roots'), get<Document>(path)]);
    if (roots.hash === proof.hash || tries === TRIES) return { roots, proof };
  }
}

/** The same with another last byte in what is claimed. */
function changed(document: Document): Document {
  const { claim } = document;
  const flip = (hex: string): string => hex.slice(0, -2) + (Number.parseInt(hex.slice(-2), 16) ^ 1).toString(16).padStart(2, '0');
  if (typeof claim['output'] === 'string') return { ...document, claim: { ...claim, output: flip(claim['output']) } };
  const [first, ...rest] = claim['outputs'] as { readonly output: string }[];
  return { ...document, claim: { ...claim, outputs: first === undefined ? [] : [{ ...first, output: flip(first.output) }, ...rest] } };
}

function stepList(
  { ok, why, siblings, path }: ProofSteps,
  root: string | null,
  point: Point | null,
  size: number,
  isChanged: boolean,
): HTMLElement {
  const at: Child = point === null ? 'before the first block' : ['at block ', blockLink(point.height, point.hash)];
  return h(
    'ol',
    { class: 'proof-steps' },
    h(
      'li',
      {},
      h('b', {}, 'Root'),
      ' ',
      at,
      h('div', {}, hash(root ?? 'none: nothing is unspent'), root !== null && copyButton(root, 'root')),
    ),
    h(
      'li',
      {},
      h('b', {}, 'Proof'),
      ` ${bytes(size)}, ${counted(siblings.length, 'hash')} beside the way`.replace('hashs', 'hashes'),
      isChanged && h('span', { class: 'tag', 'data-tone': 'warn' }, 'one byte of the output changed'),
    ),
    h(
      'li',
      {},
      h('b', {}, 'Path'),
      ' ',
      path.length === 0 ? 'from the output to the root' : `${count(path.length)} hashes, from the output up`,
      way(siblings, path),
    ),
    h(
      'li',
      { class: 'proof-verdict', 'data-tone': ok ? 'ok' : 'bad' },
      h('span', { class: 'tag', 'data-tone': ok ? 'ok' : 'bad' }, ok ? 'holds' : 'refused'),
      ' ',
      ok ? 'The path ends at the root that was asked for by itself.' : (why ?? ''),
    ),
  );
}

/** Each hash on the way, with the one beside it. */
function way(siblings: readonly string[], path: readonly string[]): HTMLElement {
  const rows = (path.length === 0 ? siblings : path).map((each, i) => {
    const beside = path.length === 0 ? undefined : siblings[i];
    return h('li', {}, hash(each), beside !== undefined && h('span', { class: 'note' }, ` with ${shortHash(beside)}`));
  });
  return h(
    'details',
    {},
    h('summary', {}, path.length === 0 ? 'Hashes beside the way' : 'Each hash'),
    h('ol', { class: 'proof-path' }, rows),
  );
}

function hash(value: string): HTMLElement {
  return h('code', {}, value);
}
