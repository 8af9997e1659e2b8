/**
 * Transactions of the cage protocol (v2, and v0 as far as it differs), without
 * signatures. What they must look like is what the validators enforce: the state
 * in output 0, refunds behind it in the order of the requests, one redeemer a
 * script, intervals that lie within the phases. Coins, fee and change are
 * `balance.ts`.
 *
 * v0 has no tips, phases, intervals or refunds: its requests sit at the state
 * script, and what they hold is the owner's when they are applied.
 */
import {
  boundsFor,
  type CageDeployment,
  type CageOperation,
  type CageRequest,
  type CageState,
  type CageTerms,
  cageTokenName,
  commonBounds,
  decodeCageDatum,
  encodeCageDatum,
  encodeMintRedeemer,
  encodeSpendRedeemer,
  type RequestAction,
  slotsWithin,
  type TimeBounds,
} from '../../../ledgers/cardano/cage/index.ts';
import { lovelaceMin } from '../../../ledgers/cardano/fee.ts';
import { readAddress } from '../../../ledgers/cardano/index.ts';
import { type OutputToWrite, sortInputs } from '../../../ledgers/cardano/transaction-write.ts';
import { type Outpoint, outpointText, parseOutpoint } from '../../../ledgers/outpoint.ts';
import { cageColumns } from '../../../projections/cardano/cage/rows.ts';
import { equalBytes, fromHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { CageToken, PendingRequest } from '../cage.ts';
import { TrieTrial } from '../trie-trial.ts';
import { balance, type PlannedInput, type TransactionPlan } from './balance.ts';
import { type CageTxGround, joinScripts, needRequestScript } from './ground.ts';
import { chooseRequests, needNoRequests, requestAt } from './request-choice.ts';

/** A transaction to be signed. */
export interface UnsignedTx {
  /** Its CBOR, with an empty place for signatures. */
  readonly tx: Uint8Array;
  /** Its id, which signing does not change. */
  readonly id: string;
  /** In lovelace. */
  readonly fee: bigint;
}

/** A transaction that takes requests. */
export interface UpdateTx extends UnsignedTx {
  /** The root afterwards. */
  readonly root: string;
  /** The requests it takes, in ledger order. */
  readonly taken: readonly string[];
}

const EMPTY_ROOT = new Uint8Array(32);
/** Lovelace of a request besides the tip: what comes back to its author must be enough for an output. */
const REQUEST_LOVELACE = 2_000_000n;

/** Makes a token with an empty trie, owned by the payer. `terms`: null in v0. Throws USAGE, UNSUPPORTED. */
export function bootTx(
  ground: CageTxGround,
  deployment: CageDeployment,
  terms: CageTerms | null,
): UnsignedTx & { readonly name: Uint8Array } {
  const { stateScriptHash: policy, version } = deployment;
  const [seed] = ground.payer.coins;
  if (seed === undefined) throw new UnspentError('USAGE', `${toHex(ground.payer.address)} has no output that holds nothing but lovelace`);
  const name = cageTokenName(seed);
  const asset = { policy, name, quantity: 1n };
  const state: CageState = { owner: ground.payer.keyHash, root: EMPTY_ROOT, terms };
  const output = { address: ground.scriptAddress(policy), lovelace: 0n, assets: [asset], datum: encodeCageDatum({ type: 'state', state }) };
  const mint = { asset, redeemer: encodeMintRedeemer({ type: 'minting', seed }, version) };
  return { ...finish({ inputs: [], seed, outputs: [funded(ground, output)], mint, ...ground.stateScript(policy) }, ground), name };
}

/** Asks the owner of a token for an operation; the request is output 0. Throws USAGE, UNSUPPORTED. */
export function requestTx(ground: CageTxGround, token: CageToken, key: Uint8Array, operation: CageOperation): UnsignedTx {
  const { terms } = needBuildable(token).state;
  const request: CageRequest = {
    token: token.id.name,
    owner: ground.payer.keyHash,
    key,
    operation,
    terms: terms === null ? null : { tip: terms.tip, submittedAt: ground.terms.nowMs },
  };
  const address = ground.scriptAddress(needRequestScript(token.requestScript, token.id.name));
  const output = funded(ground, { address, lovelace: 0n, datum: encodeCageDatum({ type: 'request', request }) });
  const lovelace = (terms?.tip ?? 0n) + (output.lovelace > REQUEST_LOVELACE ? output.lovelace : REQUEST_LOVELACE);
  return finish({ inputs: [], outputs: [{ ...output, lovelace }] }, ground);
}

/** What a transaction that takes requests may be told. */
export interface TakenRequests {
  /** Exactly these, or a conflict; empty: all that can be taken. */
  readonly wanted: readonly string[];
  /** Hash of the key that owns the token afterwards; left out: as before. */
  readonly newOwner?: Uint8Array | undefined;
}

/** Applies requests, in ledger order; the payer owns the token. Throws USAGE, CAGE_CONFLICT, TRIE_DIVERGED, UNSUPPORTED, LIMIT. */
export function updateTx(ground: CageTxGround, token: CageToken, { wanted, newOwner }: TakenRequests): UpdateTx {
  const requests = takeable(ground, needBuildable(token), wanted, ['process', 'dishonest', null]);
  const trial = new TrieTrial(ground.query.rowsOf(cageColumns.map(({ name }) => name)), ground.cages, token);
  const { applied, refused, root } = trial.applyRequests(
    requests.map((each) => ({ ref: outpointText(each), key: each.request.key, operation: each.request.operation })),
  );
  const [why] = refused;
  if (wanted.length > 0 && why !== undefined)
    throw new UnspentError('CAGE_CONFLICT', `the request ${why.ref} cannot be applied: ${why.why}`);
  const taken = requests.filter((each) => applied.some(({ ref }) => ref === outpointText(each)));
  const actions = applied.map(({ proof }): RequestAction => ({ type: 'apply', proof }));
  const after = { root: fromHex(root), owner: newOwner ?? token.state.owner };
  return modifyTx(ground, token, after, taken, actions, 'apply');
}

/** Rejects requests whose time is over, or that say they were submitted later than now. Throws USAGE, CAGE_CONFLICT, UNSUPPORTED, LIMIT. */
export function rejectTx(ground: CageTxGround, token: CageToken, { wanted }: Pick<TakenRequests, 'wanted'>): UpdateTx {
  if (token.version === 'v0')
    throw new UnspentError('CAGE_CONFLICT', 'a cage of v0 has no phases: requests are not rejected, but retracted');
  const taken = takeable(ground, needBuildable(token), wanted, ['reject', 'dishonest']);
  if (taken.length === 0) throw new UnspentError('CAGE_CONFLICT', `no request for ${toHex(token.id.name)} can be rejected now`);
  const actions = taken.map((): RequestAction => ({ type: 'reject' }));
  return modifyTx(ground, token, token.state, taken, actions, 'reject');
}

/** Takes a request back, while it may be; the payer is its author. Throws USAGE, CAGE_CONFLICT, NOT_FOUND, UNSUPPORTED. */
export function retractTx(ground: CageTxGround, ref: string): UnsignedTx {
  const { request, token } = requestAt(ground.query, ref, ground.terms.nowMs);
  ground.needOwner(request.request.owner, `the request ${ref}`);
  if (request.request.terms === null) return retractBare(ground, request);
  if (token === null) throw new UnspentError('CAGE_CONFLICT', `the token of the request ${ref} is not there: nobody can take it back`);
  const { state } = needBuildable(token);
  if (request.phase !== 'retract')
    throw new UnspentError('CAGE_CONFLICT', `the request ${ref} is not in the time in which it can be taken back (${request.phase})`);
  const scripts = ground.requestScript(token);
  const plan: TransactionPlan = {
    inputs: [ground.input(request, encodeSpendRedeemer({ type: 'retract', state: token }))],
    outputs: [],
    validity: slotsOf(ground, boundsFor('retract', request.request, state.terms, request.phase)),
    ...scripts,
    references: [refOf(token), ...scripts.references],
  };
  return finish(plan, ground);
}

/** In v0 the author's signature is enough, whether the token is there or not. */
function retractBare(ground: CageTxGround, request: PendingRequest): UnsignedTx {
  const { payment } = readAddress(ground.output(request).address);
  const known = ground.cages.deployments().filter(({ version }) => version === 'v0');
  const found = known.find(({ stateScriptHash }) => payment?.kind === 'script' && equalBytes(payment.hash, stateScriptHash));
  if (found === undefined) throw new UnspentError('CAGE_CONFLICT', `the request ${outpointText(request)} is at no script of a cage of v0`);
  const input = ground.input(request, encodeSpendRedeemer({ type: 'retract', state: null }));
  return finish({ inputs: [input], outputs: [], ...ground.stateScript(found.stateScriptHash) }, ground);
}

/** Ends a token; the payer owns it. Throws USAGE, UNSUPPORTED, and CAGE_CONFLICT while requests wait for it that nobody could take back afterwards. */
export function endTx(ground: CageTxGround, token: CageToken): UnsignedTx {
  const { version, id, state } = needBuildable(token);
  ground.needOwner(state.owner, `the token ${toHex(id.name)}`);
  if (version !== 'v0') needNoRequests(ground.cages, token, ground.terms.nowMs);
  const plan: TransactionPlan = {
    inputs: [ground.input(token, encodeSpendRedeemer({ type: 'end' }))],
    outputs: [],
    mint: {
      asset: { ...id, quantity: -1n },
      redeemer: encodeMintRedeemer({ type: 'burning', token: version === 'v0' ? null : id.name }, version),
    },
    ...ground.stateScript(id.policy),
  };
  return finish(plan, ground);
}

/**
 * Takes an output that is no processable request away from the request script of a token; the payer owns the token.
 * Throws USAGE, NOT_FOUND, UNSUPPORTED, and CAGE_CONFLICT for what the script does not let go.
 */
export function sweepTx(ground: CageTxGround, token: CageToken, ref: string): UnsignedTx {
  const { version, id, state } = needBuildable(token);
  if (version !== 'v2') throw new UnspentError('UNSUPPORTED', `nothing is swept in ${version}: only v2 has that`);
  ground.needOwner(state.owner, `the token ${toHex(id.name)}`);
  const outpoint = parseOutpoint(ref);
  const output = ground.output(outpoint);
  const hash = needRequestScript(token.requestScript, id.name);
  const { payment } = readAddress(output.address);
  if (payment?.kind !== 'script' || !equalBytes(payment.hash, hash))
    throw new UnspentError('CAGE_CONFLICT', `${ref} is not at the request script of the token (${toHex(hash)})`);
  if (output.datumHash !== null)
    throw new UnspentError('UNSUPPORTED', `of the datum of ${ref} only the hash is on chain: spending it takes the datum itself`);
  if (isProcessable(output, token))
    throw new UnspentError('CAGE_CONFLICT', `${ref} is a request that can be applied or rejected: only others are swept`);
  const scripts = ground.requestScript(token);
  const plan: TransactionPlan = {
    inputs: [ground.input(outpoint, encodeSpendRedeemer({ type: 'sweep', state: token }))],
    outputs: [],
    ...scripts,
    references: [refOf(token), ...scripts.references],
  };
  return finish(plan, ground);
}

/** As the request script of v2 sees it. */
function isProcessable({ inlineDatum, lovelace }: ReturnType<CageTxGround['output']>, { id, state }: CageToken): boolean {
  const datum = inlineDatum === null ? null : decodeCageDatum(inlineDatum);
  if (datum?.type !== 'request' || datum.request.terms === null || state.terms === null) return false;
  const { token, terms } = datum.request;
  return equalBytes(token, id.name) && terms.tip === state.terms.tip && lovelace >= terms.tip;
}

function takeable(
  ground: CageTxGround,
  token: CageToken,
  wanted: readonly string[],
  phases: Parameters<typeof chooseRequests>[3]['phases'],
): readonly PendingRequest[] {
  const { terms } = token.state;
  const refusal = (each: PendingRequest): string | null => {
    if (terms === null) return null;
    const refund = refundOf(ground, each, terms);
    return refund.lovelace < lovelaceMin(refund, ground.terms.parameters) ? 'what it holds is too little to pay anything back' : null;
  };
  return sortInputs(chooseRequests(ground.cages, token, ground.terms.nowMs, { phases, wanted, refusal }));
}

/** Its author gets everything back but the tip. The fee is the owner's: the bounds of the validators allow it. */
function refundOf(ground: CageTxGround, request: PendingRequest, { tip }: CageTerms): OutputToWrite {
  const { assets } = ground.output(request);
  return {
    address: ground.keyAddress(request.request.owner),
    lovelace: request.lovelace - tip,
    ...(assets.length === 0 ? {} : { assets }),
  };
}

/** A Modify. `taken` is in ledger order. */
function modifyTx(
  ground: CageTxGround,
  token: CageToken,
  after: Pick<CageState, 'root' | 'owner'>,
  taken: readonly PendingRequest[],
  actions: readonly RequestAction[],
  use: 'apply' | 'reject',
): UpdateTx {
  const { id, state, version } = token;
  ground.needOwner(state.owner, `the token ${toHex(id.name)}`);
  const bare = version === 'v0';
  const input = ground.input(token, encodeSpendRedeemer({ type: 'modify', actions, bare }));
  const contribute = encodeSpendRedeemer({ type: 'contribute', state: token });
  const datum = encodeCageDatum({ type: 'state', state: { ...state, owner: after.owner, root: after.root } });
  const { terms } = state;
  const scripts = ground.stateScript(id.policy);
  const plan: TransactionPlan = {
    inputs: [input, ...taken.map((each): PlannedInput => ground.input(each, contribute))],
    outputs: [
      { address: ground.scriptAddress(id.policy), lovelace: input.lovelace, assets: input.assets, datum },
      ...(terms === null ? [] : taken.map((each) => refundOf(ground, each, terms))),
    ],
    validity: slotsOf(ground, commonBounds(taken.map(({ request, phase }) => boundsFor(use, request, terms, phase)))),
    ...(taken.length === 0 ? scripts : joinScripts(scripts, ground.requestScript(token))),
  };
  return { ...finish(plan, ground), root: toHex(after.root), taken: taken.map(outpointText) };
}

/** Throws UNSUPPORTED for v1: which of its two forms of Modify a script takes cannot be told. */
function needBuildable(token: CageToken): CageToken {
  if (token.version !== 'v1') return token;
  throw new UnspentError('UNSUPPORTED', `the token ${toHex(token.id.name)} is of v1: only transactions of v0 and v2 are built`);
}

function slotsOf(ground: CageTxGround, bounds: TimeBounds): NonNullable<TransactionPlan['validity']> {
  const { from, until } = slotsWithin(ground.network, bounds, ground.moment);
  return { ...(from === null ? {} : { from }), ...(until === null ? {} : { until }) };
}

function refOf({ txId, index }: Outpoint): Outpoint {
  return { txId, index };
}

/** With as much lovelace as it must hold. */
function funded({ terms }: CageTxGround, output: OutputToWrite): OutputToWrite {
  return { ...output, lovelace: lovelaceMin(output, terms.parameters) };
}

function finish(plan: TransactionPlan, { payer, terms }: CageTxGround): UnsignedTx {
  const { tx, id, fee } = balance({ ...plan, units: terms.units }, payer, terms.parameters);
  return { tx, id: toHex(id), fee };
}
