/**
 * Outputs of the cage protocol as a verifier reads them: from the bytes that a
 * leaf of the tree over the unspent set stands for, and from nothing else. The
 * script of an output is the payment part of its address; the stake part is free.
 */
import type { AssetId } from '../../../ledgers/asset.ts';
import { type CageRequest, type CageState, decodeCageDatum } from '../../../ledgers/cardano/cage/datum.ts';
import { type DescribedOutput, describeOutput } from '../../../ledgers/cardano/describe.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import type { Outpoint, UtxoEntry } from '../../csmt/utxo.ts';
import { check } from '../../verdict.ts';

/** A kind of network: it stands in addresses. */
export type CageNetwork = 'mainnet' | 'testnet';

/** An output that holds a token, with its state. */
export interface StateOutput extends Outpoint {
  /** The asset name of the token. */
  readonly token: Uint8Array;
  /** What its datum says. */
  readonly state: CageState;
}

/** An output that asks for a change of a token's trie. */
export interface RequestOutput extends Outpoint {
  /** What its datum says. */
  readonly request: CageRequest;
  /** What it holds. */
  readonly lovelace: bigint;
}

const SCRIPT_HASH_BYTES = 28;
/** CIP-19: an address without a stake part whose payment part is a script; the low half is the network. */
const SCRIPT_ADDRESS = 0x70;
const STAKE_ADDRESSES = 8;

/** The address of a script, without a stake part. */
export function scriptAddress(scriptHash: Uint8Array, network: CageNetwork): Uint8Array {
  const address = new Uint8Array(1 + scriptHash.length);
  address[0] = SCRIPT_ADDRESS | (network === 'mainnet' ? 1 : 0);
  address.set(scriptHash, 1);
  return address;
}

/** Inside `verdictOf` only: bytes that are no output are refused. */
export function readEntry({ txOut }: UtxoEntry): DescribedOutput {
  try {
    return describeOutput(txOut);
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    check(false, `the bytes are not an output: ${error.message}`);
  }
}

/** The state in an output of this policy; null: it is at another script, holds no token or more than one, or its datum is no state. */
export function stateIn({ address, assets, inlineDatum }: DescribedOutput, policy: Uint8Array): Omit<StateOutput, keyof Outpoint> | null {
  const held: readonly (AssetId & { readonly quantity: bigint })[] = assets.filter(
    (asset) => asset.quantity !== 0n && equalBytes(asset.policy, policy),
  );
  if (!isAtScript(address, policy) || held.length !== 1 || held[0].quantity !== 1n) return null;
  const datum = inlineDatum === null ? null : decodeCageDatum(inlineDatum);
  return datum?.type === 'state' ? { token: held[0].name, state: datum.state } : null;
}

/** The request in an output; null: there is none. */
export function requestIn({ lovelace, inlineDatum }: DescribedOutput): Omit<RequestOutput, keyof Outpoint> | null {
  const datum = inlineDatum === null ? null : decodeCageDatum(inlineDatum);
  return datum?.type === 'request' ? { request: datum.request, lovelace } : null;
}

/** CIP-19: types below eight are payment addresses, the odd ones of them are of scripts. */
function isAtScript(address: Uint8Array, scriptHash: Uint8Array): boolean {
  const type = address[0] >> 4;
  if (address.length <= SCRIPT_HASH_BYTES || type >= STAKE_ADDRESSES || type % 2 === 0) return false;
  return equalBytes(address.subarray(1, 1 + SCRIPT_HASH_BYTES), scriptHash);
}
