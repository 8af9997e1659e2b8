/**
 * Certificates of transactions, decoded when somebody wants to read them: what
 * they register, retire or delegate. A transaction that is described keeps the
 * bytes of each (`DescribedTx.certificates`).
 *
 * CDDL: conway.cddl, `certificate`; kinds 5 and 6 are of the eras before it.
 */
import { Cursor, MAP } from '../../util/cbor.ts';
import type { CborWriter } from '../../util/cbor-write.ts';
import type { Credential } from './address.ts';
import { enterSet } from './describe.ts';
import { type Ratio, readRatio } from './protocol-parameters.ts';

const KEY_CREDENTIAL = 0;
const SCRIPT_CREDENTIAL = 1;
const ABSTAIN = 2;
const NO_CONFIDENCE = 3;

/** Whom the votes of a stake are delegated to: somebody, or always the same vote. */
export type DrepChoice =
  | { readonly kind: 'registered'; readonly credential: Credential }
  | { readonly kind: 'abstain' }
  | { readonly kind: 'noConfidence' };

/** A document elsewhere. */
export interface Anchor {
  readonly url: string;
  readonly hash: Uint8Array;
}

export type PoolRelay =
  | { readonly kind: 'address'; readonly port: number | null; readonly ipv4: Uint8Array | null; readonly ipv6: Uint8Array | null }
  | { readonly kind: 'name'; readonly port: number | null; readonly name: string };

export interface PoolRegistration {
  /** The hash of its cold key. */
  readonly pool: Uint8Array;
  readonly vrfKeyHash: Uint8Array;
  readonly pledge: bigint;
  readonly cost: bigint;
  readonly margin: Ratio;
  /** The address that its rewards go to. */
  readonly rewardAccount: Uint8Array;
  /** Hashes of the stake keys of its owners. */
  readonly owners: readonly Uint8Array[];
  readonly relays: readonly PoolRelay[];
  readonly metadata: Anchor | null;
}

export type Certificate =
  /** `deposit`: what it says it pays or gets back; null: it does not say. */
  | { readonly kind: 'registration'; readonly credential: Credential; readonly deposit: bigint | null }
  | { readonly kind: 'deregistration'; readonly credential: Credential; readonly deposit: bigint | null }
  /** `deposit`: the credential is registered by the same certificate. */
  | {
      readonly kind: 'delegation';
      readonly credential: Credential;
      readonly pool: Uint8Array | null;
      readonly drep: DrepChoice | null;
      readonly deposit: bigint | null;
    }
  | { readonly kind: 'poolRegistration'; readonly registration: PoolRegistration }
  | { readonly kind: 'poolRetirement'; readonly pool: Uint8Array; readonly epoch: bigint }
  | { readonly kind: 'genesisDelegation'; readonly genesis: Uint8Array; readonly delegate: Uint8Array; readonly vrfKeyHash: Uint8Array }
  /** Rewards from reserves or treasury, before Conway: to these credentials, or as a whole to the other one of the two. */
  | {
      readonly kind: 'instantRewards';
      readonly from: 'reserves' | 'treasury';
      readonly rewards: readonly { readonly credential: Credential; readonly lovelace: bigint }[];
      readonly otherPot: bigint;
    }
  | { readonly kind: 'committeeDelegation'; readonly cold: Credential; readonly hot: Credential }
  | { readonly kind: 'committeeRetirement'; readonly cold: Credential; readonly metadata: Anchor | null }
  | { readonly kind: 'drepRegistration'; readonly credential: Credential; readonly deposit: bigint; readonly metadata: Anchor | null }
  | { readonly kind: 'drepRetirement'; readonly credential: Credential; readonly deposit: bigint }
  | { readonly kind: 'drepUpdate'; readonly credential: Credential; readonly metadata: Anchor | null };

/** Throws BLOCK_INVALID with the position. */
export function readCertificate(bytes: Uint8Array): Certificate {
  const c = new Cursor(bytes);
  const fields = c.array();
  const kind = c.uint();
  const certificate = readStake(c, kind) ?? readPool(c, kind) ?? readGovernance(c, kind) ?? c.fail(`a certificate of unknown kind ${kind}`);
  c.close(fields);
  if (c.at !== bytes.length) c.fail('bytes after the end of the certificate');
  return certificate;
}

/** What stands behind the kind; null: it is none of stake credentials. */
function readStake(c: Cursor, kind: number): Certificate | null {
  if (kind === 0 || kind === 7) return { kind: 'registration', credential: readCredential(c), deposit: kind === 7 ? c.bigUint() : null };
  if (kind === 1 || kind === 8) return { kind: 'deregistration', credential: readCredential(c), deposit: kind === 8 ? c.bigUint() : null };
  if (kind !== 2 && (kind < 9 || kind > 13)) return null;
  const credential = readCredential(c);
  const pool = kind === 9 || kind === 12 ? null : c.byteString();
  const drep = kind === 2 || kind === 11 ? null : readDrep(c);
  return { kind: 'delegation', credential, pool, drep, deposit: kind >= 11 ? c.bigUint() : null };
}

