/**
 * Blocks and transactions over UTxO RPC: the SDK, as it comes from npm, follows a
 * devnet through forks and has the chain that the devnet has; transactions of
 * real blocks say what another library reads in them.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Transaction, type Value } from '@emurgo/cardano-serialization-lib-nodejs';
import type { CardanoBlock, CardanoTipEvent } from '@utxorpc/sdk';
import { cardano } from '@utxorpc/spec/lib/index.mjs';
import { decodeBlock, readAddress } from '../../../src/ledgers/cardano/index.ts';
import { wholeTxs } from '../../../src/ledgers/cardano/whole-tx.ts';
import { describeHistoryTx, type ResolvedTx } from '../../../src/query/cardano/transactions.ts';
import { newMessage } from '../../../src/server/cardano/utxorpc/grpc/message-init.ts';
import { txMessage } from '../../../src/server/cardano/utxorpc/grpc/tx-message.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { fixtures, needsFixtures, readFixture } from '../../support/fixtures.ts';
import { UtxoRpcStage } from '../../support/utxorpc-stage.ts';

type Block = CardanoBlock['parsedBlock'];

const hashOf = ({ header }: Block): string => toHex(header!.hash);
const idsOf = ({ body }: Block): string[] => body!.tx.map(({ hash }) => toHex(hash));

/** A client that keeps the chain it is told of. */
class Follower {
  readonly blocks: Block[] = [];
  readonly resets: string[] = [];
  undone = 0;
  private readonly events: AsyncIterator<CardanoTipEvent>;

  constructor(events: AsyncIterable<CardanoTipEvent>) {
    this.events = events[Symbol.asyncIterator]();
  }

  /** Takes events until its newest block is that one. */
  async until(hash: string): Promise<void> {
    while (this.blocks.length === 0 || hashOf(this.blocks.at(-1)!) !== hash) {
      const { value, done } = await this.events.next();
      assert.ok(done !== true, 'the stream goes on');
      if (value.action === 'reset') this.resets.push(value.point.hash);
      else if (value.action === 'apply') this.blocks.push(value.block);
      else {
        assert.deepEqual(value.block, this.blocks.pop(), 'what is undone is the whole of what was applied');
        this.undone++;
      }
    }
  }

  async end(): Promise<void> {
    await this.events.return?.();
  }
}

