/**
 * What a transaction of a cage is built on: the payer's coins, the outputs that
 * it spends, the scripts and the ledger's parameters. Everything of the chain is
 * read from one query, so at one block.
 */
import { blake2b224 } from '../../../crypto/hash.ts';
import { type CageDeployment, type ChainMoment, plutusV3Hash, requestScriptCode } from '../../../ledgers/cardano/cage/index.ts';
import { readScriptRef } from '../../../ledgers/cardano/describe.ts';
import { type CardanoNetwork, describeOutput, type OutRef, readAddress } from '../../../ledgers/cardano/index.ts';
import type { ExecutionUnits, ProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { slotAtMs } from '../../../ledgers/cardano/time.ts';
import { outpointText, parseOutpoint } from '../../../ledgers/outpoint.ts';
import { concatBytes, equalBytes, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { PAYER_OUTPUTS_MAX } from '../../../util/limits.ts';
import type { Query } from '../../query.ts';
import type { CageQuery, CageToken } from '../cage.ts';
import type { Coin, Payer, PlannedInput, TransactionPlan } from './balance.ts';

/** What the builder cannot know from the chain. */
export interface TxTerms {
  /** Of the payer: its coins pay, its key signs, the change goes there. */
  readonly address: Uint8Array;
  readonly parameters: ProtocolParameters;
  /** POSIX milliseconds at which phases are told. */
  readonly nowMs: bigint;
  /** What each script may use. Left out: the scripts of a transaction share what it may use at most. */
  readonly units?: ExecutionUnits | undefined;
  /** Compiled code of a script by its hash, or the output (`TXID#INDEX`) that carries it; null: not known. */
  script(hash: Uint8Array, what: 'state' | 'request'): Uint8Array | string | null;
}

type ScriptParts = Required<Pick<TransactionPlan, 'scripts' | 'references' | 'referenceScriptBytes'>>;

export class CageTxGround {
  readonly query: Query;
  readonly cages: CageQuery;
  readonly network: CardanoNetwork;
  readonly terms: TxTerms;
  readonly payer: Payer;

  /** Throws USAGE when the address is not that of a key. */
  constructor(query: Query, network: CardanoNetwork, terms: TxTerms) {
    this.query = query;
    this.cages = query.cage();
    this.network = network;
    this.terms = terms;
    const { address } = terms;
    const { payment } = readAddress(address);
    if (payment?.kind !== 'key') throw new UnspentError('USAGE', `${toHex(address)} is not the address of a key, and so cannot pay`);
    this.payer = { address, keyHash: payment.hash, coins: this.coinsAt(address) };
  }

  /** Where the chain is, for intervals. */
  get moment(): ChainMoment {
    const headSlot = this.query.head?.slot ?? 0;
    return { headSlot, nowSlot: Math.max(headSlot, slotAtMs(this.network, this.terms.nowMs)) };
  }

  /** Of the oldest outputs, where there are very many. */
  private coinsAt(address: Uint8Array): readonly Coin[] {
    return Array.from(this.query.byKey('address', blake2b224(address), { limit: PAYER_OUTPUTS_MAX })).flatMap(({ txId, index, output }) => {
      const { lovelace, assets, datumHash, inlineDatum, scriptRef } = describeOutput(output.raw);
      const isPlain = assets.length === 0 && datumHash === null && inlineDatum === null && scriptRef === null;
      return isPlain ? [{ txId, index, lovelace }] : [];
    });
  }

  /** An unspent output. Throws NOT_FOUND. */
  output({ txId, index }: OutRef): ReturnType<typeof describeOutput> {
    const found = this.query.outpoint(txId, index);
    if (found === null || found.spent !== null) {
      const ref = outpointText({ txId, index });
      throw new UnspentError('NOT_FOUND', `${ref} is not unspent`, { ref });
    }
    return describeOutput(found.output.raw);
  }

  /** An unspent output as an input that a script guards. */
  input({ txId, index }: OutRef, redeemer: Uint8Array): PlannedInput {
    const { lovelace, assets } = this.output({ txId, index });
    return { txId, index, redeemer, lovelace, assets };
  }

  /** The deployment with this policy. Throws NOT_FOUND. */
  deployment(policy: Uint8Array): CageDeployment {
    const found = this.cages.deployments().find(({ stateScriptHash }) => equalBytes(stateScriptHash, policy));
    if (found === undefined) throw new UnspentError('NOT_FOUND', `no cage with the policy ${toHex(policy)} is followed`);
    return found;
  }

  needOwner(owner: Uint8Array, what: string): void {
    const { keyHash } = this.payer;
    if (equalBytes(owner, keyHash)) return;
    throw new UnspentError('USAGE', `${what} belongs to the key ${toHex(owner)}, and the payer is ${toHex(keyHash)}`);
  }

  scriptAddress(hash: Uint8Array): Uint8Array {
    return enterpriseAddress(SCRIPT_ADDRESS, hash, this.network.addressNetworkId);
  }

  keyAddress(hash: Uint8Array): Uint8Array {
    return enterpriseAddress(KEY_ADDRESS, hash, this.network.addressNetworkId);
  }

  /** The state script, for a transaction that carries or names it. Throws UNSUPPORTED where it is not known, USAGE where it is another. */
  stateScript(policy: Uint8Array): ScriptParts {
    return this.parts('state', policy, this.terms.script(policy, 'state'));
  }

  /** The script that guards requests for a token: before v2 the state script. Throws UNSUPPORTED, USAGE. */
  requestScript({ requestScript, id }: CageToken): ScriptParts {
    const hash = needRequestScript(requestScript, id.name);
    if (equalBytes(hash, id.policy)) return this.stateScript(hash);
    const given = this.terms.script(hash, 'request') ?? requestScriptCode(this.deployment(id.policy), id.name);
    return this.parts('request', hash, given);
  }

  private parts(what: 'state' | 'request', hash: Uint8Array, given: Uint8Array | string | null): ScriptParts {
    if (given === null) {
      const message = `the ${what} script ${toHex(hash)} is needed, and its code is not known`;
      throw new UnspentError('UNSUPPORTED', message, { script: toHex(hash), what });
    }
    if (typeof given !== 'string') {
      needScript(what, hash, plutusV3Hash(given));
      return { scripts: [given], references: [], referenceScriptBytes: 0 };
    }
    const ref = parseOutpoint(given);
    const { scriptHash, scriptRef } = this.output(ref);
    needScript(what, hash, scriptHash);
    return { scripts: [], references: [ref], referenceScriptBytes: readScriptRef(scriptRef!).script.length };
  }
}

/** Of several scripts, each once. */
export function joinScripts(...parts: readonly ScriptParts[]): ScriptParts {
  const scripts = new Map(parts.flatMap((part) => part.scripts).map((code) => [toHex(code), code]));
  const references = new Map<string, { readonly ref: OutRef; readonly bytes: number }>();
  for (const part of parts) for (const ref of part.references) references.set(outpointText(ref), { ref, bytes: part.referenceScriptBytes });
  const all = [...references.values()];
  return {
    scripts: [...scripts.values()],
    references: all.map(({ ref }) => ref),
    referenceScriptBytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Throws UNSUPPORTED when the deployment does not say where requests belong. */
export function needRequestScript(hash: Uint8Array | null, token: Uint8Array): Uint8Array {
  if (hash !== null) return hash;
  const message = `where requests for the token ${toHex(token)} belong is not known: its request program is not in cage.deployments`;
  throw new UnspentError('UNSUPPORTED', message, { setting: 'cage.deployments' });
}

function needScript(what: string, wanted: Uint8Array, found: Uint8Array | null): void {
  if (found !== null && equalBytes(found, wanted)) return;
  const given = found === null ? 'that output carries none' : `the given one has ${toHex(found)}`;
  throw new UnspentError('USAGE', `the ${what} script has the hash ${toHex(wanted)}; ${given}`);
}

/** CIP-19: headers of addresses without a stake part. */
const KEY_ADDRESS = 0x60;
const SCRIPT_ADDRESS = 0x70;

function enterpriseAddress(header: number, hash: Uint8Array, networkId: number): Uint8Array {
  return concatBytes(Uint8Array.of(header | networkId), hash);
}
