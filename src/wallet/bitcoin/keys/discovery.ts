/**
 * How far the scripts of an account are used, without a look at any block: an
 * index of scripts is asked which of them ever had an output. A branch ends
 * where as many scripts in a row as the gap limit were never used (BIP44).
 */
import { assert, isUnspentError, UnspentError } from '../../../util/errors.ts';
import { GAP_LIMIT_DEFAULT, GAP_LIMIT_MAX } from '../../../util/limits.ts';
import type { AddressBranch } from '../../records.ts';
import type { DeriveAddress, NewAddress } from '../../store.ts';
import type { Account } from './account.ts';
import type { DerivedScript } from './derived-script.ts';
import { HARDENED } from './key-path.ts';

/** Which of these scripts ever had an output: an answer for each, in their order. */
export type FindUsedScripts = (scripts: readonly Uint8Array[]) => Promise<readonly boolean[]>;

/** How far a branch is used. */
export interface BranchHorizon {
  readonly branch: AddressBranch;
  /** The highest index with a used script; null: there is none. */
  readonly lastUsed: number | null;
  /** The index that the next address is to be taken from. */
  readonly nextIndex: number;
  /** The highest index that has to be watched: the gap limit behind the last used one. */
  readonly watchIndex: number;
}

export interface DiscoveryOptions {
  /** Default 20. */
  readonly gapLimit?: number;
  /** Indexes below this are known to be used or given out: the search begins there. Default 0. */
  readonly from?: Partial<Record<AddressBranch, number>>;
}

/** The horizons of an account, the external branch first. Throws USAGE, and what `findUsed` throws. */
export async function discover(account: Account, findUsed: FindUsedScripts, options: DiscoveryOptions = {}): Promise<BranchHorizon[]> {
  const { gapLimit = GAP_LIMIT_DEFAULT, from = {} } = options;
  if (!Number.isInteger(gapLimit) || gapLimit < 1 || gapLimit > GAP_LIMIT_MAX) {
    throw new UnspentError('USAGE', `a gap limit is 1 to ${GAP_LIMIT_MAX}, got ${gapLimit}`, { gapLimit });
  }
  const branches: readonly AddressBranch[] = account.change === null ? [0] : [0, 1];
  const horizons: BranchHorizon[] = [];
  for (const branch of branches) horizons.push(await discoverBranch(account, branch, findUsed, gapLimit, from[branch] ?? 0));
  return horizons;
}

async function discoverBranch(
  account: Account,
  branch: AddressBranch,
  findUsed: FindUsedScripts,
  gapLimit: number,
  from: number,
): Promise<BranchHorizon> {
  const indexes = account.descriptor(branch).isRanged ? HARDENED : 1;
  let lastUsed = from === 0 ? null : from - 1;
  for (let next = from; next < indexes; ) {
    const end = Math.min(indexes, (lastUsed ?? -1) + 1 + gapLimit);
    if (next >= end) break;
    const scripts = scriptsBetween(account, branch, next, end);
    const used = await findUsed(scripts.map(({ script }) => script));
    assert(used.length === scripts.length, `${used.length} answers for ${scripts.length} scripts`);
    const last = scripts.findLast((_script, i) => used[i]);
    if (last !== undefined) lastUsed = last.index;
    next = end;
  }
  const nextIndex = indexes === 1 ? 0 : firstIndex(account, branch, (lastUsed ?? -1) + 1);
  return { branch, lastUsed, nextIndex, watchIndex: Math.min(indexes - 1, (lastUsed ?? -1) + gapLimit) };
}

/** Indexes of which BIP32 has no key have no scripts. */
function scriptsBetween(account: Account, branch: AddressBranch, start: number, end: number): DerivedScript[] {
  const scripts: DerivedScript[] = [];
  for (let index = start; index < end; index++) scripts.push(...(deriveIfAny(account, branch, index) ?? []));
  return scripts;
}

/** The first index from there on that has a script. Throws DERIVATION_FAILED behind the last one. */
export function firstIndex(account: Account, branch: AddressBranch, from: number): number {
  for (let index = from; ; index++) if (deriveIfAny(account, branch, index) !== null) return index;
}

/** The scripts at an index; null: BIP32 has no key there. */
export function deriveIfAny(account: Account, branch: AddressBranch, index: number): DerivedScript[] | null {
  try {
    return account.derive(branch, index);
  } catch (error) {
    if (isUnspentError(error, 'DERIVATION_FAILED') && error.meta['reason'] === 'no-key') return null;
    throw error;
  }
}

/**
 * The addresses of an account as stores take them. Throws DESCRIPTOR_INVALID where
 * an index has several scripts (`combo`: see `splitCombo`), or one of a kind that
 * stores do not tell apart.
 */
export function addressesOf(account: Account): DeriveAddress {
  return (branch, index) => {
    const derived = deriveIfAny(account, branch, index);
    return derived === null ? null : toAddress(derived);
  };
}

function toAddress([first, ...others]: readonly DerivedScript[]): NewAddress {
  const { script, kind, keys } = first;
  if (others.length > 0 || kind === 'other') {
    const message = 'an account has one script of a known kind at each index';
    throw new UnspentError('DESCRIPTOR_INVALID', message, { kind, scripts: 1 + others.length });
  }
  return { script, kind, publicKey: keys.length === 1 ? keys[0].publicKey : undefined };
}