describe('the chain, through forks', () => {
  let stage: UtxoRpcStage;
  before(async () => {
    stage = await UtxoRpcStage.open({ blocks: 12, seed: 8 });
  });
  after(() => stage.close());
  const chain = () => stage.served.devnet.blocks();
  const wanted = (from = 0): string[] =>
    chain()
      .slice(from)
      .map(({ hash }) => toHex(hash));

  test('is followed from the origin and from a point', async () => {
    const { served, clients } = stage;
    const whole = new Follower(clients.sync.followTip([{ slot: 0, hash: '' }]));
    await whole.until(wanted().at(-1)!);
    const { slot, hash } = chain()[5];
    const later = new Follower(
      clients.sync.followTip([
        { slot: 1, hash: 'ab'.repeat(32) },
        { slot, hash: toHex(hash) },
      ]),
    );
    await later.until(wanted().at(-1)!);
    for (const [back, forward] of [
      [0, 3],
      [4, 6],
      [7, 2],
    ]) {
      served.back(back);
      served.forward(forward);
      await whole.until(wanted().at(-1)!);
      await later.until(wanted().at(-1)!);
      assert.deepEqual(whole.blocks.map(hashOf), wanted());
      assert.deepEqual(later.blocks.map(hashOf), wanted(6));
      assert.deepEqual(
        whole.blocks.map(idsOf),
        chain().map(({ txs }) => txs.map(({ id }) => toHex(id))),
      );
    }
    assert.deepEqual([whole.undone, later.undone], [11, 11]);
    assert.deepEqual([whole.resets, later.resets], [[''], [toHex(hash)]]);
    await whole.end();
    await later.end();
    await assert.rejects(new Follower(clients.sync.followTip([{ slot: 1, hash: 'ab'.repeat(32) }])).until(''), /POINT_UNKNOWN/);
  });

  test('is fetched block by block, and in pages', async () => {
    const { sync } = stage.clients;
    const found: string[] = [];
    let startToken: { slot: bigint; hash: Uint8Array<ArrayBuffer> } | undefined;
    do {
      const page = await sync.inner.dumpHistory({ maxItems: 5, ...(startToken === undefined ? {} : { startToken }) });
      found.push(...page.block.map(({ chain: { value } }) => hashOf(value!)));
      startToken = page.nextToken;
    } while (startToken !== undefined);
    assert.deepEqual(found, wanted());
    const { slot, hash, height } = chain()[3];
    const { parsedBlock } = await sync.fetchBlock({ slot, hash: toHex(hash) });
    assert.deepEqual(
      [hashOf(parsedBlock), parsedBlock.header?.slot, parsedBlock.header?.height],
      [toHex(hash), BigInt(slot), BigInt(height)],
    );
    const { block } = await sync.inner.fetchBlock({ ref: [{ height: BigInt(height) }, { slot: BigInt(slot) }] });
    assert.deepEqual(
      block.map(({ chain: { value } }) => hashOf(value!)),
      [toHex(hash), toHex(hash)],
    );
    await assert.rejects(sync.fetchBlock({ slot: 1, hash: 'ab'.repeat(32) }), /\[not_found\] POINT_UNKNOWN/);
    await assert.rejects(sync.inner.dumpHistory({ maxItems: 101 }), /\[resource_exhausted\]/);
  });

  test('has each transaction with its bytes, and what it spends', async () => {
    const { query } = stage.clients;
    const made = new Map<string, string>();
    let [resolved, redeemed] = [0, 0];
    for (const block of chain()) {
      for (const { id } of block.txs) {
        const { tx } = await query.inner.readTx({ hash: Uint8Array.from(id) });
        assert.ok(tx?.chain.case === 'cardano');
        assert.equal(tx.blockRef?.height, BigInt(block.height));
        const { value } = tx.chain;
        value.outputs.forEach(({ address, coin }, i) => {
          made.set(`${toHex(id)}#${i}`, `${toHex(address)} ${coin}`);
        });
        for (const { txHash, outputIndex, asOutput, redeemer } of value.inputs) {
          const output = made.get(`${toHex(txHash)}#${outputIndex}`);
          if (output === undefined) continue;
          assert.equal(`${toHex(asOutput!.address)} ${asOutput!.coin}`, output);
          resolved++;
          if (redeemer === undefined) continue;
          assert.equal(readAddress(asOutput!.address).payment?.kind, 'script');
          redeemed++;
        }
      }
    }
    assert.ok(resolved > 10, `${resolved} inputs, ${redeemed} of scripts`);
    await assert.rejects(query.inner.readTx({ hash: new Uint8Array(32) }), /\[not_found\]/);
  });

  test('needs a history, and says so', async () => {
    const bare = await UtxoRpcStage.open({ blocks: 2, store: { keeps: ['chain', 'transactions', 'utxo', 'index.address'] } });
    const { sync, query } = bare.clients;
    const { slot, hash } = bare.served.devnet.blocks()[1];
    for (const ask of [
      sync.fetchBlock({ slot, hash: toHex(hash) }),
      sync.fetchHistory(undefined),
      query.inner.readTx({ hash: new Uint8Array(32) }),
    ])
      await assert.rejects(ask, /\[unimplemented\] UNSUPPORTED.*history/);
    await bare.close();
  });
});

/** By the number that the ledger has for the kind (CDDL: `certificate`). */
const CERTIFICATES = [
  ...[
    'stakeRegistration',
    'stakeDeregistration',
    'stakeDelegation',
    'poolRegistration',
    'poolRetirement',
    'genesisKeyDelegation',
    'mirCert',
  ],
  ...['regCert', 'unregCert', 'voteDelegCert', 'stakeVoteDelegCert', 'stakeRegDelegCert', 'voteRegDelegCert', 'stakeVoteRegDelegCert'],
  ...['authCommitteeHotCert', 'resignCommitteeColdCert', 'regDrepCert', 'unregDrepCert', 'updateDrepCert'],
];

