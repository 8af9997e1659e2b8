/**
 * Which outputs are a wallet's own. An output is of an address if it has the
 * address's script, or if it is a bare multisig script with the address's public
 * key among its keys. A key that an OP_RETURN merely carries counts for nothing.
 * On Cardano an output is also of the reward address of its stake credential.
 */
import { readScript } from '../../ledgers/bitcoin/script.ts';
import { stakeAddressOf } from '../../ledgers/cardano/address.ts';
import { equalBytes } from '../../util/bytes.ts';
import type { NewTx } from '../store.ts';
import { refusal } from './failures.ts';

/** What of an address decides whether an output is its own. */
export interface OutputOwner {
  readonly script: Uint8Array;
  readonly publicKey: Uint8Array | null;
}

export function isPaidTo(output: Uint8Array, { script, publicKey }: OutputOwner): boolean {
  if (equalBytes(output, script)) return true;
  const stake = stakeAddressOf(output);
  if (stake !== null && equalBytes(stake, script)) return true;
  if (publicKey === null) return false;
  const read = readScript(output);
  return read.kind === 'multisig' && read.keys.some((key) => equalBytes(key, publicKey));
}

/** Every script that `ownersOf` may look up. */
export function ownerScripts({ tx, credits, creditCandidates }: NewTx): Uint8Array[] {
  const scripts: Uint8Array[] = [];
  for (const [index, owner] of credits) scripts.push(owner ?? tx.outputs[index].script);
  for (const [index, candidates] of creditCandidates ?? []) scripts.push(tx.outputs[index].script, ...candidates);
  return scripts;
}

/**
 * The address that owns each credit, in the order of the outputs. `find` gives the wallet's address of a script.
 * Throws ADDRESS_UNKNOWN, and INVALID_PARAM if an output is not paid to the owner that was given.
 */
export function ownersOf<Address extends OutputOwner>(
  { tx, credits, creditCandidates }: NewTx,
  find: (script: Uint8Array) => Address | undefined,
): ReadonlyMap<number, Address> {
  const owners = new Map<number, Address>();
  for (const index of ascending(new Set([...credits.keys(), ...(creditCandidates?.keys() ?? [])]))) {
    const output = tx.outputs[index].script;
    const given = credits.get(index);
    if (given === undefined) {
      const owner = [output, ...(creditCandidates?.get(index) ?? [])].map(find).find((address) => address && isPaidTo(output, address));
      if (owner !== undefined) owners.set(index, owner);
      continue;
    }
    const owner = find(given ?? output);
    if (owner === undefined) throw refusal.addressUnknown(given ?? output);
    if (!isPaidTo(output, owner)) throw refusal.txInvalid(tx.id, `does not pay output ${index} to the owner that is given`);
    owners.set(index, owner);
  }
  return owners;
}

function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b);
}
