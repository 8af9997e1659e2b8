/** What transactions may say, in the messages of UTxO RPC: proposals of every kind, and numbers that have no room there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BigNum,
  Committee,
  Constitution,
  Credentials,
  GovernanceAction,
  HardForkInitiationAction,
  InfoAction,
  NewConstitutionAction,
  NoConfidenceAction,
  ParameterChangeAction,
  ProtocolParamUpdate,
  ProtocolVersion,
  ScriptHash,
  TreasuryWithdrawals,
  TreasuryWithdrawalsAction,
  UpdateCommitteeAction,
  VotingProposal,
} from '@emurgo/cardano-serialization-lib-nodejs';
import { cardano } from '@utxorpc/spec/lib/index.mjs';
import { readProposal } from '../../../src/ledgers/cardano/governance.ts';
import { cardanoNetwork } from '../../../src/ledgers/cardano/index.ts';
import { describeHistoryTx } from '../../../src/query/cardano/transactions.ts';
import { eraMessages } from '../../../src/server/cardano/utxorpc/grpc/era-message.ts';
import { proposalMessage } from '../../../src/server/cardano/utxorpc/grpc/governance-message.ts';
import { newMessage } from '../../../src/server/cardano/utxorpc/grpc/message-init.ts';
import { fractionMessage, roundedFraction } from '../../../src/server/cardano/utxorpc/grpc/numbers.ts';
import { scriptMessage } from '../../../src/server/cardano/utxorpc/grpc/plutus-message.ts';
import { txMessage } from '../../../src/server/cardano/utxorpc/grpc/tx-message.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { ANCHOR, account, anchor, earlier, half, key } from '../../support/emurgo-governance.ts';

/** What the other library wrote, as a client gets it. */
function received(action: GovernanceAction): cardano.GovernanceAction['governanceAction'] {
  const bytes = VotingProposal.new(action, anchor, account, BigNum.from_str('18446744073709551615')).to_bytes();
  const message = newMessage(cardano.GovernanceActionProposal, proposalMessage(readProposal(bytes)));
  const read = cardano.GovernanceActionProposal.fromBinary(message.toBinary());
  assert.equal(read.deposit, 2n ** 64n - 1n);
  assert.equal(toHex(read.rewardAccount), toHex(account.to_address().to_bytes()));
  assert.deepEqual([read.anchor?.url, toHex(read.anchor!.contentHash)], [ANCHOR.url, ANCHOR.hash]);
  return read.govAction!.governanceAction;
}

describe('proposals', () => {
  test('that change parameters', () => {
    const update = ProtocolParamUpdate.new();
    update.set_minfee_a(BigNum.from_str('44'));
    update.set_treasury_growth_rate(half);
    const read = received(
      GovernanceAction.new_parameter_change_action(
        ParameterChangeAction.new_with_policy_hash_and_action_id(earlier, update, ScriptHash.from_hex('77'.repeat(28))),
      ),
    );
    assert.ok(read.case === 'parameterChangeAction');
    const { govActionId, protocolParamUpdate, policyHash } = read.value;
    assert.deepEqual([toHex(govActionId!.transactionId), govActionId!.governanceActionIndex], ['66'.repeat(32), 2]);
    const { minFeeCoefficient, treasuryExpansion, prices, costModels } = protocolParamUpdate!;
    assert.deepEqual([minFeeCoefficient, treasuryExpansion?.numerator, treasuryExpansion?.denominator], [44n, 1, 2]);
    assert.deepEqual([prices, costModels, toHex(policyHash)], [undefined, undefined, '77'.repeat(28)]);
  });

  test('of every other kind', () => {
    const fork = received(GovernanceAction.new_hard_fork_initiation_action(HardForkInitiationAction.new(ProtocolVersion.new(11, 1))));
    assert.ok(fork.case === 'hardForkInitiationAction');
    assert.deepEqual([fork.value.protocolVersion?.major, fork.value.protocolVersion?.minor, fork.value.govActionId], [11, 1, undefined]);

    const taken = TreasuryWithdrawals.new();
    taken.insert(account, BigNum.from_str('9'));
    const withdrawals = received(GovernanceAction.new_treasury_withdrawals_action(TreasuryWithdrawalsAction.new(taken)));
    assert.ok(withdrawals.case === 'treasuryWithdrawalsAction');
    assert.deepEqual(
      withdrawals.value.withdrawals.map(({ coin }) => coin),
      [9n],
    );

    const distrust = received(GovernanceAction.new_no_confidence_action(NoConfidenceAction.new_with_action_id(earlier)));
    assert.ok(distrust.case === 'noConfidenceAction' && distrust.value.govActionId?.governanceActionIndex === 2);

    const committee = Committee.new(half);
    committee.add_member(key, 500);
    const removed = Credentials.new();
    removed.add(key);
    const members = received(GovernanceAction.new_new_committee_action(UpdateCommitteeAction.new(committee, removed)));
    assert.ok(members.case === 'updateCommitteeAction');
    assert.deepEqual([members.value.newCommitteeCredentials[0].expiresEpoch, members.value.removeCommitteeCredentials.length], [500, 1]);

    const document = received(GovernanceAction.new_new_constitution_action(NewConstitutionAction.new(Constitution.new(anchor))));
    assert.ok(document.case === 'newConstitutionAction' && document.value.constitution?.anchor?.url === 'https://example.org/a.json');

    assert.deepEqual(received(GovernanceAction.new_info_action(InfoAction.new())), { case: 'infoAction', value: 6 });
  });
});

