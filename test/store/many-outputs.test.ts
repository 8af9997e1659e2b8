/**
 * A transaction with more outputs than two bytes can number, as the rules of
 * Bitcoin allow: followed over P2P, its last output spent, the spend undone and
 * made again, proved in both structures, told by every interface, in the records
 * of transactions and in a wallet that owns its outputs, exported and imported. One store that keeps everything; the numbers come from the test.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type P2pServer, serveP2p } from '../../src/chains/bitcoin/responder/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { decodeTx, formatId, scriptKey } from '../../src/ledgers/bitcoin/index.ts';
import { documentFromText, verifyDocument } from '../../src/proofs/index.ts';
import { digestOf } from '../../src/query/digest.ts';
import { type Served, serve } from '../../src/server/serve.ts';
import { exportSnapshot, importSnapshot } from '../../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { historyTxs } from '../../src/wallet/bitcoin/wallet-tx.ts';
import { storeFeed } from '../../src/wallet/feed/store-feed.ts';
import { WalletFeed } from '../../src/wallet/feed/wallet-feed.ts';
import { openWalletStore } from '../../src/wallet/open.ts';
import type { WalletId } from '../../src/wallet/records.ts';
import type { SqlWalletStore } from '../../src/wallet/sql/store.ts';
import { atTime, forgeBlock, forgeCoinbase, forgeTx, OP_TRUE, withWork } from '../ledgers/bitcoin/forge.ts';
import { LineClient } from '../server/bitcoin/electrum/client.ts';
import { TestChain } from '../sources/bitcoin/p2p-chain.ts';

const OUTPUTS = 70_000;
/** For the wallet, whose time is of no interest here. */
const NOW = 1_700_000_000_000;
const LAST = OUTPUTS - 1;
/** Cut to two bytes it would be output 0. */
const FIRST_WIDE = 65_536;
const VALUE = 1000n;
/** Of the others only these are kept: between them stand outputs that nobody can spend, which saves the test most of its time. */
const FIRST_KEPT = 62_000;
const KEPT_OUTPUTS = 2 + OUTPUTS - FIRST_KEPT;
const NOTE = { value: 0n, script: Uint8Array.of(0x6a) };
const NETWORK = 'bitcoin-regtest';
/** P2WPKH, so that it has an address; not that of anything else on the chain. */
const OWNER = concatBytes(fromHex('0014'), new Uint8Array(20).fill(7));
const KEPT = ['utxo.store=mmr', 'proofs.csmt=true', 'proofs.setHash=true', 'utxo.history=true', 'utxo.balances=true', 'txs.store=embedded'];

const folder = mkdtempSync(join(tmpdir(), 'unspent-many-'));
const chain = new TestChain(3);
const wide = forgeTx({
  inputs: [{ txId: chain.tip.coinbase, index: 0, witness: [OP_TRUE] }],
  outputs: Array.from({ length: OUTPUTS }, (_, i) => (i < 2 || i >= FIRST_KEPT ? { value: VALUE, script: OWNER } : NOTE)),
});
const wideId = decodeTx(wide).id;
const spender = forgeTx({
  inputs: [0, FIRST_WIDE, LAST].map((index) => ({ txId: wideId, index, witness: [OP_TRUE] })),
  outputs: [{ value: 3n * VALUE, script: OP_TRUE }],
});
const spenderId = formatId(decodeTx(spender).id);

function mine(tx: Uint8Array): void {
  const height = chain.height + 1;
  const coinbase = forgeCoinbase(height, [{ value: 1n, script: OP_TRUE }], [tx]);
  chain.adopt(withWork(atTime(forgeBlock(chain.tip.hash, [coinbase, tx]), 1_700_000_000 + height)));
}

