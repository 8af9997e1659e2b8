/** Proposals as UTxO RPC writes them. Votes have no message. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import type { GovernanceAction, Proposal } from '../../../../ledgers/cardano/governance.ts';
import type { OutRef } from '../../../../ledgers/cardano/index.ts';
import { anchorMessage, credentialMessage } from './certificate-message.ts';
import type { MessageInit } from './message-init.ts';
import { roundedFraction, uint32 } from './numbers.ts';
import { parametersMessage } from './parameters-message.ts';

type Chosen = MessageInit<cardano.GovernanceAction>['governanceAction'];

/** As pallas numbers the action without content, of its seven. */
const INFORMATION = 6;

export function proposalMessage({ deposit, returnAccount, action, metadata }: Proposal): MessageInit<cardano.GovernanceActionProposal> {
  return { deposit, rewardAccount: returnAccount, govAction: { governanceAction: actionMessage(action) }, anchor: anchorMessage(metadata) };
}

function actionMessage(action: GovernanceAction): Chosen {
  switch (action.kind) {
    case 'parameters': {
      const protocolParamUpdate = parametersMessage(action.update, roundedFraction);
      const policyHash = action.guardrails ?? undefined;
      return { case: 'parameterChangeAction', value: { govActionId: idMessage(action.ancestor), protocolParamUpdate, policyHash } };
    }
    case 'hardFork': {
      const protocolVersion = { major: uint32(action.version.major), minor: uint32(action.version.minor) };
      return { case: 'hardForkInitiationAction', value: { govActionId: idMessage(action.ancestor), protocolVersion } };
    }
    case 'withdrawals': {
      const withdrawals = action.withdrawals.map(({ account, lovelace }) => ({ rewardAccount: account, coin: lovelace }));
      return { case: 'treasuryWithdrawalsAction', value: { withdrawals, policyHash: action.guardrails ?? undefined } };
    }
    case 'noConfidence':
      return { case: 'noConfidenceAction', value: { govActionId: idMessage(action.ancestor) } };
    case 'committee':
      return { case: 'updateCommitteeAction', value: committeeMessage(action) };
    case 'constitution': {
      const constitution = { anchor: anchorMessage(action.document), hash: action.guardrails ?? undefined };
      return { case: 'newConstitutionAction', value: { govActionId: idMessage(action.ancestor), constitution } };
    }
    case 'information':
      return { case: 'infoAction', value: INFORMATION };
  }
}

function committeeMessage(action: Extract<GovernanceAction, { kind: 'committee' }>): MessageInit<cardano.UpdateCommitteeAction> {
  return {
    govActionId: idMessage(action.ancestor),
    removeCommitteeCredentials: action.removed.map(credentialMessage),
    newCommitteeCredentials: action.added.map(({ member, epoch }) => ({
      committeeColdCredential: credentialMessage(member),
      expiresEpoch: uint32(epoch),
    })),
    newCommitteeThreshold: roundedFraction(action.quorum),
  };
}

function idMessage(proposal: OutRef | null): MessageInit<cardano.GovernanceActionId> | undefined {
  return proposal === null ? undefined : { transactionId: proposal.txId, governanceActionIndex: uint32(proposal.index) };
}
