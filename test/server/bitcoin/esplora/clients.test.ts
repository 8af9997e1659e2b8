/** Clients from npm, as they are, against a server that listens. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EsploraExplorer } from '@bitcoinerlab/explorer';
import mempoolJs from '@mempool/mempool.js';
import { formatAddress } from '../../../../src/ledgers/bitcoin/index.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { scriptHashOf } from './model.ts';
import { EsploraRig, LOCKS } from './rig.ts';

/** Electrum's way round, which this client takes and turns. */
function electrumHash(script: Uint8Array): string {
  return Buffer.from(scriptHashOf(script), 'hex').reverse().toString('hex');
}

const rig = new EsploraRig();
const { script } = LOCKS.p2wpkh;
const address = formatAddress(rig.network.parameters, script)!;
let origin = '';

before(async () => {
  rig.mine();
  rig.mine([
    rig.spend(
      [...rig.coins],
      1,
      Array.from({ length: 70 }, () => LOCKS.p2wpkh),
    ),
  ]);
  const coins = [...rig.coins].filter(({ value }) => value < 100_000_000n);
  for (let i = 0; i < 40; i++) rig.mine([rig.spend(coins, 1, [LOCKS.p2tr])]);
  rig.announce(rig.spend(coins, 1, [LOCKS.p2wpkh]));
  const app = await rig.app;
  origin = await app.listen({ host: '127.0.0.1', port: 0 });
  app.server.unref();
});
after(() => rig.close());

describe('@bitcoinerlab/explorer', () => {
  let explorer: EsploraExplorer;
  before(async () => {
    explorer = new EsploraExplorer({ url: `${origin}/api` });
    await explorer.connect();
  });
  after(() => explorer.close());

  test('balances of an address and of a script hash', async () => {
    const [chain, pool] = [rig.model.stats(script, true), rig.model.stats(script, false)] as Record<string, number>[];
    const wanted = {
      balance: chain['funded_txo_sum'] - chain['spent_txo_sum'],
      txCount: chain['tx_count'],
      unconfirmedBalance: pool['funded_txo_sum'] - pool['spent_txo_sum'],
      unconfirmedTxCount: 1,
    };
    assert.deepEqual(await explorer.fetchAddress(address), wanted);
    assert.deepEqual(await explorer.fetchScriptHash(electrumHash(script)), wanted);
  });

  test('a whole history, over several pages', async () => {
    const history = rig.model.historyOf(script).map(({ tx, height }) => ({ txId: tx.getId(), blockHeight: height ?? 0 }));
    assert.ok(history.length > 75);
    for (const asked of [{ address }, { scriptHash: electrumHash(script) }]) {
      const fetched = await explorer.fetchTxHistory(asked);
      assert.deepEqual(
        fetched.map(({ txId, blockHeight }) => ({ txId, blockHeight })),
        history,
      );
    }
  });

  test('a history of nothing but what is unconfirmed', async () => {
    rig.announce(
      rig.spend(
        [...rig.coins].filter(({ lock }) => lock === LOCKS.p2tr),
        1,
        [LOCKS.p2wsh],
      ),
    );
    const fetched = await explorer.fetchTxHistory({ scriptHash: electrumHash(LOCKS.p2wsh.script) });
    assert.deepEqual(
      fetched.map(({ blockHeight }) => blockHeight),
      [0],
    );
  });

  test('blocks, fees, transactions', async () => {
    assert.equal(await explorer.isConnected(), true);
    assert.equal(await explorer.fetchBlockHeight(), rig.height);
    const status = await explorer.fetchBlockStatus(30);
    assert.deepEqual(status, {
      blockHeight: 30,
      blockHash: rig.model.hash(30),
      blockTime: rig.model.block(30).timestamp,
      irreversible: true,
    });
    assert.equal((await explorer.fetchFeeEstimates())['6'], 1);
    const { tx } = rig.model.txs().at(-1)!;
    assert.equal(await explorer.fetchTx(tx.getId()), tx.toHex());
    const raw = rig.spend([...rig.coins], 1);
    assert.equal((await explorer.push(toHex(raw))).length, 64);
    rig.refuse = () => 'min relay fee not met';
    await assert.rejects(explorer.push(toHex(raw)), /min relay fee not met/);
    rig.refuse = () => null;
    await assert.rejects(explorer.fetchTx('00'.repeat(32)), /Transaction not found.*404/);
  });
});

describe('@mempool/mempool.js', () => {
  const client = () => mempoolJs({ hostname: new URL(origin).host, protocol: 'http' }).bitcoin;

  test('addresses', async () => {
    const { addresses } = client();
    assert.deepEqual((await addresses.getAddress({ address })).chain_stats, rig.model.stats(script, true));
    assert.deepEqual(await addresses.getAddressTxsUtxo({ address }), rig.model.utxos(script));
    assert.equal((await addresses.getAddressTxsChain({ address })).length, 25);
    assert.ok((await addresses.getAddressTxsMempool({ address })).every(({ status }) => !status.confirmed));
    const [first] = await addresses.getAddressTxsChain({ address });
    assert.equal((await addresses.getAddressTxs({ address, after_txid: first.txid })).length, 25);
  });

  test('blocks, transactions, the mempool', async () => {
    const { blocks, transactions, mempool } = client();
    const hash = rig.model.hash(2);
    assert.equal(await blocks.getBlocksTipHeight(), rig.height);
    assert.equal(await blocks.getBlocksTipHash(), rig.model.hash(rig.height));
    assert.equal(await blocks.getBlockHeight({ height: 2 }), hash);
    assert.equal((await blocks.getBlockStatus({ hash })).next_best, rig.model.hash(3));
    const [coinbase, fan] = rig.model.block(2).transactions!.map((tx) => tx.getId());
    assert.deepEqual(await blocks.getBlockTxids({ hash }), [coinbase, fan]);
    assert.equal((await transactions.getTx({ txid: fan })).vout.length, 71);
    assert.deepEqual(
      await transactions.getTxOutspends({ txid: fan }),
      rig.model.block(2).transactions![1].outs.map((_, vout) => rig.model.outspend(fan, vout)),
    );
    assert.equal((await transactions.getTxMerkleProof({ txid: fan })).pos, 1);
    // Its types say that this is a list.
    const backlog = (await mempool.getMempool()) as unknown as { readonly count: number };
    assert.equal(backlog.count, rig.mempool.size);
    assert.equal((await mempool.getMempoolTxids()).length, rig.mempool.size);
    const raw = rig.spend([...rig.coins].reverse(), 1);
    assert.match(String(await transactions.postTx({ txhex: toHex(raw) })), /^[0-9a-f]{64}$/);
  });
});
