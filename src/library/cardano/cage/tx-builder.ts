/**
 * Transactions of the cage protocol for programs, without signatures: options as
 * text, protocol parameters from the node where the program gives none, and
 * everything of the chain from one block. What they look like is
 * `query/cardano/cage-tx`.
 */
import type { CageDeployment, CageOperation } from '../../../ledgers/cardano/cage/index.ts';
import { type CardanoNetwork, parseAddress } from '../../../ledgers/cardano/index.ts';
import type { ExecutionUnits, ProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { CageTxGround } from '../../../query/cardano/cage-tx/ground.ts';
import {
  bootTx,
  endTx,
  rejectTx,
  requestTx,
  retractTx,
  sweepTx,
  type UnsignedTx,
  type UpdateTx,
  updateTx,
} from '../../../query/cardano/cage-tx/transactions.ts';
import { fromHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { TokenTerms } from './documents.ts';
import type { CageReading, PinnedCages } from './pinned.ts';
import type { CageProvider } from './provider.ts';

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
  /** What its owner asks for. A token of v0 has none, and they are not looked at. */
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

/** A transaction that makes a token. */
export interface BootTx extends UnsignedTx {
  /** `POLICY.NAME` of the token. */
  readonly token: string;
}

/** Where the builder finds what its options do not say. */
interface BuilderParts {
  readonly network: CardanoNetwork;
  readonly reading: CageReading;
  readonly provider: CageProvider;
  readonly clock: () => number;
}

/** Builds the transactions of the protocol, without signatures: those of v2, and for tokens of v0 those of v0. v1 is read, and no longer written. */
export class CageTxBuilder {
  readonly #parts: BuilderParts;

  /** @internal */
  constructor(parts: BuilderParts) {
    this.#parts = parts;
  }

  /** Makes a token with an empty trie, owned by the payer. Throws USAGE, UNSUPPORTED. */
  boot(options: BootOptions): Promise<BootTx> {
    return this.#build(options, (ground, at) => {
      const deployment = deploymentOf(at, options.policy);
      const { name, ...made } = bootTx(ground, deployment, deployment.version === 'v0' ? null : options.terms);
      return { ...made, token: `${toHex(deployment.stateScriptHash)}.${toHex(name)}` };
    });
  }

  /** Asks the owner of a token for an operation; the request is output 0 of the transaction. Throws USAGE, NOT_FOUND, UNSUPPORTED. */
  request(token: string, key: Uint8Array, operation: CageOperation, options: BuildOptions): Promise<UnsignedTx> {
    return this.#build(options, (ground, at) => requestTx(ground, at.need(token), key, operation));
  }

  /** Applies requests that are in their time, in ledger order; the payer owns the token. Throws USAGE, CAGE_CONFLICT, NOT_FOUND, TRIE_DIVERGED, UNSUPPORTED, LIMIT. */
  update(token: string, options: UpdateOptions): Promise<UpdateTx> {
    const newOwner = options.newOwner === undefined ? undefined : fromHex(options.newOwner);
    return this.#build(options, (ground, at) => updateTx(ground, at.need(token), { wanted: wantedOf(options), newOwner }));
  }

  /** Rejects requests whose time is over, or that say they were submitted later than now. Throws USAGE, CAGE_CONFLICT, NOT_FOUND, UNSUPPORTED, LIMIT. */
  reject(token: string, options: TakeOptions): Promise<UpdateTx> {
    return this.#build(options, (ground, at) => rejectTx(ground, at.need(token), { wanted: wantedOf(options) }));
  }

  /** Takes a request back, while it may be; the payer is its author. Throws USAGE, CAGE_CONFLICT, NOT_FOUND, UNSUPPORTED. */
  retract(ref: string, options: BuildOptions): Promise<UnsignedTx> {
    return this.#build(options, (ground) => retractTx(ground, ref));
  }

  /** Ends a token; the payer owns it. Refused (CAGE_CONFLICT) while requests wait for it that nobody could take back afterwards. Throws USAGE, NOT_FOUND, UNSUPPORTED. */
  end(token: string, options: BuildOptions): Promise<UnsignedTx> {
    return this.#build(options, (ground, at) => endTx(ground, at.need(token)));
  }

  /**
   * Takes an output (`TXID#INDEX`) that can never be a request of the token away from its request script; the payer owns
   * the token. Throws CAGE_CONFLICT for a request that can be applied or rejected, USAGE, NOT_FOUND, UNSUPPORTED.
   */
  sweep(token: string, ref: string, options: BuildOptions): Promise<UnsignedTx> {
    return this.#build(options, (ground, at) => sweepTx(ground, at.need(token), ref));
  }

  async #build<T>(options: BuildOptions, body: (ground: CageTxGround, at: PinnedCages) => T): Promise<T> {
    const { network, reading, provider, clock } = this.#parts;
    const parameters = options.parameters ?? (await provider.parameters());
    const given = { state: options.stateScript ?? null, request: options.requestScript ?? null };
    return reading.read((at) => {
      const ground = new CageTxGround(at.pinned.query, network, {
        address: parseAddress(options.address),
        parameters,
        nowMs: BigInt(clock()),
        units: options.units,
        script: (_hash, what) => given[what],
      });
      return body(ground, at);
    });
  }
}

function wantedOf({ requests = [] }: TakeOptions): readonly string[] {
  return requests;
}

/** `policy` undefined: there must be one only, of v2. Throws USAGE. */
function deploymentOf({ deployments }: PinnedCages, policy: string | undefined): CageDeployment {
  const known = deployments.filter(({ version }) => (policy === undefined ? version === 'v2' : version !== 'v1'));
  const found = known.filter(({ stateScriptHash }) => policy === undefined || toHex(stateScriptHash) === policy);
  if (found.length === 1) return found[0];
  const names = known.map(({ stateScriptHash }) => toHex(stateScriptHash)).join(', ') || 'none';
  throw new UnspentError('USAGE', `which cage? The store follows these: ${names}`);
}
