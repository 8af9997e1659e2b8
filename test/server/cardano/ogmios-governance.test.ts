/**
 * Votes and proposals in the JSON of Ogmios, of every kind, as another library
 * writes them.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BigNum,
  Committee,
  Constitution,
  Credential,
  Credentials,
  DRepVotingThresholds,
  Ed25519KeyHash,
  ExUnitPrices,
  ExUnits,
  GovernanceAction,
  HardForkInitiationAction,
  InfoAction,
  NewConstitutionAction,
  NoConfidenceAction,
  ParameterChangeAction,
  PoolVotingThresholds,
  ProtocolParamUpdate,
  ProtocolVersion,
  ScriptHash,
  TreasuryWithdrawals,
  TreasuryWithdrawalsAction,
  UnitInterval,
  UpdateCommitteeAction,
  VoteKind,
  Voter,
  VotingProcedure,
  VotingProcedures,
  VotingProposal,
} from '@emurgo/cardano-serialization-lib-nodejs';
import { proposalJson, votesJson } from '../../../src/server/cardano/ogmios/governance-json.ts';
import { type JsonValue, jsonText } from '../../../src/server/cardano/ogmios/json-text.ts';
import { account, anchor, earlier, half, key, ANCHOR as metadata } from '../../support/emurgo-governance.ts';
import { compiled } from '../../support/ogmios-types.ts';

const script = Credential.from_scripthash(ScriptHash.from_hex('22'.repeat(28)));
const pool = Ed25519KeyHash.from_hex('33'.repeat(28));
const coin = (lovelace: number): BigNum => BigNum.from_str(`${lovelace}`);
const plain = (value: JsonValue): unknown => JSON.parse(jsonText(value));

const ancestor = { transaction: { id: '66'.repeat(32) }, index: 2 };
const stake = account.to_address().to_bech32();
const ada = (lovelace: number): object => ({ ada: { lovelace } });
const ofKey = { id: '11'.repeat(28), from: 'verificationKey' };
const ofScript = { id: '22'.repeat(28), from: 'script' };

function update(): ProtocolParamUpdate {
  const made = ProtocolParamUpdate.new();
  made.set_minfee_a(coin(44));
  made.set_key_deposit(coin(2_000_000));
  made.set_max_tx_size(16_384);
  made.set_execution_costs(ExUnitPrices.new(half, half));
  made.set_max_tx_ex_units(ExUnits.new(coin(10), coin(20)));
  made.set_treasury_growth_rate(half);
  made.set_pool_voting_thresholds(PoolVotingThresholds.new(half, half, half, half, half));
  made.set_drep_voting_thresholds(DRepVotingThresholds.new(half, half, half, half, half, half, half, half, half, half));
  made.set_drep_inactivity_period(20);
  made.set_ref_script_coins_per_byte(UnitInterval.new(BigNum.from_str('15'), BigNum.from_str('1')));
  return made;
}

const changed = {
  minFeeCoefficient: 44,
  stakeCredentialDeposit: ada(2_000_000),
  maxTransactionSize: { bytes: 16_384 },
  scriptExecutionPrices: { memory: '1/2', cpu: '1/2' },
  maxExecutionUnitsPerTransaction: { memory: 10, cpu: 20 },
  treasuryExpansion: '1/2',
  stakePoolVotingThresholds: {
    noConfidence: '1/2',
    constitutionalCommittee: { default: '1/2', stateOfNoConfidence: '1/2' },
    hardForkInitiation: '1/2',
    protocolParametersUpdate: { security: '1/2' },
  },
  delegateRepresentativeVotingThresholds: {
    noConfidence: '1/2',
    constitution: '1/2',
    constitutionalCommittee: { default: '1/2', stateOfNoConfidence: '1/2' },
    hardForkInitiation: '1/2',
    protocolParametersUpdate: { network: '1/2', economic: '1/2', technical: '1/2', governance: '1/2' },
    treasuryWithdrawals: '1/2',
  },
  delegateRepresentativeMaxIdleTime: 20,
  minFeeReferenceScripts: { base: 15, range: 25_600, multiplier: 1.2 },
};

function actions(): readonly (readonly [GovernanceAction, object])[] {
  const withdrawals = TreasuryWithdrawals.new();
  withdrawals.insert(account, coin(7));
  const committee = Committee.new(half);
  committee.add_member(script, 600);
  const removed = Credentials.new();
  removed.add(key);
  const guardrails = { hash: '77'.repeat(28) };
  const policy = ScriptHash.from_hex('77'.repeat(28));
  return [
    [
      GovernanceAction.new_parameter_change_action(ParameterChangeAction.new_with_policy_hash_and_action_id(earlier, update(), policy)),
      { type: 'protocolParametersUpdate', ancestor, parameters: changed, guardrails },
    ],
    [
      GovernanceAction.new_hard_fork_initiation_action(HardForkInitiationAction.new(ProtocolVersion.new(11, 0))),
      { type: 'hardForkInitiation', version: { major: 11, minor: 0 } },
    ],
    [
      GovernanceAction.new_treasury_withdrawals_action(TreasuryWithdrawalsAction.new(withdrawals)),
      { type: 'treasuryWithdrawals', withdrawals: { [stake]: ada(7) }, guardrails: null },
    ],
    [GovernanceAction.new_no_confidence_action(NoConfidenceAction.new_with_action_id(earlier)), { type: 'noConfidence', ancestor }],
    [
      GovernanceAction.new_new_committee_action(UpdateCommitteeAction.new(committee, removed)),
      { type: 'constitutionalCommittee', members: { added: [{ ...ofScript, mandate: { epoch: 600 } }], removed: [ofKey] }, quorum: '1/2' },
    ],
    [
      GovernanceAction.new_new_constitution_action(NewConstitutionAction.new(Constitution.new_with_script_hash(anchor, policy))),
      { type: 'constitution', guardrails, metadata },
    ],
    [GovernanceAction.new_info_action(InfoAction.new()), { type: 'information' }],
  ];
}

describe('governance in the JSON of Ogmios', () => {
  test('proposals of every kind', () => {
    const written: JsonValue[] = [];
    for (const [action, expected] of actions()) {
      const json = proposalJson(VotingProposal.new(action, anchor, account, coin(1_000)).to_bytes());
      assert.deepEqual(plain(json), { deposit: ada(1_000), returnAccount: stake, metadata, action: expected });
      written.push(json);
    }
    assert.equal(compiled('GovernanceProposal', written), '');
  });

  test('votes of everybody', () => {
    const votes = VotingProcedures.new();
    votes.insert(Voter.new_constitutional_committee_hot_credential(script), earlier, VotingProcedure.new(VoteKind.No));
    votes.insert(Voter.new_drep_credential(key), earlier, VotingProcedure.new_with_anchor(VoteKind.Yes, anchor));
    votes.insert(Voter.new_stake_pool_key_hash(pool), earlier, VotingProcedure.new(VoteKind.Abstain));
    const written = votesJson(votes.to_bytes());
    assert.deepEqual(written.map(plain), [
      { issuer: { role: 'constitutionalCommittee', ...ofScript }, vote: 'no', proposal: ancestor },
      { issuer: { role: 'delegateRepresentative', ...ofKey }, metadata, vote: 'yes', proposal: ancestor },
      { issuer: { role: 'stakePoolOperator', id: pool.to_bech32('pool') }, vote: 'abstain', proposal: ancestor },
    ]);
    assert.equal(compiled('GovernanceVote', written), '');
    assert.deepEqual(votesJson(null), []);
  });
});