function readPool(c: Cursor, kind: number): Certificate | null {
  if (kind === 3) return { kind: 'poolRegistration', registration: readRegistration(c) };
  if (kind === 4) return { kind: 'poolRetirement', pool: c.byteString(), epoch: c.bigUint() };
  return null;
}

function readGovernance(c: Cursor, kind: number): Certificate | null {
  switch (kind) {
    case 5:
      return { kind: 'genesisDelegation', genesis: c.byteString(), delegate: c.byteString(), vrfKeyHash: c.byteString() };
    case 6:
      return readInstantRewards(c);
    case 14:
      return { kind: 'committeeDelegation', cold: readCredential(c), hot: readCredential(c) };
    case 15:
      return { kind: 'committeeRetirement', cold: readCredential(c), metadata: readAnchor(c) };
    case 16:
      return { kind: 'drepRegistration', credential: readCredential(c), deposit: c.bigUint(), metadata: readAnchor(c) };
    case 17:
      return { kind: 'drepRetirement', credential: readCredential(c), deposit: c.bigUint() };
    case 18:
      return { kind: 'drepUpdate', credential: readCredential(c), metadata: readAnchor(c) };
    default:
      return null;
  }
}

/** CDDL: alonzo.cddl, `move_instantaneous_reward = [0 / 1, {* stake_credential => delta_coin} / coin]`. */
function readInstantRewards(c: Cursor): Certificate {
  const fields = c.tuple(2, 'a move of rewards');
  const from = c.uint() === 0 ? 'reserves' : 'treasury';
  const rewards: { credential: Credential; lovelace: bigint }[] = [];
  let otherPot = 0n;
  if (c.peek() === MAP) {
    for (let i = 0, count = c.map(); c.more(count, i); i++) rewards.push({ credential: readCredential(c), lovelace: c.bigInt() });
  } else otherPot = c.bigUint();
  c.close(fields);
  return { kind: 'instantRewards', from, rewards, otherPot };
}

export function readCredential(c: Cursor): Credential {
  const fields = c.tuple(2, 'a credential');
  const kind = c.uint();
  if (kind !== KEY_CREDENTIAL && kind !== SCRIPT_CREDENTIAL) c.fail('a credential is of a key or of a script');
  const credential: Credential = { kind: kind === KEY_CREDENTIAL ? 'key' : 'script', hash: c.byteString() };
  c.close(fields);
  return credential;
}

export function readDrep(c: Cursor): DrepChoice {
  const fields = c.array();
  const kind = c.uint();
  let drep: DrepChoice;
  if (kind === KEY_CREDENTIAL || kind === SCRIPT_CREDENTIAL)
    drep = { kind: 'registered', credential: { kind: kind === KEY_CREDENTIAL ? 'key' : 'script', hash: c.byteString() } };
  else if (kind === ABSTAIN) drep = { kind: 'abstain' };
  else if (kind === NO_CONFIDENCE) drep = { kind: 'noConfidence' };
  else return c.fail('a representative of unknown kind');
  c.close(fields);
  return drep;
}

export function writeCredential(w: CborWriter, { kind, hash }: Credential): CborWriter {
  return w
    .array(2)
    .uint(kind === 'key' ? KEY_CREDENTIAL : SCRIPT_CREDENTIAL)
    .bytes(hash);
}

export function writeDrep(w: CborWriter, drep: DrepChoice): CborWriter {
  if (drep.kind === 'registered') return writeCredential(w, drep.credential);
  return w.array(1).uint(drep.kind === 'abstain' ? ABSTAIN : NO_CONFIDENCE);
}

export function readAnchor(c: Cursor): Anchor | null {
  if (c.nullish()) return null;
  const fields = c.tuple(2, 'an anchor');
  const anchor = { url: c.text(), hash: c.byteString() };
  c.close(fields);
  return anchor;
}

function readRegistration(c: Cursor): PoolRegistration {
  return {
    pool: c.byteString(),
    vrfKeyHash: c.byteString(),
    pledge: c.bigUint(),
    cost: c.bigUint(),
    margin: readRatio(c),
    rewardAccount: c.byteString(),
    owners: readOwners(c),
    relays: readRelays(c),
    metadata: readAnchor(c),
  };
}

function readOwners(c: Cursor): Uint8Array[] {
  const owners: Uint8Array[] = [];
  for (let i = 0, count = enterSet(c); c.more(count, i); i++) owners.push(c.byteString());
  return owners;
}

function readRelays(c: Cursor): PoolRelay[] {
  const relays: PoolRelay[] = [];
  for (let i = 0, count = c.array(); c.more(count, i); i++) {
    const fields = c.array();
    const kind = c.uint();
    const port = kind === 2 || c.nullish() ? null : c.uint();
    if (kind === 0) {
      const ipv4 = c.nullish() ? null : c.byteString();
      relays.push({ kind: 'address', port, ipv4, ipv6: c.nullish() ? null : c.byteString() });
    } else if (kind === 1 || kind === 2) relays.push({ kind: 'name', port, name: c.text() });
    else c.fail('a relay of unknown kind');
    c.close(fields);
  }
  return relays;
}
