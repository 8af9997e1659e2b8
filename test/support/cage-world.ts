/**
 * A world with cages that knows what it did: transactions of every kind the
 * protocol has, and beside them the tokens, requests and facts they lead to,
 * kept in plain maps that never read a block. Its copy is a fork.
 */
import {
  type CageDatum,
  type CageDeployment,
  type CageOperation,
  cageTokenName,
  encodeCageDatum,
  encodeMintRedeemer,
  encodeSpendRedeemer,
  parseCageDeployment,
  type RequestAction,
  requestScriptHash,
} from '../../src/ledgers/cardano/cage/index.ts';
import { MemoryNodes, mpf } from '../../src/proofs/index.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { mpfRoot } from '../proofs/reference.ts';
import { type CageBlocks, type DrawnOutput, type DrawnTx, refBytes, sortedRefs } from './cage-blocks.ts';

/** A program of two parameters that takes them and gives the first back. */
const REQUEST_CODE = '46010000220011';
export const WORLD_CAGES: readonly CageDeployment[] = [
  parseCageDeployment(`v0:${'a0'.repeat(28)}`),
  parseCageDeployment(`v1:${'a1'.repeat(28)}`),
  parseCageDeployment(`v2:${'a2'.repeat(28)}:${REQUEST_CODE}`),
  parseCageDeployment(`v2:${'a3'.repeat(28)}`),
];

export const STRANGE_SCRIPT = '5e'.repeat(28);
const EMPTY_ROOT = '00'.repeat(32);
const TIP = 1_000_000n;

export interface WorldToken {
  readonly deployment: CageDeployment;
  readonly name: string;
  stateRef: string;
  owner: string;
  /** On chain. */
  root: string;
  facts: Map<string, string>;
  /** As the rows of a store have it. */
  status: string;
}

export interface WorldRequest {
  readonly token: string;
  readonly owner: string;
  readonly key: string;
  readonly operation: CageOperation;
  readonly bare: boolean;
  /** Null: at the address of a key. */
  readonly script: string | null;
}

/** What can be undone by forgetting it. */
export interface WorldState {
  readonly tokens: Map<string, WorldToken>;
  readonly requests: Map<string, WorldRequest>;
  /** Outputs without a datum at request scripts. */
  readonly litter: Map<string, string>;
  funds: number;
}

function copyState({ tokens, requests, litter, funds }: WorldState): WorldState {
  const copies = [...tokens].map(([id, token]) => [id, { ...token, facts: new Map(token.facts) }] as const);
  return { tokens: new Map(copies), requests: new Map(requests), litter: new Map(litter), funds };
}

export const policyOf = ({ deployment }: WorldToken): string => toHex(deployment.stateScriptHash);
const unitOf = (token: WorldToken): string => `${policyOf(token)}.${token.name}`;
export const tokenIdText = (deployment: CageDeployment, name: string): string => `${toHex(deployment.stateScriptHash)}.${name}`;

/** Hex of an owner's key hash, by a number. */
export const person = (n: number): string => n.toString(16).padStart(2, '0').repeat(28);

/** A transaction under way: its outputs and inputs are collected by several deeds. */
export interface TxDraft {
  readonly inputs: string[];
  readonly outputs: DrawnOutput[];
  readonly mint: Record<string, number>;
  readonly spend: Record<string, string>;
  readonly mintWith: Record<string, string>;
  /** Called with the id once it is known. */
  readonly after: ((id: string) => void)[];
  readonly events: string[];
}

export class CageWorld {
  state: WorldState = { tokens: new Map(), requests: new Map(), litter: new Map(), funds: 0 };
  readonly maker: CageBlocks;
  readonly fundsTx: string;
  private readonly fundsCount: number;

  /** `fundsTx`: a transaction with `fundsCount` outputs that pay for everything. */
  constructor(maker: CageBlocks, fundsTx: string, fundsCount: number) {
    this.maker = maker;
    this.fundsTx = fundsTx;
    this.fundsCount = fundsCount;
  }

  save(): WorldState {
    return copyState(this.state);
  }

  restore(state: WorldState): void {
    this.state = copyState(state);
  }

  draft(): TxDraft {
    const draft: TxDraft = { inputs: [], outputs: [], mint: {}, spend: {}, mintWith: {}, after: [], events: [] };
    draft.inputs.push(this.fund());
    return draft;
  }

  fund(): string {
    if (this.state.funds >= this.fundsCount) throw new Error('the world has no funds left');
    return `${this.fundsTx}#${this.state.funds++}`;
  }