/** As the store would have it, without what it names. */
function unresolved(raw: Uint8Array, id: Uint8Array): ResolvedTx {
  const described = describeHistoryTx({ id, raw });
  const { body } = described;
  const [inputs, collateral, referenceInputs] = [body.inputs, body.collateral, body.referenceInputs].map((refs) =>
    refs.map((ref) => ({ ...ref, utxo: null })),
  );
  return {
    ...described,
    id,
    height: 0,
    slot: 0,
    blockHash: id,
    txIndex: 0,
    raw,
    fee: body.fee,
    inputs,
    collateral,
    referenceInputs,
    outputs: [],
  };
}

/** Of those with the same parts one is compared. */
function kindOf({ body, redeemers, auxiliary, valid }: ResolvedTx): string {
  const { certificateKinds, withdrawals, mint, collateral, collateralReturn, referenceInputs, proposals, outputs } = body;
  const tags = redeemers.map(({ tag }) => tag);
  const traits = outputs.flatMap(({ assets, datumHash, inlineDatum, scriptRef }) => [
    ...(assets.length > 0 ? ['assets'] : []),
    ...(datumHash === null ? [] : ['hash']),
    ...(inlineDatum === null ? [] : ['datum']),
    ...(scriptRef === null ? [] : ['script']),
  ]);
  const counts = [withdrawals, mint, collateral, referenceInputs, proposals].map(({ length }) => length > 0);
  const sets = [certificateKinds, tags, traits].map((items) => [...new Set<number | string>(items)].sort().join('+'));
  return [...counts, collateralReturn === null, auxiliary === null, valid, ...sets].join();
}

/** Pointers of old addresses may be of any length; the other library makes some of its own of those that point nowhere. */
function ownerOf(address: string): string {
  return /^[45]/.test(address) ? address.slice(0, 58) : address;
}

/** Numbers and names by which two readings of a transaction are compared. */
function reading(tx: cardano.Tx) {
  const amounts = tx.outputs.map(({ address, coin, assets }) => {
    const held = assets.flatMap(({ policyId, assets: own }) =>
      own.map(({ name, outputCoin }) => `${toHex(policyId)}${toHex(name)}=${outputCoin}`),
    );
    return [ownerOf(toHex(address)), coin.toString(), ...held.sort()].join(' ');
  });
  return {
    id: toHex(tx.hash),
    inputs: tx.inputs.map(({ txHash, outputIndex }) => `${toHex(txHash)}#${outputIndex}`).sort(),
    references: tx.referenceInputs.length,
    collateral: tx.collateral?.collateral.length,
    collateralReturn: tx.collateral?.collateralReturn?.coin.toString(),
    totalCollateral: tx.collateral?.totalCollateral.toString(),
    outputs: amounts,
    datums: tx.outputs.map(({ datum }) =>
      datum === undefined ? '' : datum.originalCbor.length > 0 ? toHex(datum.originalCbor) : toHex(datum.hash),
    ),
    scripts: tx.outputs.map(({ script }) => script?.script.case !== undefined),
    fee: tx.fee.toString(),
    start: tx.validity?.start.toString(),
    ttl: tx.validity?.ttl.toString(),
    isValid: tx.successful,
    certificates: tx.certificates.length,
    proposals: tx.proposals.length,
    withdrawals: tx.withdrawals.map(({ rewardAccount, coin }) => `${toHex(rewardAccount)}=${coin}`).sort(),
    mint: tx.mint
      .flatMap(({ policyId, assets }) => assets.map(({ name, mintCoin }) => `${toHex(policyId)}${toHex(name)}=${mintCoin}`))
      .sort(),
    // The other library keeps sets.
    signatures: new Set(tx.witnesses?.vkeywitness.map(({ signature }) => toHex(signature))).size,
    witnessScripts: tx.witnesses?.script.length,
    witnessDatums: tx.witnesses?.plutusDatums.length,
    labels: tx.auxiliary?.metadata.map(({ label }) => label.toString()).sort() ?? [],
  };
}

