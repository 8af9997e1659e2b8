/**
 * Wallets over a store that has forgotten bytes of their past
 * (`txs.boundHistory`): what is unspent is found and the balances are right, what
 * is forgotten is said, and a wallet with such a past stops no other.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ColumnSpec } from '../../../../src/engine/engine.ts';
import { openMemory } from '../../../../src/engine/memory.ts';
import { outpointText } from '../../../../src/ledgers/outpoint.ts';
import { serve } from '../../../../src/server/serve.ts';
import { feedWallets } from '../../../../src/server/wallets/feed-wallets.ts';
import { type OpenStore, openStore } from '../../../../src/store/store.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { SCRIPTS_AT_ONCE } from '../../../../src/util/limits.ts';
import { BitcoinWallets } from '../../../../src/wallet/bitcoin/bitcoin-wallets.ts';
import { httpHistory } from '../../../../src/wallet/bitcoin/http-history.ts';
import * as keys from '../../../../src/wallet/bitcoin/keys/index.ts';
import { preparePayment } from '../../../../src/wallet/bitcoin/operations/payment.ts';
import { bitcoinPast } from '../../../../src/wallet/bitcoin/wallet-tx.ts';
import { txJson, type WalletTxJson } from '../../../../src/wallet/documents.ts';
import { followServer } from '../../../../src/wallet/feed/follow-server.ts';
import { openWalletStore } from '../../../../src/wallet/open.ts';
import type { ConfirmedTx } from '../../../../src/wallet/past/script-history.ts';
import { storeHistory } from '../../../../src/wallet/past/script-history.ts';
import { RegtestAccount } from '../../../support/regtest-account.ts';

/** Blocks after which what is spent is forgotten, and which the store can undo. */
const DEPTH = 5;
const SETTINGS = {
  'utxo.history': true,
  'utxo.pruneDepth': DEPTH,
  'utxo.rollbackWindow': DEPTH,
  'txs.store': 'embedded',
  'txs.retention': DEPTH,
  'txs.boundHistory': true,
} as const;

class PrunedChain {
  readonly account = new RegtestAccount(98);
  readonly chain = this.account.chain;
  readonly store: OpenStore;
  readonly #directory: string;
  readonly #t: TestContext;
  #now = 1_700_000_000_000;

  private constructor(t: TestContext, directory: string, store: OpenStore) {
    this.#t = t;
    this.#directory = directory;
    this.store = store;
  }