  /** The transaction, and what it changed; `isValid` false: nothing, but it spends its collateral. */
  finish(draft: TxDraft, isValid = true): { readonly tx: DrawnTx; readonly body: Uint8Array } {
    const tx: DrawnTx = {
      inputs: draft.inputs,
      outputs: [...draft.outputs, { address: `key:${person(9)}`, value: { lovelace: 1_000_000 } }],
      ...(Object.keys(draft.mint).length > 0 ? { mint: draft.mint } : {}),
      redeemers: { spend: draft.spend, mint: draft.mintWith },
      ...(isValid ? {} : { isValid, collateral: [this.fund()] }),
    };
    const { body, id } = this.maker.encode(tx);
    if (isValid) for (const change of draft.after) change(id);
    return { tx, body };
  }

  requestScriptOf(token: { readonly deployment: CageDeployment; readonly name: string }): string {
    const hash = requestScriptHash(token.deployment, fromHex(token.name));
    return hash === null ? STRANGE_SCRIPT : toHex(hash);
  }

  stateDatum({ deployment, owner, root }: Pick<WorldToken, 'deployment' | 'owner' | 'root'>): string {
    const terms = deployment.version === 'v0' ? null : { tip: TIP, processTime: 60_000n, retractTime: 60_000n };
    return datum({ type: 'state', state: { owner: fromHex(owner), root: fromHex(root), terms } });
  }

  private stateOutput(token: WorldToken): DrawnOutput {
    const value = { lovelace: 2_000_000, assets: { [unitOf(token)]: 1 } };
    return { address: `script:${policyOf(token)}`, value, inlineDatum: this.stateDatum(token) };
  }

  /** A new token; its output must be the first of the transaction. */
  boot(draft: TxDraft, deployment: CageDeployment, owner: string): WorldToken {
    const seed = refBytes(draft.inputs[0]);
    const name = toHex(cageTokenName(seed));
    const token: WorldToken = { deployment, name, stateRef: '', owner, root: EMPTY_ROOT, facts: new Map(), status: 'consistent' };
    draft.outputs.unshift(this.stateOutput(token));
    draft.mint[unitOf(token)] = 1;
    draft.mintWith[policyOf(token)] = toHex(encodeMintRedeemer({ type: 'minting', seed }, deployment.version));
    draft.after.push((id) => this.enter({ ...token, stateRef: `${id}#0` }));
    draft.events.push('boot');
    return token;
  }

  private enter(token: WorldToken): void {
    this.state.tokens.set(tokenIdText(token.deployment, token.name), token);
  }

  ask(draft: TxDraft, request: WorldRequest): void {
    const { token, owner, key, operation, bare, script } = request;
    const terms = bare ? null : { tip: TIP, submittedAt: 1000n };
    const inlineDatum = datum({
      type: 'request',
      request: { token: fromHex(token), owner: fromHex(owner), key: fromHex(key), operation, terms },
    });
    const place = draft.outputs.push({
      address: script === null ? `key:${owner}` : `script:${script}`,
      value: { lovelace: 3_000_000 },
      inlineDatum,
    });
    draft.after.push((id) => this.state.requests.set(`${id}#${place - 1}`, request));
    if (script !== null) draft.events.push('request');
  }

  /** Applies or rejects requests of the token that are named here, whatever address they are at. `root`: what goes on chain instead of the right one. */
  modify(draft: TxDraft, token: WorldToken, taken: ReadonlyMap<string, 'apply' | 'reject'>, owner: string, root?: string): void {
    const facts = new Map(token.facts);
    const nodes = new MemoryNodes();
    mpf.update(
      nodes,
      nodes,
      [...facts].map(([key, value]) => ({ key: fromHex(key), value: fromHex(value) })),
    );
    const actions: RequestAction[] = [];
    for (const ref of sortedRefs([...taken.keys()])) {
      const request = this.state.requests.get(ref)!;
      draft.inputs.push(ref);
      draft.spend[ref] = toHex(encodeSpendRedeemer({ type: 'contribute', state: refBytes(token.stateRef) }));
      if (taken.get(ref) === 'reject') actions.push({ type: 'reject' });
      else actions.push({ type: 'apply', proof: applyTo(nodes, facts, request) });
    }
    const isBare = token.deployment.version === 'v0';
    const after: WorldToken = { ...token, owner, facts, root: root ?? mpfRoot(bytesOf(facts)) };
    if (token.status !== 'incomplete') after.status = after.root === mpfRoot(bytesOf(facts)) ? 'consistent' : 'inconsistent';
    draft.inputs.push(token.stateRef);
    draft.spend[token.stateRef] = toHex(encodeSpendRedeemer({ type: 'modify', actions, bare: isBare }));
    draft.outputs.unshift(this.stateOutput(after));
    draft.after.push((id) => {
      this.enter({ ...after, stateRef: `${id}#0` });
      for (const ref of taken.keys()) this.state.requests.delete(ref);
    });
    draft.events.push('update', ...([...taken.values()].includes('reject') ? ['reject'] : []));
  }

