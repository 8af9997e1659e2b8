/**
 * An account: the descriptor of the scripts that others pay to (branch 0), and
 * that of change (branch 1). They are written as one descriptor with `<0;1>`, or
 * as two. From a master key, the accounts that wallets agree on (BIP44, 49, 84, 86).
 */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { AddressBranch } from '../../records.ts';
import type { DerivedScript } from './derived-script.ts';
import { type Descriptor, type DescriptorOptions, parseDescriptor } from './descriptor.ts';
import { descendantKey, type HDKey } from './extended-key.ts';
import { formatFingerprint, formatStep, HARDENED } from './key-path.ts';

export class Account {
  readonly external: Descriptor;
  /** Null: change goes to the external branch too, as with a single address. */
  readonly change: Descriptor | null;

  constructor(external: Descriptor, change: Descriptor | null) {
    this.external = external;
    this.change = change;
  }

  /** Throws DERIVATION_FAILED. */
  derive(branch: AddressBranch, index: number): DerivedScript[] {
    return this.descriptor(branch)
      .derive(0, index)
      .map((script) => ({ ...script, branch }));
  }

  descriptor(branch: AddressBranch): Descriptor {
    const descriptor = branch === 0 ? this.external : this.change;
    if (descriptor !== null) return descriptor;
    throw new UnspentError('DERIVATION_FAILED', 'the account has no descriptor for change', { reason: 'branch', branch });
  }
}

/** An account from one descriptor, which may have two branches, or from two that have none. Throws DESCRIPTOR_INVALID. */
export function parseAccount(network: BitcoinNetwork, external: string, change?: string, options: DescriptorOptions = {}): Account {
  const first = parseDescriptor(network, external, options);
  if (change === undefined) {
    if (first.branchCount > 2) throw twoBranches(first);
    return first.branchCount === 2 ? new Account(first.branch(0), first.branch(1)) : new Account(first, null);
  }
  const second = parseDescriptor(network, change, options);
  for (const descriptor of [first, second]) if (descriptor.branchCount > 1) throw twoBranches(descriptor);
  return new Account(first, second);
}

function twoBranches({ branchCount }: Descriptor): UnspentError {
  const message = `an account has one descriptor of at most two branches, or two of one each; this one has ${branchCount}`;
  return new UnspentError('DESCRIPTOR_INVALID', message, { branches: branchCount });
}

/** What `combo` stands for; the first is the one that addresses are given out of. */
const COMBO_KINDS = [
  ['wpkh', (key: string): string => `wpkh(${key})`],
  ['sh(wpkh)', (key: string): string => `sh(wpkh(${key}))`],
  ['pkh', (key: string): string => `pkh(${key})`],
  ['pk', (key: string): string => `pk(${key})`],
] as const;

export interface NamedAccount {
  /** The kind of its scripts, where it is one of several; empty: it is the only one, or the first. */
  readonly kind: string;
  readonly account: Account;
}

/**
 * An index of an account has one script, and one of `combo` has up to four: so it becomes an account for each kind of
 * script. A key of 65 bytes has no segwit scripts. Any other account is itself. Throws DESCRIPTOR_INVALID where only one
 * of two branches is a `combo`.
 */
export function splitCombo(network: BitcoinNetwork, account: Account): readonly NamedAccount[] {
  const branches = account.change === null ? [account.external] : [account.external, account.change];
  const keys = branches.map((branch) => /^combo\((.*)\)#/.exec(`${branch}`)?.[1]);
  if (keys.every((key) => key === undefined)) return [{ kind: '', account }];
  const [external, change] = keys;
  if (external === undefined || (account.change !== null && change === undefined)) {
    throw new UnspentError('DESCRIPTOR_INVALID', 'a combo goes together with another combo for change');
  }
  const hasSegwit = account.external.isRanged || account.derive(0, 0).length === COMBO_KINDS.length;
  const kinds = hasSegwit ? COMBO_KINDS : COMBO_KINDS.slice(2);
  return kinds.map(([kind, text], i) => ({
    kind: i === 0 ? '' : kind,
    account: parseAccount(network, text(external), change === undefined ? undefined : text(change)),
  }));
}

const PURPOSES = {
  44: (key: string): string => `pkh(${key})`,
  49: (key: string): string => `sh(wpkh(${key}))`,
  84: (key: string): string => `wpkh(${key})`,
  86: (key: string): string => `tr(${key})`,
} as const;

/** The first step of the path, which says what scripts an account has. */
export type AccountPurpose = keyof typeof PURPOSES;

export interface AccountPath {
  readonly purpose: AccountPurpose;
  /** From 0 on. */
  readonly account: number;
}

/** The descriptor of an account below a master key, without private keys. Throws DERIVATION_FAILED. */
export function accountDescriptor(network: BitcoinNetwork, master: HDKey, { purpose, account }: AccountPath): string {
  if (!Number.isInteger(account) || account < 0 || account >= HARDENED) {
    throw new UnspentError('DERIVATION_FAILED', `an account is a number from 0 to ${HARDENED - 1}, got ${account}`, {
      reason: 'index',
      account,
    });
  }
  const path = [purpose, network.keys.coinType, account].map((step) => step + HARDENED);
  const key = descendantKey(master, path);
  const origin = [formatFingerprint(master.fingerprint), ...path.map(formatStep)].join('/');
  const text = PURPOSES[purpose](`[${origin}]${key.publicExtendedKey}/<0;1>/*`);
  key.wipePrivateData();
  return parseDescriptor(network, text).toString();
}