function readingOf(other: Transaction, id: string): ReturnType<typeof reading> {
  const [body, set] = [other.body(), other.witness_set()];
  const list = <T>(items: { len(): number; get(i: number): T } | undefined): T[] =>
    Array.from({ length: items?.len() ?? 0 }, (_, i) => items!.get(i));
  const outputs = list(body.outputs());
  const assetsOf = (value: Value): string[] =>
    list(value.multiasset()?.keys()).flatMap((policy) => {
      const own = value.multiasset()!.get(policy)!;
      return list(own!.keys()).map((name) => `${policy.to_hex()}${toHex(name.name())}=${own!.get(name)!.to_str()}`);
    });
  const mint = body.mint();
  const metadata = other.auxiliary_data()?.metadata();
  return {
    id,
    inputs: list(body.inputs())
      .map((input) => `${input.transaction_id().to_hex()}#${input.index()}`)
      .sort(),
    references: body.reference_inputs()?.len() ?? 0,
    collateral: body.collateral()?.len() ?? 0,
    collateralReturn: body.collateral_return()?.amount().coin().to_str(),
    totalCollateral: body.total_collateral()?.to_str() ?? '0',
    outputs: outputs.map((output) => {
      const held = assetsOf(output.amount()).filter((text) => !text.endsWith('=0'));
      return [ownerOf(output.address().to_hex()), output.amount().coin().to_str(), ...held.sort()].join(' ');
    }),
    datums: outputs.map((output) => output.plutus_data()?.to_hex() ?? output.data_hash()?.to_hex() ?? ''),
    scripts: outputs.map((output) => output.script_ref() !== undefined),
    fee: body.fee().to_str(),
    start: body.validity_start_interval_bignum()?.to_str() ?? '0',
    ttl: body.ttl_bignum()?.to_str() ?? '0',
    isValid: other.is_valid(),
    certificates: body.certs()?.len() ?? 0,
    proposals: body.voting_proposals()?.len() ?? 0,
    withdrawals: list(body.withdrawals()?.keys())
      .map((account) => `${toHex(account.to_address().to_bytes())}=${body.withdrawals()!.get(account)!.to_str()}`)
      .sort(),
    mint: list(mint?.keys())
      .flatMap((policy) =>
        list(mint!.get(policy)).flatMap((own) =>
          list(own!.keys()).map((name) => `${policy.to_hex()}${toHex(name.name())}=${own!.get(name)!.to_str()}`),
        ),
      )
      .sort(),
    signatures: (set.vkeys()?.len() ?? 0) + (set.bootstraps()?.len() ?? 0),
    witnessScripts: (set.native_scripts()?.len() ?? 0) + (set.plutus_scripts()?.len() ?? 0),
    witnessDatums: set.plutus_data()?.len() ?? 0,
    labels: list(metadata?.keys())
      .map((label) => label.to_str())
      .sort(),
  };
}

describe('transactions of real blocks', () => {
  test('say what another library reads in them', needsFixtures, () => {
    const attached = { wanted: 0, found: 0 };
    const kinds = new Set<string>();
    let [compared, unread] = [0, 0];
    for (const name of readdirSync(fixtures('cardano', 'blocks')).filter((file) => file.endsWith('.cbor'))) {
      const block = decodeBlock(readFixture('cardano', 'blocks', name), 21_600);
      wholeTxs(block).forEach((raw, i) => {
        const tx = unresolved(raw, block.txs[i].id);
        const kind = `${block.era} ${kindOf(tx)}`;
        if (kinds.has(kind)) return;
        kinds.add(kind);
        const message = newMessage(cardano.Tx, txMessage(tx));
        assert.ok(message.toBinary().length > 0, 'its numbers fit');
        attached.wanted += tx.redeemers.filter(({ tag }) => tag <= 3).length;
        const withRedeemers = [message.inputs, message.mint, message.certificates, message.withdrawals].flat();
        attached.found += withRedeemers.filter(({ redeemer }) => redeemer !== undefined).length;
        assert.deepEqual(
          message.certificates.map(({ certificate }) => certificate.case),
          tx.body.certificateKinds.map((kind) => CERTIFICATES[kind]),
        );
        if (raw[0] !== 0x84) return;
        let other: Transaction;
        try {
          other = Transaction.from_bytes(raw);
        } catch {
          unread++;
          return;
        }
        assert.deepEqual(reading(message), readingOf(other, toHex(block.txs[i].id)), `${name}, transaction ${i}`);
        compared++;
      });
    }
    assert.ok(compared > 60 && unread < 5, `${compared} transactions, ${unread} that the other library does not read`);
    assert.equal(attached.found, attached.wanted, 'each redeemer stands with what it is for');
  });
});