  /** v1.0: all requests of the transaction are rejected. */
  rejectAll(draft: TxDraft, token: WorldToken, refs: readonly string[]): void {
    for (const ref of refs) {
      draft.inputs.push(ref);
      draft.spend[ref] = toHex(encodeSpendRedeemer({ type: 'contribute', state: refBytes(token.stateRef) }));
    }
    draft.inputs.push(token.stateRef);
    draft.spend[token.stateRef] = toHex(encodeSpendRedeemer({ type: 'reject' }));
    draft.outputs.unshift(this.stateOutput(token));
    draft.after.push((id) => {
      this.enter({ ...token, stateRef: `${id}#0` });
      for (const ref of refs) this.state.requests.delete(ref);
    });
    draft.events.push('reject');
  }

  /** A request is spent; `gone`: with a redeemer of another protocol. */
  spendRequest(draft: TxDraft, ref: string, how: 'retract' | 'sweep' | 'gone'): void {
    const state = { txId: new Uint8Array(32), index: 0 };
    const redeemer = how === 'gone' ? '182a' : toHex(encodeSpendRedeemer({ type: how, state }));
    draft.inputs.push(ref);
    draft.spend[ref] = redeemer;
    draft.after.push(() => this.state.requests.delete(ref));
    if (this.state.requests.get(ref)!.script !== null) draft.events.push(how);
  }

  /** An output without a datum at a request script, where it can only be swept. */
  drop(draft: TxDraft, script: string): void {
    const place = draft.outputs.push({ address: `script:${script}`, value: { lovelace: 1_000_000 } });
    draft.after.push((id) => this.state.litter.set(`${id}#${place - 1}`, script));
  }

  sweepLitter(draft: TxDraft, ref: string): void {
    draft.inputs.push(ref);
    draft.spend[ref] = toHex(encodeSpendRedeemer({ type: 'sweep', state: { txId: new Uint8Array(32), index: 0 } }));
    draft.after.push(() => this.state.litter.delete(ref));
    draft.events.push('sweep');
  }

  private leave(draft: TxDraft, token: WorldToken): void {
    const { version } = token.deployment;
    draft.inputs.push(token.stateRef);
    draft.spend[token.stateRef] = toHex(encodeSpendRedeemer({ type: 'end' }));
    draft.mint[unitOf(token)] = -1;
    draft.mintWith[policyOf(token)] = toHex(
      encodeMintRedeemer({ type: 'burning', token: version === 'v2' ? fromHex(token.name) : null }, version),
    );
    draft.after.push(() => this.state.tokens.delete(tokenIdText(token.deployment, token.name)));
  }

  burn(draft: TxDraft, token: WorldToken): void {
    this.leave(draft, token);
    draft.events.push('burn');
  }

  /** To another policy. `root`: one that is not that of its facts, which no script forbids. */
  migrate(draft: TxDraft, token: WorldToken, to: CageDeployment, root = token.root): void {
    this.leave(draft, token);
    const isWhole = root === mpfRoot(bytesOf(token.facts)) && token.status !== 'incomplete';
    const isEmpty = root === EMPTY_ROOT;
    const facts = isWhole ? new Map(token.facts) : new Map<string, string>();
    const after: WorldToken = { ...token, deployment: to, root, facts, status: isWhole || isEmpty ? 'consistent' : 'incomplete' };
    draft.mint[unitOf(after)] = 1;
    const redeemer = { type: 'migrating', oldPolicy: token.deployment.stateScriptHash, token: fromHex(token.name) } as const;
    draft.mintWith[policyOf(after)] = toHex(encodeMintRedeemer(redeemer, to.version));
    draft.outputs.unshift(this.stateOutput(after));
    draft.after.push((id) => this.enter({ ...after, stateRef: `${id}#0` }));
    draft.events.push('burn', 'migrate');
  }
}

export const bytesOf = (facts: ReadonlyMap<string, string>): Map<string, Uint8Array> =>
  new Map([...facts].map(([key, value]) => [key, fromHex(value)]));

function datum(value: CageDatum): string {
  return toHex(encodeCageDatum(value));
}

/** Whether a request can be applied to these facts. */
export function isApplicable(facts: ReadonlyMap<string, string>, { key, operation }: WorldRequest): boolean {
  if (operation.type === 'insert') return !facts.has(key);
  return facts.get(key) === toHex(operation.type === 'update' ? operation.before : operation.value);
}

/** Applies a request and returns its proof, in the form a redeemer has it. */
function applyTo(nodes: MemoryNodes, facts: Map<string, string>, { key, operation }: WorldRequest): Uint8Array {
  const { proof } = mpf.prove(nodes, fromHex(key));
  const value = operation.type === 'delete' ? null : operation.type === 'insert' ? operation.value : operation.after;
  mpf.update(nodes, nodes, [{ key: fromHex(key), value }]);
  if (value === null) facts.delete(key);
  else facts.set(key, toHex(value));
  return mpf.encode(proof, 'redeemer');
}
