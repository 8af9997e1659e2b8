/**
 * Transactions of the cage protocol (v2), without signatures. What they must
 * look like is what the validators enforce: the state in output 0, refunds
 * behind it in the order of the requests, one redeemer a script, intervals that
 * lie within the phases. Coins, fee and change are `balance.ts`.
 */
import {
  type CageDeployment,
  type CageOperation,
  type CageState,
  cageTokenName,
  encodeCageDatum,
  encodeMintRedeemer,
  encodeSpendRedeemer,
  type RequestAction,
} from '../../../ledgers/cardano/cage/index.ts';
import { type OutRef, readAddress } from '../../../ledgers/cardano/index.ts';
import type { ExecutionUnits, ProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import type { OutputToWrite } from '../../../ledgers/cardano/transaction-write.ts';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { inLedgerOrder } from '../../../query/cardano/trie-trial.ts';
import { concatBytes, fromHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { balance, lovelaceMin, type TransactionPlan } from './balance.ts';
import type { BuilderGround, Ground } from './builder-ground.ts';
import type { RequestDocument, TokenDocument, TokenTerms } from './documents.ts';
import { type Interval, phaseEnds, slotsOf, within } from './validity.ts';

/** Who pays and signs, and what the builder cannot know. */
export interface BuildOptions {
  /** Address of the payer: its coins pay, its key signs, the change goes there. */
  readonly address: string;
  /** What each script may use. Default: the scripts of a transaction share what it may use at most. */
  readonly units?: ExecutionUnits | undefined;
  /** Default: those of the node. */
  readonly parameters?: ProtocolParameters | undefined;
  /** Compiled code of the state script, or the output (`TXID#INDEX`) that carries it as a reference script. */
  readonly stateScript?: Uint8Array | string | undefined;
  /** The same of the token's request script. Default: made from the deployment, where that has its program. */
  readonly requestScript?: Uint8Array | string | undefined;
}

/** How a token begins. */
export interface BootOptions extends BuildOptions {
  /** What its owner asks for. */
  readonly terms: TokenTerms;
  /** Hash of the state script, in hex. Default: the one deployment of v2 that the store follows. */
  readonly policy?: string | undefined;
}

/** Which requests are taken. */
export interface TakeOptions extends BuildOptions {
  /** Exactly these (`TXID#INDEX`), or failure. Default: all that can be. */
  readonly requests?: readonly string[] | undefined;
}

/** Which requests are applied, and who owns the token afterwards. */
export interface UpdateOptions extends TakeOptions {
  /** Hash of the key that owns the token from now on, in hex. Default: as before. */
  readonly newOwner?: string | undefined;
}

/** A transaction to be signed. */
export interface UnsignedTx {
  /** Its CBOR, with an empty place for signatures. */
  readonly tx: Uint8Array;
  /** Its id, which signing does not change. */
  readonly id: string;
  /** In lovelace. */
  readonly fee: bigint;
}

/** A transaction that makes a token. */
export interface BootTx extends UnsignedTx {
  /** `POLICY.NAME` of the token. */
  readonly token: string;
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

/** Builds the transactions of the protocol, without signatures. Only of v2: earlier versions are read, and no longer written. */
export class CageTxBuilder {
  readonly #ground: BuilderGround;

  /** @internal */
  constructor(ground: BuilderGround) {
    this.#ground = ground;
  }

  /** Makes a token with an empty trie, owned by the payer. Throws USAGE, UNSUPPORTED. */
  boot(options: BootOptions): Promise<BootTx> {
    return this.#ground.build(options, (ground) => {
      const deployment = ground.deploymentOf(options.policy);
      const [seed] = ground.payer.coins;
      if (seed === undefined) throw new UnspentError('USAGE', `${options.address} has no output that holds nothing but lovelace`);
      const name = cageTokenName(seed);
      const state: CageState = { owner: ground.payer.keyHash, root: EMPTY_ROOT, terms: options.terms };
      const plan: TransactionPlan = {
        inputs: [],
        seed,
        outputs: [funded(ground, this.#stateOutput(ground, deployment, name, state))],
        mint: {
          asset: { policy: deployment.stateScriptHash, name, quantity: 1n },
          redeemer: encodeMintRedeemer({ type: 'minting', seed }, 'v2'),
        },
        ...ground.scripts({ state: deployment }),
      };
      return { ...finish(plan, ground), token: `${toHex(deployment.stateScriptHash)}.${toHex(name)}` };
    });
  }

  /** Asks the owner of a token for an operation; the request is output 0 of the transaction. Throws USAGE, NOT_FOUND, UNSUPPORTED. */
  request(token: string, key: Uint8Array, operation: CageOperation, options: BuildOptions): Promise<UnsignedTx> {
    return this.#ground.build(options, (ground) => {
      const { name, terms, requestScript } = ground.token(token);
      if (requestScript === null)
        throw new UnspentError('UNSUPPORTED', `nobody knows where requests for ${name} belong: its deployment has no request program`);
      const request = {
        token: fromHex(name),
        owner: ground.payer.keyHash,
        key,
        operation,
        terms: { tip: terms.tip, submittedAt: BigInt(ground.nowMs) },
      };
      const address = ground.scriptAddress(fromHex(requestScript));
      const output = funded(ground, { address, lovelace: 0n, datum: encodeCageDatum({ type: 'request', request }) });
      const lovelace = terms.tip + (output.lovelace > REQUEST_LOVELACE ? output.lovelace : REQUEST_LOVELACE);
      return finish({ inputs: [], outputs: [{ ...output, lovelace }] }, ground);
    });
  }

  /** Applies requests that are in their time, in ledger order; the payer owns the token. Throws USAGE, CAGE_CONFLICT, NOT_FOUND, TRIE_DIVERGED, LIMIT. */
  update(token: string, options: UpdateOptions): Promise<UpdateTx> {
    return this.#ground.build(options, (ground) => {
      const state = ground.token(token);
      const requests = ground.requests(state, options.requests, ['process', 'dishonest']);
      const { applied, refused, root } = ground.tryRequests(state, requests);
      const why = options.requests === undefined ? undefined : refused[0];
      if (why !== undefined) throw new UnspentError('USAGE', `the request ${why.ref} cannot be applied: ${why.why}`);
      const taken = requests.filter(({ ref }) => applied.some((each) => each.ref === ref));
      const actions = applied.map(({ proof }): RequestAction => ({ type: 'apply', proof }));
      const times = taken.map((request): Interval => ({ beforeMs: phaseEnds(request, state.terms)[0] }));
      return this.#modify(ground, { ...state, root, owner: options.newOwner ?? state.owner }, state, taken, actions, times);
    });
  }

  /** Rejects requests whose time is over, or that say they were submitted later than now. Throws USAGE, CAGE_CONFLICT, NOT_FOUND, LIMIT. */
  reject(token: string, options: TakeOptions): Promise<UpdateTx> {
    return this.#ground.build(options, (ground) => {
      const state = ground.token(token);
      const taken = ground.requests(state, options.requests, ['reject', 'dishonest']);
      if (taken.length === 0) throw new UnspentError('CAGE_CONFLICT', `no request for ${state.name} can be rejected now`);
      const times = taken.map((request): Interval => {
        return request.phase === 'dishonest' ? { beforeMs: request.submittedAt ?? 0n } : { afterMs: phaseEnds(request, state.terms)[1] };
      });
      const actions = taken.map((): RequestAction => ({ type: 'reject' }));
      return this.#modify(ground, state, state, taken, actions, times);
    });
  }

  /** Takes a request back, while it may be; the payer is its author. Throws USAGE, CAGE_CONFLICT, NOT_FOUND. */
  retract(ref: string, options: BuildOptions): Promise<UnsignedTx> {
    return this.#ground.build(options, (ground) => {
      const { request, state } = ground.requestAt(ref);
      if (request.phase !== 'retract')
        throw new UnspentError('CAGE_CONFLICT', `the request ${ref} is not in the time in which it can be taken back (${request.phase})`);
      ground.needOwner(request.owner, `the request ${ref}`);
      const stateRef = parseOutpoint(state.stateRef);
      const [afterMs, beforeMs] = phaseEnds(request, state.terms);
      const redeemer = encodeSpendRedeemer({ type: 'retract', state: stateRef });
      const scripts = ground.scripts({ request: state });
      const plan: TransactionPlan = {
        inputs: [{ ...parseOutpoint(ref), redeemer, lovelace: request.lovelace }],
        outputs: [],
        validity: slotsOf(ground.network, { afterMs, beforeMs }, ground.nowMs),
        ...scripts,
        references: [stateRef, ...scripts.references],
      };
      return finish(plan, ground);
    });
  }

  /** Ends a token; the payer owns it. Refused (CAGE_CONFLICT) while requests wait for it, which nobody could take back afterwards. Throws NOT_FOUND. */
  end(token: string, options: BuildOptions): Promise<UnsignedTx> {
    return this.#ground.build(options, (ground) => {
      const state = ground.token(token);
      ground.needOwner(state.owner, `the token ${state.name}`);
      const waiting = ground.requests(state, undefined, null);
      if (waiting.length > 0)
        throw new UnspentError('CAGE_CONFLICT', `${waiting.length} requests wait for the token ${state.name}: apply or reject them first`);
      const [policy, name] = [fromHex(state.policy), fromHex(state.name)];
      const plan: TransactionPlan = {
        inputs: [
          { ...parseOutpoint(state.stateRef), redeemer: encodeSpendRedeemer({ type: 'end' }), lovelace: ground.lovelaceAt(state.stateRef) },
        ],
        outputs: [],
        mint: { asset: { policy, name, quantity: -1n }, redeemer: encodeMintRedeemer({ type: 'burning', token: name }, 'v2') },
        ...ground.scripts({ state: ground.deploymentOf(state.policy) }),
      };
      return finish(plan, ground);
    });
  }

  #modify(
    ground: Ground,
    after: Pick<TokenDocument, 'root' | 'owner'>,
    state: TokenDocument & { readonly terms: TokenTerms },
    taken: readonly RequestDocument[],
    actions: readonly RequestAction[],
    times: readonly Interval[],
  ): UpdateTx {
    ground.needOwner(state.owner, `the token ${state.name}`);
    const deployment = ground.deploymentOf(state.policy);
    const stateRef: OutRef = parseOutpoint(state.stateRef);
    const lovelace = ground.lovelaceAt(state.stateRef);
    const contribute = encodeSpendRedeemer({ type: 'contribute', state: stateRef });
    const ordered = inLedgerOrder(taken);
    const datum: CageState = { owner: fromHex(after.owner), root: fromHex(after.root), terms: state.terms };
    const output = this.#stateOutput(ground, deployment, fromHex(state.name), datum);
    // Authors get everything back but the tip. The fee is the owner's: the bounds of the validators allow it.
    const refunds = ordered.map(
      (request): OutputToWrite => ({ address: ground.keyAddress(fromHex(request.owner)), lovelace: request.lovelace - state.terms.tip }),
    );
    const plan: TransactionPlan = {
      inputs: [
        { ...stateRef, redeemer: encodeSpendRedeemer({ type: 'modify', actions, bare: false }), lovelace },
        ...ordered.map((request) => ({ ...parseOutpoint(request.ref), redeemer: contribute, lovelace: request.lovelace })),
      ],
      outputs: [{ ...output, lovelace }, ...refunds],
      validity: slotsOf(ground.network, within(times), ground.nowMs),
      ...ground.scripts(taken.length === 0 ? { state: deployment } : { state: deployment, request: state }),
    };
    return { ...finish(plan, ground), root: after.root, taken: ordered.map(({ ref }) => ref) };
  }

  #stateOutput(ground: Ground, { stateScriptHash }: CageDeployment, name: Uint8Array, state: CageState): OutputToWrite {
    return {
      address: ground.scriptAddress(stateScriptHash),
      lovelace: 0n,
      asset: { policy: stateScriptHash, name, quantity: 1n },
      datum: encodeCageDatum({ type: 'state', state }),
    };
  }
}

/** With as much lovelace as it must hold. */
function funded({ parameters }: Ground, output: OutputToWrite): OutputToWrite {
  return { ...output, lovelace: lovelaceMin(output, parameters) };
}

function finish(plan: TransactionPlan, { payer, parameters, units }: Ground): UnsignedTx {
  const { tx, id, fee } = balance({ ...plan, units }, payer, parameters);
  return { tx, id: toHex(id), fee };
}

/** The hash of the key that an address is paid to by. Throws USAGE. */
export function keyHashOf(address: Uint8Array, text: string): Uint8Array {
  const { payment } = readAddress(address);
  if (payment?.kind !== 'key') throw new UnspentError('USAGE', `${text} is not the address of a key, and so cannot pay`);
  return payment.hash;
}

/** CIP-19: an address without a stake part. */
export function enterpriseAddress(kind: 'key' | 'script', hash: Uint8Array, networkId: number): Uint8Array {
  return concatBytes(Uint8Array.of((kind === 'key' ? 0x60 : 0x70) | networkId), hash);
}
