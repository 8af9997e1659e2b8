/**
 * Stake accounts as the ledger of a node answers about them: whom each delegates
 * to, what it earned, what was paid to register it; and the pots that rewards
 * come from. Both directions, because the devnet answers as a node does.
 *
 * Source: ouroboros-consensus, Shelley/Ledger/Query.hs, `encodeShelleyResult`.
 */
import { toHex } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import type { Credential } from './address.ts';
import { type DrepChoice, readCredential, readDrep, writeCredential, writeDrep } from './certificates.ts';
import { writeLedgerMap } from './ledger-output.ts';

/** A stake credential that is registered. */
export interface StakeAccount {
  readonly credential: Credential;
  /** The hash of the pool it delegates to; null: none. */
  readonly pool: Uint8Array | null;
  /** Whom its votes go to; null: nobody. */
  readonly drep: DrepChoice | null;
  /** Lovelace that can be withdrawn. */
  readonly rewards: bigint;
  /** Lovelace that was paid to register it. */
  readonly deposit: bigint;
}

/** Lovelace that nobody owns. */
export interface LedgerPots {
  readonly treasury: bigint;
  readonly reserves: bigint;
}

/** What a node answers about accounts, in CBOR as it says it. */
export interface StakeAccountAnswers {
  /** Pools and rewards: `[{credential: pool}, {credential: lovelace}]`. */
  readonly rewards: Uint8Array;
  /** `{credential: representative}`. */
  readonly votes: Uint8Array;
  /** `{credential: lovelace}`. */
  readonly deposits: Uint8Array;
}

/** Those that are registered. Throws BLOCK_INVALID. */
export function readStakeAccounts({ rewards, votes, deposits }: StakeAccountAnswers): StakeAccount[] {
  const c = new Cursor(rewards);
  c.tuple(2, 'pools and rewards');
  const pools = readMap(c, () => c.byteString());
  const lovelace = readMap(c, () => c.bigUint());
  const voting = new Cursor(votes);
  const dreps = readMap(voting, () => readDrep(voting));
  const deposited = new Cursor(deposits);
  const paid = readMap(deposited, () => deposited.bigUint());
  return Array.from(lovelace, ([key, { credential, value }]) => ({
    credential,
    pool: pools.get(key)?.value ?? null,
    drep: dreps.get(key)?.value ?? null,
    rewards: value,
    deposit: paid.get(key)?.value ?? 0n,
  }));
}

export function writeStakeAccounts(accounts: readonly StakeAccount[]): StakeAccountAnswers {
  const rewards = new CborWriter().array(2);
  const delegating = accounts.flatMap(({ credential, pool }) => (pool === null ? [] : [{ credential, pool }]));
  writeLedgerMap(rewards, delegating, ({ credential, pool }) => writeCredential(rewards, credential).bytes(pool));
  writeLedgerMap(rewards, accounts, (each) => writeCredential(rewards, each.credential).bigUint(each.rewards));
  const votes = new CborWriter();
  const voting = accounts.flatMap(({ credential, drep }) => (drep === null ? [] : [{ credential, drep }]));
  writeLedgerMap(votes, voting, ({ credential, drep }) => writeDrep(writeCredential(votes, credential), drep));
  const deposits = new CborWriter();
  writeLedgerMap(deposits, accounts, ({ credential, deposit }) => writeCredential(deposits, credential).bigUint(deposit));
  return { rewards: rewards.take(), votes: votes.take(), deposits: deposits.take() };
}

/** `[treasury, reserves]`. Throws BLOCK_INVALID. */
export function readPots(answer: Uint8Array): LedgerPots {
  const c = new Cursor(answer);
  c.tuple(2, 'treasury and reserves');
  return { treasury: c.bigUint(), reserves: c.bigUint() };
}

export function writePots({ treasury, reserves }: LedgerPots): Uint8Array {
  return new CborWriter(32).array(2).bigUint(treasury).bigUint(reserves).take();
}

/** What a credential is found by in a map. */
export function credentialKey({ kind, hash }: Credential): string {
  return `${kind} ${toHex(hash)}`;
}

function readMap<T>(c: Cursor, read: () => T): Map<string, { readonly credential: Credential; readonly value: T }> {
  const found = new Map<string, { readonly credential: Credential; readonly value: T }>();
  for (let i = 0, count = c.map(); c.more(count, i); i++) {
    const credential = readCredential(c);
    found.set(credentialKey(credential), { credential, value: read() });
  }
  return found;
}
