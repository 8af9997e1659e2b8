/**
 * Transactions in the JSON of Ogmios, held against the types that Ogmios publishes,
 * by the compiler: those of real blocks, and one with every kind of certificate
 * that another library writes.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  Anchor,
  AnchorDataHash,
  URL as AnchorUrl,
  BigNum,
  Certificate,
  CommitteeColdResign,
  CommitteeHotAuth,
  Credential,
  DRep,
  DRepDeregistration,
  DRepRegistration,
  DRepUpdate,
  Ed25519KeyHash,
  GenesisDelegateHash,
  GenesisHash,
  GenesisKeyDelegation,
  PoolRetirement,
  ScriptHash,
  StakeAndVoteDelegation,
  StakeDelegation,
  StakeDeregistration,
  StakeRegistration,
  StakeRegistrationAndDelegation,
  StakeVoteRegistrationAndDelegation,
  VoteDelegation,
  VoteRegistrationAndDelegation,
  VRFKeyHash,
} from '@emurgo/cardano-serialization-lib-nodejs';
import { decodeBlock } from '../../../src/ledgers/cardano/index.ts';
import { wholeTxs } from '../../../src/ledgers/cardano/whole-tx.ts';
import { certificatesJson } from '../../../src/server/cardano/ogmios/certificates-json.ts';
import { type JsonValue, jsonText } from '../../../src/server/cardano/ogmios/json-text.ts';
import { txJson } from '../../../src/server/cardano/ogmios/tx-json.ts';
import { fixtures, needsFixtures, readFixture } from '../../support/fixtures.ts';
import { compiled } from '../../support/ogmios-types.ts';

const BYRON_EPOCH_SLOTS = 21_600;
const SHELLEY = 2;

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** One of each kind of transaction that is in the blocks: of those with the same fields, in the same era, the first. */
function realTransactions(): JsonValue[] {
  const kinds = new Map<string, JsonValue>();
  for (const name of readdirSync(fixtures('cardano', 'blocks')).filter((file) => file.endsWith('.cbor'))) {
    const block = decodeBlock(readFixture('cardano', 'blocks', name), BYRON_EPOCH_SLOTS);
    wholeTxs(block).forEach((raw, txIndex) => {
      const json = txJson({ id: block.txs[txIndex].id, raw }) as Fields;
      const fields = Object.keys(json).filter((field) => json[field] !== undefined);
      const kind = `${block.era} ${fields.join()}`;
      if (block.era >= SHELLEY && !kinds.has(kind)) kinds.set(kind, json);
    });
  }
  return [...kinds.values()];
}

describe('transactions in the JSON of Ogmios', () => {
  test('are what its types say', needsFixtures, () => {
    const txs = realTransactions();
    assert.ok(txs.length > 40, `${txs.length} kinds of transactions`);
    assert.equal(compiled('Transaction', txs), '');
    const { fee, ...without } = txs[0] as Fields;
    assert.ok(fee !== undefined);
    assert.match(compiled('Transaction', [{ ...without, outputs: undefined, charge: fee }]), /charge/, 'the compiler looks');
  });
});

