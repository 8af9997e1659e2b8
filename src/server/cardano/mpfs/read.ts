/**
 * What the MPFS API says, from one query: tokens and their outputs with proofs
 * from the tree over the unspent set, in the names that clients of that API
 * know. Every part of an answer is of the block that `snapshot` names.
 *
 * Proofs need `proofs.csmt`; without it such an answer is UNSUPPORTED, and says so.
 */
import {
  type CageDeployment,
  type CageOperation,
  type CageRequest,
  type CageVersion,
  decodeCageDatum,
} from '../../../ledgers/cardano/cage/index.ts';
import { describeOutput } from '../../../ledgers/cardano/describe.ts';
import type { CardanoNetwork } from '../../../ledgers/cardano/index.ts';
import { slotToTime } from '../../../ledgers/cardano/time.ts';
import type { Outpoint } from '../../../ledgers/outpoint.ts';
import { cageColumns } from '../../../projections/cardano/cage/rows.ts';
import { csmt } from '../../../proofs/index.ts';
import type { CageQuery, CageToken } from '../../../query/cardano/cage.ts';
import { needRequestScript } from '../../../query/cardano/cage-tx/ground.ts';
import { TrieTrial } from '../../../query/cardano/trie-trial.ts';
import { type Provable, Prover } from '../../../query/proofs.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes, fromHex, isHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { HTTP_PROOF_OUTPUTS_MAX } from '../../../util/limits.ts';

export interface RefJson {
  readonly tx_id: string;
  readonly tx_ix: number;
}

export interface UtxoJson {
  readonly utxo: { readonly tx_in: RefJson; readonly tx_out: string; readonly utxo_proof: string };
}

export interface SetJson {
  readonly entries: readonly { readonly ref: RefJson; readonly txout_cbor: string }[];
  readonly completeness_proof: string;
}

export interface SnapshotJson {
  /** Null: of the empty tree. */
  readonly utxo_root: string | null;
  /** Null: before the first block. */
  readonly chainpoint: { readonly slot: number; readonly block_id: string } | null;
}

/** Newest first: a name without its policy means the token of the newest version. */
const VERSIONS: readonly CageVersion[] = ['v2', 'v1', 'v0'];
const POLICY_DIGITS = 56;
const NAME_DIGITS_MAX = 64;
/** CIP-19: an address without a stake part whose payment part is a script. */
const SCRIPT_ADDRESS = 0x70;

export class CageRead {
  readonly query: Query;
  readonly cage: CageQuery;
  readonly network: CardanoNetwork;
  private readonly prover: Prover;

  constructor(query: Query, network: CardanoNetwork, provable: Provable) {
    this.query = query;
    this.network = network;
    this.cage = query.cage();
    this.prover = new Prover(query, query, provable);
  }

  /** Throws UNSUPPORTED when the store keeps no tree. */
  snapshot(): SnapshotJson {
    const { head } = this.query;
    return {
      utxo_root: this.prover.csmtRoot(),
      chainpoint: head === null ? null : { slot: head.slot, block_id: toHex(head.hash) },
    };
  }

  /** POSIX milliseconds of the newest block: phases are told at its time, so that one block gives one answer. */
  get nowMs(): bigint {
    const { head } = this.query;
    return head === null ? 0n : BigInt(Math.round(1000 * slotToTime(this.network, head.slot)));
  }

  /** The deployment of a policy, or the one of the newest version. Throws NOT_FOUND. */
  deployment(policy?: string): CageDeployment {
    const followed = this.cage.deployments();
    const wanted = VERSIONS.flatMap((version) => followed.filter((each) => each.version === version));
    const found = policy === undefined ? wanted[0] : followed.find(({ stateScriptHash }) => toHex(stateScriptHash) === policy);
    if (found !== undefined) return found;
    throw new UnspentError('NOT_FOUND', policy === undefined ? 'no cage is followed yet' : `no cage with the policy ${policy} is followed`);
  }

