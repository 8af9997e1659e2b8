/**
 * Votes and proposals of transactions, decoded when somebody wants to read them.
 * A transaction that is described keeps their bytes (`DescribedTx.votes` and
 * `DescribedTx.proposals`).
 *
 * CDDL: conway.cddl, `voting_procedures` and `proposal_procedure`.
 */
import { Cursor } from '../../util/cbor.ts';
import type { Credential } from './address.ts';
import { type Anchor, readAnchor, readCredential } from './certificates.ts';
import { enterSet } from './describe.ts';
import { type ParameterUpdate, type Ratio, readParameterUpdate, readRatio } from './protocol-parameters.ts';
import { type OutRef, readOutRef } from './transaction.ts';

/** Who votes: by the hot credential of a committee member, as a representative, or as a pool, which has a key. */
export interface Voter {
  readonly role: 'committee' | 'drep' | 'pool';
  readonly credential: Credential;
}

export interface Vote {
  readonly voter: Voter;
  /** The transaction of the proposal, and which of its proposals it is. */
  readonly proposal: OutRef;
  readonly choice: 'no' | 'yes' | 'abstain';
  readonly metadata: Anchor | null;
}

/** `ancestor`: the proposal of the same kind that was enacted last; `guardrails`: the hash of the script that checks it. */
export type GovernanceAction =
  | {
      readonly kind: 'parameters';
      readonly ancestor: OutRef | null;
      readonly update: ParameterUpdate;
      readonly guardrails: Uint8Array | null;
    }
  | { readonly kind: 'hardFork'; readonly ancestor: OutRef | null; readonly version: { readonly major: number; readonly minor: number } }
  | {
      readonly kind: 'withdrawals';
      /** To these reward addresses. */
      readonly withdrawals: readonly { readonly account: Uint8Array; readonly lovelace: bigint }[];
      readonly guardrails: Uint8Array | null;
    }
  | { readonly kind: 'noConfidence'; readonly ancestor: OutRef | null }
  | {
      readonly kind: 'committee';
      readonly ancestor: OutRef | null;
      readonly removed: readonly Credential[];
      /** Until the end of an epoch. */
      readonly added: readonly { readonly member: Credential; readonly epoch: bigint }[];
      readonly quorum: Ratio;
    }
  | {
      readonly kind: 'constitution';
      readonly ancestor: OutRef | null;
      readonly document: Anchor;
      readonly guardrails: Uint8Array | null;
    }
  | { readonly kind: 'information' };

export interface Proposal {
  readonly deposit: bigint;
  /** The reward address that the deposit goes back to. */
  readonly returnAccount: Uint8Array;
  readonly action: GovernanceAction;
  readonly metadata: Anchor;
}

const ROLES = ['committee', 'committee', 'drep', 'drep', 'pool'] as const;
const CHOICES = ['no', 'yes', 'abstain'] as const;

/** Throws BLOCK_INVALID with the position. */
export function readVotes(bytes: Uint8Array): Vote[] {
  const c = new Cursor(bytes);
  const votes: Vote[] = [];
  for (let i = 0, voters = c.map(); c.more(voters, i); i++) {
    const voter = readVoter(c);
    for (let j = 0, count = c.map(); c.more(count, j); j++) {
      const proposal = readOutRef(c);
      const fields = c.tuple(2, 'a vote');
      const choice = CHOICES[c.uint()] ?? c.fail('a vote of unknown kind');
      votes.push({ voter, proposal, choice, metadata: readAnchor(c) });
      c.close(fields);
    }
  }
  return votes;
}

function readVoter(c: Cursor): Voter {
  const fields = c.tuple(2, 'a voter');
  const kind = c.uint();
  const role = ROLES[kind] ?? c.fail('a voter of unknown kind');
  const voter: Voter = { role, credential: { kind: kind === 1 || kind === 3 ? 'script' : 'key', hash: c.byteString() } };
  c.close(fields);
  return voter;
}

/** Throws BLOCK_INVALID with the position. */
export function readProposal(bytes: Uint8Array): Proposal {
  const c = new Cursor(bytes);
  const fields = c.tuple(4, 'a proposal');
  const [deposit, returnAccount, action] = [c.bigUint(), c.byteString(), readAction(c)];
  const proposal = { deposit, returnAccount, action, metadata: readAnchor(c) ?? c.fail('a proposal has a document') };
  c.close(fields);
  return proposal;
}

function readAction(c: Cursor): GovernanceAction {
  const fields = c.array();
  const kind = c.uint();
  const action = readKind(c, kind) ?? c.fail(`a proposal of unknown kind ${kind}`);
  c.close(fields);
  return action;
}

/** What stands behind the kind; null: it is not known. */
function readKind(c: Cursor, kind: number): GovernanceAction | null {
  switch (kind) {
    case 0:
      return { kind: 'parameters', ancestor: readAncestor(c), update: readParameterUpdate(c), guardrails: readGuardrails(c) };
    case 1: {
      const ancestor = readAncestor(c);
      const fields = c.tuple(2, 'a version');
      const version = { major: c.uint(), minor: c.uint() };
      c.close(fields);
      return { kind: 'hardFork', ancestor, version };
    }
    case 2:
      return { kind: 'withdrawals', withdrawals: readWithdrawals(c), guardrails: readGuardrails(c) };
    case 3:
      return { kind: 'noConfidence', ancestor: readAncestor(c) };
    case 4:
      return { kind: 'committee', ancestor: readAncestor(c), removed: readRemoved(c), added: readAdded(c), quorum: readRatio(c) };
    case 5: {
      const ancestor = readAncestor(c);
      const fields = c.tuple(2, 'a constitution');
      const document = readAnchor(c) ?? c.fail('a constitution has a document');
      const guardrails = readGuardrails(c);
      c.close(fields);
      return { kind: 'constitution', ancestor, document, guardrails };
    }
    case 6:
      return { kind: 'information' };
    default:
      return null;
  }
}

function readAncestor(c: Cursor): OutRef | null {
  return c.nullish() ? null : readOutRef(c);
}

function readGuardrails(c: Cursor): Uint8Array | null {
  return c.nullish() ? null : c.byteString();
}

function readWithdrawals(c: Cursor): { readonly account: Uint8Array; readonly lovelace: bigint }[] {
  const withdrawals: { readonly account: Uint8Array; readonly lovelace: bigint }[] = [];
  for (let i = 0, count = c.map(); c.more(count, i); i++) withdrawals.push({ account: c.byteString(), lovelace: c.bigUint() });
  return withdrawals;
}

function readRemoved(c: Cursor): Credential[] {
  const removed: Credential[] = [];
  for (let i = 0, count = enterSet(c); c.more(count, i); i++) removed.push(readCredential(c));
  return removed;
}

function readAdded(c: Cursor): { readonly member: Credential; readonly epoch: bigint }[] {
  const added: { readonly member: Credential; readonly epoch: bigint }[] = [];
  for (let i = 0, count = c.map(); c.more(count, i); i++) added.push({ member: readCredential(c), epoch: c.bigUint() });
  return added;
}