  static async open(t: TestContext): Promise<PrunedChain> {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-pruned-'));
    const engine = { name: 'memory', open: (_directory: string, columns: readonly ColumnSpec[]) => openMemory(columns) };
    const data = join(directory, 'data');
    const store = await openStore({ data, network: 'bitcoin-regtest', settings: SETTINGS, engine, control: false });
    t.after(async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const all = new PrunedChain(t, directory, store);
    await all.mine(102);
    return all;
  }

  /** A database of wallets of its own. */
  async wallets(name: string): Promise<BitcoinWallets> {
    const { network } = this.chain;
    const store = await openWalletStore(`sqlite:${join(this.#directory, name)}`, { isDurable: false });
    this.#t.after(() => store.close());
    return new BitcoinWallets({ store, network, keys, gapLimit: 20, now: () => this.#now++ });
  }

  /** The store has the blocks, and has forgotten what may go. */
  async mine(blocks: number): Promise<void> {
    this.chain.mine(blocks);
    this.account.apply(this.store);
    while (this.store.prune(1000).blocks > 0);
    await this.store.txs?.pass();
  }

  /** So many blocks that what was spent before is forgotten, with those wallets at every one of them. */
  async bury(wallets: BitcoinWallets): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await this.mine(DEPTH - 1);
      await feedWallets(wallets, this.store);
    }
  }

  /** Everything that the wallet has goes to its address of that index, and a tenth to the one behind it. */
  async sweep(wallets: BitcoinWallets, name: string, index: number): Promise<Uint8Array> {
    const wallet = await wallets.store.getWallet(name);
    const { total } = await wallets.store.balance(wallet.id, { now: this.#now });
    const outputs = [total - total / 10n, total / 10n].map((value, i) => {
      return { script: this.account.script(0, index + i), value, subtractFee: true };
    });
    const { psbt } = await preparePayment(wallets, wallet, { outputs, rate: 2000, leaseMs: 1 });
    return this.chain.submit(this.account.sign(psbt));
  }

  /** A server of the store, as wallets elsewhere ask it. */
  async server(): Promise<{ readonly url: string; readonly onLost: (error: Error) => never }> {
    const served = await serve(this.store, { port: 0, thread: false });
    this.#t.after(() => served.close());
    return {
      url: served.url,
      onLost: (error) => {
        throw error;
      },
    };
  }

  isForgotten(txId: Uint8Array): boolean {
    try {
      return this.store.read((query) => query.history().tx(txId)) === null;
    } catch (error) {
      return isUnspentError(error, 'PRUNED');
    }
  }
}

/** All unspent outputs of a wallet, as text. */
async function coinsOf({ store }: BitcoinWallets, name: string): Promise<string[]> {
  const coins = await store.listCoins((await store.getWallet(name)).id, { now: 0 });
  return coins.map(({ outpoint, amount }) => `${toHex(outpoint.txId)}#${outpoint.index} ${amount}`);
}

async function historyOf({ store, notation }: BitcoinWallets, name: string): Promise<WalletTxJson[]> {
  const wallet = await store.getWallet(name);
  return (await store.history(wallet.id)).map((detail) => txJson(notation, wallet, detail, []));
}

/** What the history adds up to is what the wallet has. */
async function assertSums(wallets: BitcoinWallets, name: string): Promise<void> {
  const { total } = await wallets.store.balance((await wallets.store.getWallet(name)).id, { now: 0 });
  const history = await historyOf(wallets, name);
  assert.equal(
    history.reduce((sum, { change }) => sum + BigInt(change), 0n),
    total,
  );
}

describe('wallets whose past was forgotten', () => {
  it('are found with all that is unspent, and say what is missing; others are found, too', async (t) => {
    const all = await PrunedChain.open(t);
    const { account, chain } = all;
    const first = await all.wallets('first');
    await first.createWatching('shop', { descriptor: account.descriptor });
    const funding = chain.fund(account.script(0, 0), 900_000n);
    await all.mine(1);
    await feedWallets(first, all.store);
    const spends: Uint8Array[] = [];
    for (const index of [2, 4, 6]) {
      spends.push(await all.sweep(first, 'shop', index));
      await all.mine(1);
      await feedWallets(first, all.store);
    }
    await all.bury(first);
    assert.deepEqual(
      spends.map((id) => all.isForgotten(id)),
      [true, true, false],
    );
    // Gone, too, if others on the chain have spent the change of who has paid first.
    const forgotten = [spends[1], spends[0], ...(all.isForgotten(funding) ? [funding] : [])];

    const late = await all.wallets('late');
    await late.createWatching('shop', { descriptor: account.descriptor });
    await late.createWatching('other', { descriptor: account.accountDescriptor(1) });
    await feedWallets(late, all.store);
    assert.deepEqual(await coinsOf(late, 'shop'), await coinsOf(first, 'shop'));
    assert.notEqual((await late.store.getWallet('other')).syncedTo, null);
    const history = await historyOf(late, 'shop');
    assert.deepEqual(
      history.filter(({ pruned }) => pruned === true).map(({ txid, fee }) => [txid, fee]),
      forgotten.map((id) => [late.notation.formatId(id), null]),
    );
    await assertSums(late, 'shop');
    const elsewhere = await all.wallets('elsewhere');
    await elsewhere.createWatching('shop', { descriptor: account.descriptor });
    const server = await all.server();
    await followServer(elsewhere, server);
    assert.deepEqual(await historyOf(elsewhere, 'shop'), await historyOf(late, 'shop'), 'a server tells what its store does');
    assert.ok(
      (await historyOf(first, 'shop')).every(({ pruned }) => pruned === undefined),
      'whoever was there has it all',
    );

    chain.fund(account.script(0, 8), 5_000n);
    await all.mine(1);
    for (const wallets of [first, late]) await feedWallets(wallets, all.store);
    await followServer(elsewhere, server);
    for (const wallets of [late, elsewhere]) assert.deepEqual(await coinsOf(wallets, 'shop'), await coinsOf(first, 'shop'));
  });

  it('that were away while their coins were spent are right after a rescan', async (t) => {
    const all = await PrunedChain.open(t);
    const { account, chain } = all;
    const [away, elsewhere, present] = [await all.wallets('away'), await all.wallets('elsewhere'), await all.wallets('present')];
    chain.fund(account.script(0, 0), 900_000n);
    await all.mine(1);
    for (const wallets of [away, elsewhere, present]) {
      await wallets.createWatching('shop', { descriptor: account.descriptor });
      await feedWallets(wallets, all.store);
    }
    const spends: Uint8Array[] = [];
    for (const index of [2, 4, 6]) {
      spends.push(await all.sweep(present, 'shop', index));
      await all.mine(1);
      await feedWallets(present, all.store);
    }
    await all.bury(present);
    assert.deepEqual(
      spends.map((id) => all.isForgotten(id)),
      [true, true, false],
    );
    await assert.rejects(feedWallets(away, all.store), { code: 'EXPIRED', message: /rescan/ });
    const { pruned } = await away.rescan(all.store);
    assert.equal(pruned, 1, 'of the addresses that it had; the other is found with the addresses behind them');
    assert.equal((await historyOf(away, 'shop')).filter((tx) => tx.pruned === true).length, 2);
    assert.deepEqual(await coinsOf(away, 'shop'), await coinsOf(present, 'shop'));
    await assertSums(away, 'shop');
    const server = await all.server();
    await assert.rejects(followServer(elsewhere, server), { code: 'EXPIRED', message: /rescan/ });
    await elsewhere.rescanFrom({ ...server, signal: new AbortController().signal });
    assert.deepEqual(await historyOf(elsewhere, 'shop'), await historyOf(away, 'shop'), 'a server tells what its store does');
    await followServer(elsewhere, server);
    await away.rescan(all.store, 0);
    assert.deepEqual(await coinsOf(away, 'shop'), await coinsOf(present, 'shop'));
    await assertSums(away, 'shop');
  });

  it('are asked for in parts over HTTP, and are one answer', async (t) => {
    const all = await PrunedChain.open(t);
    const { account, chain, store } = all;
    const wallets = await all.wallets('shop');
    await wallets.createWatching('shop', { descriptor: account.descriptor });
    chain.fund(account.script(0, 0), 900_000n);
    await all.mine(1);
    await feedWallets(wallets, store);
    for (const index of [2, 4]) {
      await all.sweep(wallets, 'shop', index);
      await all.mine(1);
      await feedWallets(wallets, store);
    }
    await all.bury(wallets);
    const { dialect } = store.network;
    const here = storeHistory(store, bitcoinPast(false), dialect.clock);
    const there = httpHistory({ ...(await all.server()), network: chain.network, signal: new AbortController().signal });
    // More than one request has, with the used ones in both halves.
    const scripts = Array.from({ length: SCRIPTS_AT_ONCE + 100 }, (_, i) => account.script(i < 300 ? 0 : 1, i));
    scripts.push(account.script(0, 0));
    scripts.shift();
    assert.deepEqual(await there.used(scripts), await here.used(scripts));
    const head = store.fold.head ?? assert.fail('there is a block');
    const to = { height: head.height - 1, hash: chain.hashAt(head.height - 1) ?? assert.fail('it has one'), timestamp: 0 };
    const coins = (await here.txsUpTo(to, scripts))!.flatMap(({ tx }) => tx.inputs);
    const told = async (history: typeof here) => (await history.txsUpTo(to, scripts, coins))?.map(shown);
    assert.deepEqual(await told(there), await told(here));
    assert.ok(
      (await told(here))!.some(({ raw }) => raw === ''),
      'some are forgotten',
    );
    assert.equal(await there.txsUpTo({ ...to, height: to.height - 1 }, scripts), null, 'another block is at that height');
  });
});

/** Inputs of forgotten ones are in no order. */
function shown({ tx, block }: ConfirmedTx) {
  const inputs = tx.inputs.map(outpointText);
  return { id: toHex(tx.id), raw: toHex(tx.raw), inputs: tx.raw.length === 0 ? inputs.sort() : inputs, isCoinbase: tx.isCoinbase, block };
}