  /** The deployment of a version. Throws NOT_FOUND. */
  deploymentOf(version: CageVersion): CageDeployment {
    const found = this.cage.deployments().find((each) => each.version === version);
    if (found !== undefined) return found;
    throw new UnspentError('NOT_FOUND', `no cage of ${version} is followed (cage.deployments)`, { setting: 'cage.deployments' });
  }

  /** By the name of its asset in hex, or by policy and name joined. Throws USAGE, NOT_FOUND. */
  token(id: string, only: readonly CageVersion[] = VERSIONS): CageToken {
    if (!isHex(id) || id.length > POLICY_DIGITS + NAME_DIGITS_MAX) {
      throw new UnspentError('USAGE', 'a token is the name of its asset in hex, or its policy and that name joined', { field: 'id' });
    }
    const joined = id.length > NAME_DIGITS_MAX;
    const name = fromHex(joined ? id.slice(POLICY_DIGITS) : id);
    const policies = this.cage.deployments().filter(({ version, stateScriptHash }) => {
      return only.includes(version) && (!joined || toHex(stateScriptHash) === id.slice(0, POLICY_DIGITS).toLowerCase());
    });
    for (const version of only) {
      for (const { stateScriptHash: policy } of policies.filter((each) => each.version === version)) {
        const token = this.cage.token({ policy, name });
        if (token !== null) return token;
      }
    }
    throw new UnspentError('NOT_FOUND', `there is no token ${id.toLowerCase()}, or no longer`);
  }

  /** The output that holds a token, with its proof. */
  state(token: CageToken): UtxoJson {
    return this.output(token);
  }

  /** An unspent output with its proof. Throws NOT_FOUND. */
  output({ txId, index }: Outpoint): UtxoJson {
    const { claim, proof } = this.prover.outpoint(txId, index, 'csmt');
    return {
      utxo: {
        tx_in: refJson({ txId, index }),
        tx_out: toHex(claim.txOut),
        utxo_proof: toHex(csmt.encodeInclusion(proof as csmt.InclusionProof)),
      },
    };
  }

  /** All unspent outputs of an address, with the proof that they are all. Throws LIMIT. */
  allAt(address: Uint8Array): SetJson {
    const owner = { hash: csmt.ownerOfAddress(address), bytes: address };
    const { claim, proof } = this.prover.address(owner, HTTP_PROOF_OUTPUTS_MAX);
    return {
      entries: claim.outputs.map(({ txOut, ...outpoint }) => ({ ref: refJson(outpoint), txout_cbor: toHex(txOut) })),
      completeness_proof: toHex(csmt.encodeCompleteness(proof)),
    };
  }

  /** The address of a script, without a stake part. */
  scriptAddress(hash: Uint8Array): Uint8Array {
    return Uint8Array.of(SCRIPT_ADDRESS | this.network.addressNetworkId, ...hash);
  }

  /** Where requests for a token belong. Throws UNSUPPORTED when the deployment does not say. */
  requestAddress({ requestScript, id }: CageToken): Uint8Array {
    return this.scriptAddress(needRequestScript(requestScript, id.name));
  }

  /** Operations tried on top of a token's trie. Throws TRIE_DIVERGED. */
  trial(token: CageToken): TrieTrial {
    return new TrieTrial(this.query.rowsOf(cageColumns.map(({ name }) => name)), this.cage, token);
  }

  /** The request in an output, if it is one for this token in the form of its version. */
  requestFor(token: CageToken, txOut: string): CageRequest | null {
    const { inlineDatum } = describeOutput(fromHex(txOut));
    const datum = inlineDatum === null ? null : decodeCageDatum(inlineDatum);
    if (datum?.type !== 'request' || !equalBytes(datum.request.token, token.id.name)) return null;
    return (datum.request.terms === null) === (token.version === 'v0') ? datum.request : null;
  }
}

export function refJson({ txId, index }: Outpoint): RefJson {
  return { tx_id: toHex(txId), tx_ix: index };
}

export function operationJson(operation: CageOperation): object {
  if (operation.type === 'update') return { type: 'update', old_value: toHex(operation.before), new_value: toHex(operation.after) };
  return { type: operation.type, [operation.type === 'insert' ? 'new_value' : 'old_value']: toHex(operation.value) };
}