describe('a transaction of 70,000 outputs', () => {
  let node: P2pServer;
  let store: OpenStore;
  let served: Served;
  let wallets: SqlWalletStore;
  let walletId: WalletId;

  before(async () => {
    const { config } = loadConfig({ flags: { set: KEPT } });
    node = await serveP2p(chain, { port: 0 });
    store = await openStore({ data: join(folder, 'store'), network: NETWORK, config });
    wallets = await openWalletStore(`sqlite:${join(folder, 'wallets.sqlite')}`);
    ({ id: walletId } = await wallets.createWallet({ name: 'wide', isWatchOnly: true }));
    await wallets.importAddress(walletId, { script: OWNER, kind: 'p2wpkh' }, NOW);
    await catchUp();
    mine(wide);
    await catchUp();
    served = await serve(store, { port: 0, ports: { electrum: { tcp: 0 } }, thread: false });
  });

  after(async () => {
    await served?.close();
    await wallets?.close();
    await store?.close();
    await node?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function catchUp(): Promise<void> {
    await store.follow(`p2p://127.0.0.1:${node.port}`);
    assert.equal(toHex(store.fold.head!.hash), toHex(chain.tip.hash));
    const feed = new WalletFeed(wallets, { feed: 'wide', now: () => NOW });
    await feed.follow(storeFeed(store, historyTxs(false), store.network.dialect.clock, { ends: true }), new AbortController().signal);
  }

  /** Indexes of the wallet's coins of the transaction. */
  async function coins(): Promise<Set<number>> {
    const filter = { now: NOW, coinbaseMaturity: 0 };
    const listed = await wallets.listCoins(walletId, filter);
    const own = listed.filter(({ outpoint: { txId } }) => toHex(txId) === toHex(wideId));
    assert.equal((await wallets.balance(walletId, filter)).total, BigInt(own.length) * VALUE);
    return new Set(own.map(({ outpoint: { index } }) => index));
  }

  async function get<T>(path: string): Promise<T> {
    const response = await fetch(new URL(`api${path}`, served.url));
    assert.equal(response.status, 200, `${path}: ${response.status}`);
    return (await response.json()) as T;
  }

  function outpoint(index: number) {
    return store.read((query) => query.outpoint(wideId, index));
  }

  it('is followed, and each of its outputs that can be spent is there once', () => {
    const indexes = new Set(store.read((query) => [...query.byKey('address', scriptKey(OWNER))].map(({ index }) => index)));
    assert.equal(indexes.size, KEPT_OUTPUTS);
    assert.ok(indexes.has(LAST));
    for (const index of [0, FIRST_WIDE, LAST]) assert.equal(outpoint(index)?.spent, null);
    assert.equal(outpoint(OUTPUTS), null);
  });

  it('its last output is spent, the spend is undone, and made again', async () => {
    const before = digestOf(store.engine);
    mine(spender);
    await catchUp();
    for (const [input, index] of [0, FIRST_WIDE, LAST].entries()) {
      const { spent } = outpoint(index)!;
      assert.deepEqual([spent?.txId && formatId(spent.txId), spent?.input], [spenderId, input]);
    }
    assert.equal(outpoint(1)?.spent, null);
    store.fold.rollback(store.fold.rowAt(chain.height - 1)!);
    assert.deepEqual(digestOf(store.engine), before);
    await catchUp();
    assert.deepEqual(store.verify().faults, []);
  });

  it('is in the records of transactions, and its coins are in a wallet', async () => {
    const record = await store.txs!.find(wideId);
    assert.equal(record.outputs.length, OUTPUTS);
    const spent = record.outputs.flatMap(({ slot }, index) => (slot?.state === 'spent' ? [index] : []));
    assert.deepEqual(spent, [0, FIRST_WIDE, LAST]);
    const own = await coins();
    assert.equal(own.size, KEPT_OUTPUTS - 3);
    assert.deepEqual(
      [0, 1, FIRST_WIDE, LAST - 1, LAST].map((index) => own.has(index)),
      [false, true, false, true, false],
    );
  });

  it('is told over HTTP', async () => {
    const id = formatId(wideId);
    const spent = await get<{ output_index: number; spent_by: string }>(`/v1/utxos/${id}/${LAST}`);
    assert.equal(spent.output_index, LAST);
    assert.ok(JSON.stringify(spent).includes(spenderId));
    const response = await fetch(new URL('api/v1/utxos', served.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([`${id}#${LAST - 1}`, `${id}#${OUTPUTS}`]),
    });
    const [found, none] = (await response.json()) as [{ output_index: number }, null];
    assert.deepEqual([found.output_index, none], [LAST - 1, null]);
    const beyond = await fetch(new URL(`api/v1/utxos/${id}/${2 ** 32}`, served.url));
    assert.equal(beyond.status, 400, 'an index that no output can have is not cut to one that it can');
  });

  it('is proved in both structures', async () => {
    for (const index of [FIRST_WIDE + 1, LAST - 1]) {
      for (const [path, rootPath] of [
        [`/v1/csmt/utxo/${formatId(wideId)}/${index}/proof`, '/v1/csmt/root'],
        [`/v1/utxo/mmr/proof/${formatId(wideId)}/${index}`, '/v1/utxo/mmr/root'],
      ]) {
        const { root } = await get<{ root: string }>(rootPath);
        const text = JSON.stringify(await get(path));
        const trusted = { root: fromHex(root), network: NETWORK, family: 'bitcoin' } as const;
        assert.equal(verifyDocument(documentFromText(text), trusted).ok, true, path);
        const other = text.replace(`"output_index":${index}`, `"output_index":${index - FIRST_WIDE}`);
        assert.notEqual(other, text);
        assert.equal(verifyDocument(documentFromText(other), trusted).ok, false, 'the whole index is proved');
      }
    }
  });

  it('is told over Esplora and Electrum', async () => {
    const id = formatId(wideId);
    const { spent, txid, vin } = await get<{ spent: boolean; txid: string; vin: number }>(`/tx/${id}/outspend/${LAST}`);
    assert.deepEqual([spent, txid, vin], [true, spenderId, 2]);
    const spends = await get<{ spent: boolean }[]>(`/tx/${id}/outspends`);
    assert.deepEqual([spends.length, spends.flatMap((each, i) => (each.spent ? [i] : []))], [OUTPUTS, [0, FIRST_WIDE, LAST]]);
    const { vin: inputs } = await get<{ vin: { vout: number }[] }>(`/tx/${spenderId}`);
    assert.deepEqual(
      inputs.map(({ vout }) => vout),
      [0, FIRST_WIDE, LAST],
    );
    assert.equal((await fetch(new URL(`api/tx/${id}/outspend/${2 ** 32}`, served.url))).status, 400);
    const client = await LineClient.open(served.ports['electrum']?.['tcp']);
    try {
      const hash = toHex(sha256(OWNER).reverse());
      const unspent = await client.ask<{ tx_hash: string; tx_pos: number }[]>('blockchain.scripthash.listunspent', hash);
      assert.deepEqual([unspent.length, unspent[unspent.length - 1].tx_pos], [KEPT_OUTPUTS - 3, LAST - 1]);
    } finally {
      client.socket.destroy();
    }
  });

  it('is in snapshots', async () => {
    const digest = digestOf(store.engine);
    const copy = join(folder, 'snapshot');
    await exportSnapshot(store, copy);
    const { config } = loadConfig({ flags: { set: ['proofs.csmt=true', 'proofs.setHash=true'] } });
    await importSnapshot(copy, { data: join(folder, 'imported'), config, network: NETWORK });
    const imported = await openStore({ data: join(folder, 'imported'), config });
    try {
      assert.deepEqual(digestOf(imported.engine), digest);
      assert.deepEqual(imported.verify().faults, []);
    } finally {
      await imported.close();
    }
  });
});