describe('certificates in the JSON of Ogmios', () => {
  const key = Credential.from_keyhash(Ed25519KeyHash.from_hex('11'.repeat(28)));
  const script = Credential.from_scripthash(ScriptHash.from_hex('22'.repeat(28)));
  const pool = Ed25519KeyHash.from_hex('33'.repeat(28));
  const drep = DRep.new_key_hash(Ed25519KeyHash.from_hex('44'.repeat(28)));
  const deposit = BigNum.from_str('2000000');
  const anchor = Anchor.new(AnchorUrl.new('https://example.org/a.json'), AnchorDataHash.from_hex('55'.repeat(32)));
  const byKey = { from: 'verificationKey', credential: '11'.repeat(28) };
  const stakePool = { id: pool.to_bech32('pool') };
  const paid = { ada: { lovelace: 2_000_000n } };
  const delegateRepresentative = { type: 'registered', id: '44'.repeat(28), from: 'verificationKey' };
  const own = { type: 'registered', id: '22'.repeat(28), from: 'script' };
  const metadata = { hash: '55'.repeat(32), url: 'https://example.org/a.json' };
  const member = { id: '11'.repeat(28), from: 'verificationKey' };
  const registration = { type: 'stakeCredentialRegistration', ...byKey };

  const cases: readonly (readonly [Certificate, readonly object[]])[] = [
    [Certificate.new_stake_registration(StakeRegistration.new(key)), [registration]],
    [Certificate.new_reg_cert(StakeRegistration.new_with_explicit_deposit(key, deposit)), [{ ...registration, deposit: paid }]],
    [
      Certificate.new_stake_deregistration(StakeDeregistration.new(script)),
      [{ type: 'stakeCredentialDeregistration', from: 'script', credential: '22'.repeat(28) }],
    ],
    [Certificate.new_stake_delegation(StakeDelegation.new(key, pool)), [{ type: 'stakeDelegation', ...byKey, stakePool }]],
    [
      Certificate.new_vote_delegation(VoteDelegation.new(key, DRep.new_always_abstain())),
      [{ type: 'stakeDelegation', ...byKey, delegateRepresentative: { type: 'abstain' } }],
    ],
    [
      Certificate.new_vote_delegation(VoteDelegation.new(key, DRep.new_always_no_confidence())),
      [{ type: 'stakeDelegation', ...byKey, delegateRepresentative: { type: 'noConfidence' } }],
    ],
    [
      Certificate.new_stake_and_vote_delegation(StakeAndVoteDelegation.new(key, pool, drep)),
      [{ type: 'stakeDelegation', ...byKey, stakePool, delegateRepresentative }],
    ],
    [
      Certificate.new_stake_registration_and_delegation(StakeRegistrationAndDelegation.new(key, pool, deposit)),
      [
        { ...registration, deposit: paid },
        { type: 'stakeDelegation', ...byKey, stakePool },
      ],
    ],
    [
      Certificate.new_vote_registration_and_delegation(VoteRegistrationAndDelegation.new(key, drep, deposit)),
      [
        { ...registration, deposit: paid },
        { type: 'stakeDelegation', ...byKey, delegateRepresentative },
      ],
    ],
    [
      Certificate.new_stake_vote_registration_and_delegation(StakeVoteRegistrationAndDelegation.new(key, pool, drep, deposit)),
      [
        { ...registration, deposit: paid },
        { type: 'stakeDelegation', ...byKey, stakePool, delegateRepresentative },
      ],
    ],
    [
      Certificate.new_pool_retirement(PoolRetirement.new(pool, 500)),
      [{ type: 'stakePoolRetirement', stakePool: { ...stakePool, retirementEpoch: 500 } }],
    ],
    [
      Certificate.new_genesis_key_delegation(
        GenesisKeyDelegation.new(
          GenesisHash.from_hex('66'.repeat(28)),
          GenesisDelegateHash.from_hex('77'.repeat(28)),
          VRFKeyHash.from_hex('88'.repeat(32)),
        ),
      ),
      [
        {
          type: 'genesisDelegation',
          delegate: { id: '77'.repeat(28), vrfVerificationKeyHash: '88'.repeat(32) },
          issuer: { id: '66'.repeat(28) },
        },
      ],
    ],
    [
      Certificate.new_committee_hot_auth(CommitteeHotAuth.new(key, script)),
      [
        {
          type: 'constitutionalCommitteeDelegation',
          member,
          delegate: { status: 'authorized', id: '22'.repeat(28), from: 'script' },
        },
      ],
    ],
    [
      Certificate.new_committee_cold_resign(CommitteeColdResign.new_with_anchor(key, anchor)),
      [{ type: 'constitutionalCommitteeRetirement', member, metadata }],
    ],
    [
      Certificate.new_drep_registration(DRepRegistration.new_with_anchor(script, deposit, anchor)),
      [{ type: 'delegateRepresentativeRegistration', delegateRepresentative: own, deposit: paid, metadata }],
    ],
    [
      Certificate.new_drep_deregistration(DRepDeregistration.new(script, deposit)),
      [{ type: 'delegateRepresentativeRetirement', delegateRepresentative: own, deposit: paid }],
    ],
    [
      Certificate.new_drep_update(DRepUpdate.new(script)),
      [{ type: 'delegateRepresentativeUpdate', delegateRepresentative: own, metadata: null }],
    ],
  ];

  test('say what another library wrote', () => {
    for (const [certificate, expected] of cases) {
      const written = certificatesJson([certificate.to_bytes()]);
      assert.deepEqual(
        written.map((each) => JSON.parse(jsonText(each))),
        expected.map((each) => JSON.parse(jsonText(each as JsonValue))),
      );
    }
    assert.equal(compiled('Certificate', certificatesJson(cases.map(([certificate]) => certificate.to_bytes()))), '');
  });
});
