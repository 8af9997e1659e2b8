/**
 * What a transaction of a cage is built on: the payer's coins, the token and its
 * requests, the scripts and the ledger's parameters. Everything of the chain is
 * read at one block.
 */
import {
  type CageDeployment,
  decodeCageDatum,
  plutusV3Hash,
  type RequestPhase,
  requestScriptCode,
} from '../../../ledgers/cardano/cage/index.ts';
import { readScriptRef } from '../../../ledgers/cardano/describe.ts';
import { type CardanoNetwork, describeOutput, type OutRef, parseAddress } from '../../../ledgers/cardano/index.ts';
import type { ExecutionUnits, ProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { inLedgerOrder, type TriedRequests } from '../../../query/cardano/trie-trial.ts';
import { equalBytes, fromHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type Coin, lovelaceMin, type Payer } from './balance.ts';
import { type RequestDocument, requestDocument, type TokenDocument, type TokenTerms, tokenDocument } from './documents.ts';
import type { CageReading, PinnedCages } from './pinned.ts';
import type { CageProvider } from './provider.ts';
import { TrieSession } from './session.ts';
import { type BuildOptions, enterpriseAddress, keyHashOf } from './tx-builder.ts';

type TokenWithTerms = TokenDocument & { readonly terms: TokenTerms };

/** What of the scripts goes into a transaction. */
interface ScriptParts {
  readonly scripts: readonly Uint8Array[];
  readonly references: readonly OutRef[];
  readonly referenceScriptBytes: number;
}

export class BuilderGround {
  private readonly network: CardanoNetwork;
  private readonly reading: CageReading;
  private readonly provider: CageProvider;
  private readonly clock: () => number;

  constructor(network: CardanoNetwork, reading: CageReading, provider: CageProvider, clock: () => number) {
    this.network = network;
    this.reading = reading;
    this.provider = provider;
    this.clock = clock;
  }

  /** Runs a body that builds a transaction, with everything of the chain from one snapshot. */
  async build<T>(options: BuildOptions, body: (ground: Ground) => T): Promise<T> {
    const parameters = options.parameters ?? (await this.provider.parameters());
    return this.reading.read((at) => body(new Ground(at, this.network, parameters, options, this.clock())));
  }
}

export class Ground {
  readonly network: CardanoNetwork;
  readonly parameters: ProtocolParameters;
  readonly payer: Payer;
  readonly nowMs: number;
  readonly units: ExecutionUnits | undefined;
  private readonly at: PinnedCages;
  private readonly options: BuildOptions;

  constructor(at: PinnedCages, network: CardanoNetwork, parameters: ProtocolParameters, options: BuildOptions, nowMs: number) {
    this.at = at;
    this.network = network;
    this.parameters = parameters;
    this.options = options;
    this.units = options.units;
    this.nowMs = nowMs;
    const address = parseAddress(options.address);
    this.payer = { address, keyHash: keyHashOf(address, options.address), coins: this.coinsOf(options.address) };
  }

  private coinsOf(address: string): readonly Coin[] {
    const { view, dialect } = this.at.pinned;
    const { kind, key } = dialect.holder(address);
    return Array.from(view.byKey(kind, key)).flatMap(({ txId, index, output }) => {
      const { lovelace, assets, datumHash, inlineDatum, scriptRef } = describeOutput(output.raw);
      const isPlain = assets.length === 0 && datumHash === null && inlineDatum === null && scriptRef === null;
      return isPlain ? [{ txId, index, lovelace }] : [];
    });
  }

  /** Of v2. Throws USAGE, NOT_FOUND, UNSUPPORTED. */
  token(id: string): TokenWithTerms {
    const token = tokenDocument(this.at.need(id));
    const { version, terms } = token;
    if (version !== 'v2' || terms === null)
      throw new UnspentError('UNSUPPORTED', `the token ${token.name} is of ${version}: only transactions of v2 are built`);
    return { ...token, terms };
  }

  /** `policy` undefined: there must be one only. */
  deploymentOf(policy: string | undefined): CageDeployment {
    const known = this.at.deployments.filter(({ version }) => version === 'v2');
    const found = known.filter(({ stateScriptHash }) => policy === undefined || toHex(stateScriptHash) === policy);
    if (found.length === 1) return found[0];
    const names = known.map(({ stateScriptHash }) => toHex(stateScriptHash)).join(', ') || 'none';
    throw new UnspentError('USAGE', `which cage? The store follows these of v2: ${names}`);
  }

  /**
   * Requests of a token in ledger order: those that are asked for, each of which must be in one of the phases (null:
   * any), or all that are. Those too small to be refunded, or with another tip, no script lets through.
   */
  requests(token: TokenWithTerms, refs: readonly string[] | undefined, phases: readonly RequestPhase[] | null): readonly RequestDocument[] {
    const all = Array.from(this.at.cages.requests(this.at.need(token.id), BigInt(this.nowMs)), requestDocument);
    const why = (request: RequestDocument): string | null => {
      if (request.canonical === false) return 'it is not at the script where requests for the token belong';
      if (phases === null) return null;
      if (request.phase === null || !phases.includes(request.phase)) return `its phase is '${request.phase}'`;
      if (request.tip !== token.terms.tip) return `its tip is ${request.tip}, and the token's ${token.terms.tip}`;
      const refund = { address: this.keyAddress(fromHex(request.owner)), lovelace: request.lovelace - token.terms.tip };
      return refund.lovelace < lovelaceMin(refund, this.parameters) ? 'what it holds is too little to pay anything back' : null;
    };
    if (refs === undefined) return inLedgerOrder(all.filter((request) => why(request) === null));
    const chosen = [...new Set(refs)].map((ref) => {
      const request = all.find((each) => each.ref === ref);
      const reason = request === undefined ? 'it does not wait for this token' : why(request);
      if (request === undefined || reason !== null) throw new UnspentError('USAGE', `the request ${ref} cannot be taken: ${reason}`);
      return request;
    });
    return inLedgerOrder(chosen);
  }

  tryRequests(token: TokenDocument, requests: readonly RequestDocument[]): TriedRequests {
    return new TrieSession(this.at, this.at.need(token.id)).applyRequests(requests);
  }

  /** Throws USAGE, NOT_FOUND. */
  requestAt(ref: string): { readonly request: RequestDocument; readonly state: TokenWithTerms } {
    const { inlineDatum } = this.outputAt(ref);
    const datum = inlineDatum === null ? null : decodeCageDatum(inlineDatum);
    if (datum?.type !== 'request') throw new UnspentError('NOT_FOUND', `no request waits at ${ref}`, { ref });
    const state = this.token(toHex(datum.request.token));
    const waiting = Array.from(this.at.cages.requests(this.at.need(state.id), BigInt(this.nowMs)), requestDocument);
    const request = waiting.find((each) => each.ref === ref);
    if (request === undefined) throw new UnspentError('NOT_FOUND', `no request waits at ${ref}`, { ref });
    return { request, state };
  }

  lovelaceAt(ref: string): bigint {
    return this.outputAt(ref).lovelace;
  }

  private outputAt(ref: string): ReturnType<typeof describeOutput> {
    const { txId, index } = parseOutpoint(ref);
    const found = this.at.pinned.view.outpoint(txId, index);
    if (found === null || found.spent !== null) throw new UnspentError('NOT_FOUND', `${ref} is not unspent`, { ref });
    return describeOutput(found.output.raw);
  }

  needOwner(owner: string, what: string): void {
    if (owner !== toHex(this.payer.keyHash))
      throw new UnspentError('USAGE', `${what} belongs to the key ${owner}, and the payer is ${toHex(this.payer.keyHash)}`);
  }

  scriptAddress(hash: Uint8Array): Uint8Array {
    return enterpriseAddress('script', hash, this.network.addressNetworkId);
  }

  keyAddress(hash: Uint8Array): Uint8Array {
    return enterpriseAddress('key', hash, this.network.addressNetworkId);
  }

  /** The scripts that run: in the transaction, or by reference. Throws USAGE where one is not the script it should be. */
  scripts({ state, request }: { readonly state?: CageDeployment; readonly request?: TokenDocument }): ScriptParts {
    const { stateScript, requestScript } = this.options;
    const wanted: { readonly what: string; readonly hash: Uint8Array; readonly given: Uint8Array | string | null }[] = [];
    if (state !== undefined) wanted.push({ what: 'state', hash: state.stateScriptHash, given: stateScript ?? null });
    if (request?.requestScript != null) {
      const made = requestScriptCode(this.deploymentOf(request.policy), fromHex(request.name));
      wanted.push({ what: 'request', hash: fromHex(request.requestScript), given: requestScript ?? made });
    }
    const codes: Uint8Array[] = [];
    const references: OutRef[] = [];
    let referenceScriptBytes = 0;
    for (const { what, hash, given } of wanted) {
      if (given === null)
        throw new UnspentError('USAGE', `the ${what} script is needed: pass its code, or the output that carries it, as ${what}Script`);
      const output = typeof given === 'string' ? this.outputAt(given) : null;
      const found = typeof given === 'string' ? output!.scriptHash : plutusV3Hash(given);
      if (found === null || !equalBytes(found, hash))
        throw new UnspentError(
          'USAGE',
          `the ${what} script has the hash ${toHex(hash)}; ${found === null ? 'that output carries none' : `the given one has ${toHex(found)}`}`,
        );
      if (typeof given === 'string') {
        references.push(parseOutpoint(given));
        referenceScriptBytes += readScriptRef(output!.scriptRef!).script.length;
      } else codes.push(given);
    }
    return { scripts: codes, references, referenceScriptBytes };
  }
}
