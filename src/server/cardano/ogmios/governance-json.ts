/** Votes and proposals as Ogmios writes them. */
import { poolIdOfHash } from '../../../ledgers/cardano/bech32-ids.ts';
import { type GovernanceAction, readProposal, readVotes, type Vote, type Voter } from '../../../ledgers/cardano/governance.ts';
import { formatAddress, type OutRef } from '../../../ledgers/cardano/index.ts';
import { hexOf } from '../../../query/dialect.ts';
import { anchorJson, credentialJson } from './certificates-json.ts';
import type { JsonValue } from './json-text.ts';
import { ada, fraction, updateJson } from './parameters-json.ts';

/** Of the CBOR of all votes of a transaction; null: it has none. */
export function votesJson(votes: Uint8Array | null): JsonValue[] {
  return votes === null ? [] : readVotes(votes).map(voteJson);
}

function voteJson({ voter, proposal, choice, metadata }: Vote): JsonValue {
  return {
    issuer: voterJson(voter),
    metadata: metadata === null ? undefined : anchorJson(metadata),
    vote: choice,
    proposal: proposalRefJson(proposal),
  };
}

function voterJson({ role, credential }: Voter): JsonValue {
  if (role === 'pool') return { role: 'stakePoolOperator', id: poolIdOfHash(credential.hash) };
  return { role: role === 'drep' ? 'delegateRepresentative' : 'constitutionalCommittee', ...credentialJson(credential) };
}

export function proposalJson(proposal: Uint8Array): JsonValue {
  const { deposit, returnAccount, action, metadata } = readProposal(proposal);
  return { deposit: ada(deposit), returnAccount: formatAddress(returnAccount), metadata: anchorJson(metadata), action: actionJson(action) };
}

function actionJson(action: GovernanceAction): JsonValue {
  switch (action.kind) {
    case 'parameters':
      return {
        type: 'protocolParametersUpdate',
        ancestor: ancestorJson(action.ancestor),
        parameters: updateJson(action.update),
        guardrails: guardrailsJson(action.guardrails),
      };
    case 'hardFork':
      return { type: 'hardForkInitiation', ancestor: ancestorJson(action.ancestor), version: action.version };
    case 'withdrawals':
      return {
        type: 'treasuryWithdrawals',
        withdrawals: Object.fromEntries(action.withdrawals.map(({ account, lovelace }) => [formatAddress(account), ada(lovelace)])),
        guardrails: guardrailsJson(action.guardrails),
      };
    case 'noConfidence':
      return { type: 'noConfidence', ancestor: ancestorJson(action.ancestor) };
    case 'committee':
      return {
        type: 'constitutionalCommittee',
        ancestor: ancestorJson(action.ancestor),
        members: {
          added: action.added.map(({ member, epoch }) => ({ ...credentialJson(member), mandate: { epoch } })),
          removed: action.removed.map(credentialJson),
        },
        quorum: fraction(action.quorum),
      };
    case 'constitution':
      return {
        type: 'constitution',
        ancestor: ancestorJson(action.ancestor),
        guardrails: guardrailsJson(action.guardrails),
        metadata: anchorJson(action.document),
      };
    case 'information':
      return { type: 'information' };
  }
}

function ancestorJson(ancestor: OutRef | null): JsonValue | undefined {
  return ancestor === null ? undefined : proposalRefJson(ancestor);
}

function proposalRefJson({ txId, index }: OutRef): JsonValue {
  return { transaction: { id: hexOf(txId) }, index };
}

function guardrailsJson(hash: Uint8Array | null): JsonValue {
  return hash === null ? null : { hash: hexOf(hash) };
}