describe('metadata', () => {
  test('that is nested too deeply, or too large a number, does not keep its transaction from being told', () => {
    const w = new CborWriter(4096).array(4).map(3).uint(0).array(0).uint(1).array(0).uint(2).uint(0).map(0).bool(true);
    w.map(3)
      .uint(1)
      .text('a')
      .uint(2)
      .bigUint(2n ** 64n - 1n)
      .uint(3);
    for (let depth = 0; depth < 600; depth++) w.array(1);
    const raw = w.array(0).take();
    const id = new Uint8Array(32);
    const nothing = { inputs: [], collateral: [], referenceInputs: [], outputs: [] };
    const message = newMessage(cardano.Tx, txMessage({ ...describeHistoryTx({ id, raw }), ...nothing, id, raw, fee: 0n }));
    const { metadata } = cardano.Tx.fromBinary(message.toBinary()).auxiliary!;
    assert.deepEqual(
      metadata.map(({ label, value }) => [label, value?.metadatum.case]),
      [
        [1n, 'text'],
        [2n, undefined],
        [3n, undefined],
      ],
    );
  });
});

describe('eras', () => {
  test('of a public network begin and end where the chain says', () => {
    const eras = eraMessages(cardanoNetwork('mainnet'));
    assert.deepEqual(
      eras.map(({ name }) => name),
      ['byron', 'shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway'],
    );
    const shelley = { time: 1_596_059_091_000n, slot: 4_492_800n, epoch: 208n };
    assert.deepEqual([eras[0].end, eras[1].start, eras.at(-1)?.end], [shelley, shelley, undefined]);
  });
});

describe('numbers', () => {
  test('that are wider than those of the messages are the nearest that fit, or refused', () => {
    const ratio = { over: 10n ** 18n + 1n, under: 3n * 10n ** 18n };
    const { numerator, denominator } = newMessage(cardano.RationalNumber, roundedFraction(ratio));
    assert.ok(Math.abs(numerator / denominator - 1 / 3) < 1e-8);
    assert.throws(() => fractionMessage(ratio), { code: 'UNSUPPORTED' });
    assert.deepEqual(fractionMessage({ over: 2n ** 40n, under: 2n ** 41n }), { numerator: 1, denominator: 2 });
  });

  test('of native scripts may be any', () => {
    for (const [required, k] of [
      [-1n, 0],
      [2n ** 63n - 1n, 2 ** 32 - 1],
      [2n, 2],
    ] as const) {
      const script = new CborWriter().array(3).uint(3).int(required).array(0).take();
      const read = cardano.Script.fromBinary(newMessage(cardano.Script, scriptMessage({ kind: 0, script })!).toBinary()).script;
      assert.ok(read.case === 'native' && read.value.nativeScript.case === 'scriptNOfK');
      assert.equal(read.value.nativeScript.value.k, k);
    }
  });
});
