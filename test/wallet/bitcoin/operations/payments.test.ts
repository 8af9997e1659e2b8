/**
 * What people do with a wallet, on a chain that checks their signatures: a
 * wallet finds its past, is paid, pays, replaces what waits too long, and is
 * right after the chain has turned.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toHex } from '../../../../src/util/bytes.ts';
import { newAddressOf } from '../../../../src/wallet/bitcoin/operations/addresses.ts';
import { broadcastTx } from '../../../../src/wallet/bitcoin/operations/broadcast.ts';
import { prepareChild, prepareReplacement } from '../../../../src/wallet/bitcoin/operations/bump.ts';
import { createWatchOnlyWallet, importDescriptor } from '../../../../src/wallet/bitcoin/operations/create-wallet.ts';
import { preparePayment, selectPayment } from '../../../../src/wallet/bitcoin/operations/payment.ts';
import { Spendables } from '../../../../src/wallet/bitcoin/operations/spendable.ts';
import type { FreeCoins } from '../../../../src/wallet/free-coins.ts';
import { exportLabels, importLabels } from '../../../../src/wallet/labels.ts';
import { type CoinTable, confirmationsAt, tableOf } from '../../../../src/wallet/selection/bitcoin/coin-table.ts';
import { until } from '../../../support/patience.ts';
import { RegtestWallets } from './regtest-wallets.ts';

const LEASE_MS = 600_000;
const RATE = 2000;

/** What the chain says the account has, against what the wallet says. */
async function assertSameCoins(all: RegtestWallets, name: string): Promise<void> {
  const wallet = await all.wallet(name);
  const coins = await all.context.store.listCoins(wallet.id, { now: all.context.now(), minConfs: 1 });
  const scripts = new Set((await all.context.store.listAddresses(wallet.id)).map(({ script }) => toHex(script)));
  const expected = [...all.chain.utxos.values()].filter(({ script }) => scripts.has(toHex(script)));
  assert.deepEqual(
    coins.map(({ outpoint, amount }) => `${toHex(outpoint.txId)}:${outpoint.index} ${amount}`).sort(),
    expected.map(({ key, value }) => `${key} ${value}`).sort(),
  );
}

/** The columns that a selection looks at say what the coins say, of all accounts and of one. */
async function assertSameTable(all: RegtestWallets, name: string): Promise<void> {
  const wallet = await all.wallet(name);
  const now = all.context.now();
  const spendables = await Spendables.read(all.context, wallet, RATE);
  const rowsOf = (table: CoinTable): unknown[] =>
    Array.from({ length: table.count }, (_, i) => {
      const place = table.places[i];
      const { ancestors = 0, descendants = 0, bumpFee = 0n } = table.ancestries.get(place) ?? {};
      const { type, weight } = table.forms[table.formIndexes[place]];
      const columns = { type, weight, value: table.values[place], isOwn: table.owns[place], ancestors, descendants, bumpFee };
      return { ...columns, confirmations: confirmationsAt(table, i), coin: { ...table.coinAt(i) } };
    });
  const compare = (free: FreeCoins) => {
    const coins = [...free];
    assert.ok(coins.length > 0);
    assert.deepEqual(rowsOf(spendables.table(free)), rowsOf(tableOf(spendables.coins(coins))));
    const accountId = coins[0].account?.id;
    const ofAccount = coins.filter(({ account }) => account?.id === accountId);
    assert.deepEqual(rowsOf(spendables.table(free, { accountId })), rowsOf(tableOf(spendables.coins(ofAccount))));
    return { coins: [] };
  };
  await all.context.store.selectAndLease(wallet.id, { now }, compare, { id: new Uint8Array(32), now, durationMs: 1 });
}

describe('a wallet from a descriptor', () => {
  it('finds its past in the index, and sees addresses behind the last one', async (t) => {
    const all = await RegtestWallets.open(t, 11);
    const { context, chain } = all;
    for (const index of [0, 3, 19]) chain.fund(all.account.script(0, index), 10_000n + BigInt(index));
    chain.mine();
    // 19 unused ones in between: still inside the gap of 20 behind index 19.
    chain.fund(all.account.script(0, 39), 5000n);
    chain.fund(all.account.script(1, 2), 7000n);
    chain.mine();
    all.apply();
    await createWatchOnlyWallet(context, { name: 'past', descriptor: all.account.descriptor });
    all.follow(t);
    await all.settle();
    const wallet = await all.wallet('past');
    assert.equal((await context.store.balance(wallet.id, { now: context.now() })).total, 10_000n + 10_003n + 10_019n + 5000n + 7000n);
    const [account] = await context.store.listAccounts(wallet.id);
    assert.deepEqual([account.nextExternalIndex, account.nextInternalIndex], [40, 3]);
    chain.fund(all.account.script(0, 55), 1234n);
    await all.mine();
    assert.equal((await context.store.listAccounts(wallet.id))[0].nextExternalIndex, 56);
    await assertSameCoins(all, 'past');
    assert.equal((await newAddressOf(context, wallet, {})).derivation?.index, 56);
    assert.equal((await newAddressOf(context, wallet, { branch: 1 })).derivation?.index, 3);
  });

  it('that is made while the feed runs is found at once, also its second account', async (t) => {
    const all = await RegtestWallets.open(t, 12);
    const { context, chain } = all;
    chain.fund(all.account.script(0, 0), 20_000n);
    chain.mine();
    all.apply();
    all.follow(t);
    await until(async () => (await context.store.feedPosition('chain')) !== null, 'the feed has begun');
    await createWatchOnlyWallet(context, { name: 'late', descriptor: all.account.descriptor });
    await all.settle();
    const { id } = await all.wallet('late');
    assert.equal((await context.store.balance(id, { now: context.now() })).total, 20_000n);
    await assert.rejects(createWatchOnlyWallet(context, { name: 'late', descriptor: all.account.descriptor }), { code: 'WALLET_EXISTS' });
    await assert.rejects(importDescriptor(context, 'late', { descriptor: all.account.descriptor, account: 'again' }), {
      code: 'ACCOUNT_EXISTS',
    });
    await importDescriptor(context, 'late', { descriptor: all.account.accountDescriptor(1), account: 'second' });
    const second = await newAddressOf(context, await all.wallet('late'), { account: 'second' });
    chain.fund(second.script, 30_000n);
    await all.mine();
    assert.equal((await context.store.balance(id, { now: context.now() })).total, 50_000n);
    await assertSameTable(all, 'late');
  });

  it('takes no private keys', async (t) => {
    const { context } = await RegtestWallets.open(t, 13);
    const descriptor = 'wpkh(cNJFgo1driFnPcBdBX8BrJrpxchBWXwXCvNH5SoSkdcF6JXXwHMm)';
    await assert.rejects(createWatchOnlyWallet(context, { name: 'keys', descriptor }), { code: 'WATCH_ONLY' });
    assert.deepEqual(await context.store.listWallets(), []);
  });
});

describe('a payment', () => {
  it('is selected, leased, signed elsewhere, sent, replaced, mined and turned back', async (t) => {
    const all = await RegtestWallets.open(t, 14);
    const { context, chain, submit } = all;
    for (const index of [0, 1, 2]) chain.fund(all.account.script(0, index), 100_000n);
    chain.mine();
    all.apply();
    await createWatchOnlyWallet(context, { name: 'shop', descriptor: all.account.descriptor });
    all.follow(t);
    await all.settle();
    const wallet = await all.wallet('shop');
    const outputs = [{ script: all.account.script(0, 900), value: 150_000n }];
    const request = { outputs, rate: RATE, leaseMs: LEASE_MS };
    const first = await preparePayment(context, wallet, request);
    assert.ok(first.selection.inputs.length >= 2);
    await assert.rejects(selectPayment(context, wallet, request), { code: 'FUNDS_INSUFFICIENT' });
    const signed = all.account.sign(first.psbt);
    const altered = signed.slice();
    // The lowest byte of the lock time: no signature is of this transaction.
    altered[altered.length - 4] ^= 1;
    await assert.rejects(submit(altered), { code: 'TX_REFUSED', message: /false\/empty top stack element/ });
    const sent = await broadcastTx(context, wallet, { raw: signed, label: 'rent', submit });
    assert.deepEqual([sent.status, sent.label, sent.block], ['published', 'rent', null]);
    assert.equal(
      chain.mempool().some((id) => toHex(id) === toHex(sent.tx.id)),
      true,
    );

    const bump = await prepareReplacement(context, wallet, { txId: sent.tx.id, rate: 5 * RATE, leaseMs: LEASE_MS });
    assert.ok(bump.selection.fee >= 5n * first.selection.fee - 10n, `${bump.selection.fee} after ${first.selection.fee}`);
    const raw = all.account.sign(bump.psbt);
    await assert.rejects(broadcastTx(context, wallet, { raw, submit }), { code: 'INPUT_CONFLICT' });
    const bumped = await broadcastTx(context, wallet, { raw, replace: true, submit });
    assert.equal((await context.store.getTx(wallet.id, sent.tx.id)).status, 'replaced');
    assert.deepEqual(await context.store.replacementChain(wallet.id, sent.tx.id), [bumped.tx.id]);
    await assertSameTable(all, 'shop');

    await all.mine();
    assert.ok((await context.store.getTx(wallet.id, bumped.tx.id)).block !== null);
    await assertSameCoins(all, 'shop');
    // One block: with its lock time the payment could not be in an earlier one, and nodes would drop it.
    chain.fork(1);
    await all.settle();
    // What the new branch has left out waits again, and is in the next block.
    await all.mine();
    await assertSameCoins(all, 'shop');
    assert.ok((await context.store.getTx(wallet.id, bumped.tx.id)).block !== null);

    assert.equal(await exportLabels(context, wallet), `{"type":"tx","ref":"${toHex(sent.tx.id.toReversed())}","label":"rent"}\n`);
    const other = `{"type":"addr","ref":"bcrt1q","label":"x"}\n{"type":"tx","ref":"${toHex(bumped.tx.id.toReversed())}","label":"rent, bumped"}\n`;
    const { labels, applied, waiting } = await importLabels(context, wallet, other);
    assert.deepEqual([labels, applied, waiting], [2, 1, 0]);
    assert.equal((await context.store.getTx(wallet.id, bumped.tx.id)).label, 'rent, bumped');
    await assert.rejects(importLabels(context, wallet, '{"type":"tx"}'), { code: 'USAGE', message: /line 1/ });
  });

  it('that a node refuses fails, and its coins are free again', async (t) => {
    const all = await RegtestWallets.open(t, 15);
    const { context, chain, submit } = all;
    chain.fund(all.account.script(0, 0), 100_000n);
    chain.mine();
    all.apply();
    await createWatchOnlyWallet(context, { name: 'shop', descriptor: all.account.descriptor });
    all.follow(t);
    await all.settle();
    const wallet = await all.wallet('shop');
    const payment = await preparePayment(context, wallet, {
      outputs: [{ script: all.account.script(0, 900), value: 50_000n }],
      rate: 100,
      leaseMs: LEASE_MS,
    });
    await assert.rejects(broadcastTx(context, wallet, { raw: all.account.sign(payment.psbt), submit }), {
      code: 'TX_REFUSED',
      message: /min relay fee/,
    });
    const [row] = await context.store.history(wallet.id);
    assert.equal(row.status, 'failed');
    assert.equal((await context.store.listCoins(wallet.id, { now: context.now() })).length, 1);
  });

  it('that waits is helped on by a child that pays for both', async (t) => {
    const all = await RegtestWallets.open(t, 16);
    const { context, chain, submit } = all;
    chain.fund(all.account.script(0, 0), 100_000n);
    chain.mine();
    all.apply();
    await createWatchOnlyWallet(context, { name: 'shop', descriptor: all.account.descriptor });
    all.follow(t);
    await all.settle();
    const wallet = await all.wallet('shop');
    const parent = await preparePayment(context, wallet, {
      outputs: [{ script: all.account.script(0, 900), value: 50_000n }],
      rate: 1000,
      leaseMs: LEASE_MS,
    });
    const { tx } = await broadcastTx(context, wallet, { raw: all.account.sign(parent.psbt), submit });
    const child = await prepareChild(context, wallet, { txId: tx.id, rate: 10_000, leaseMs: LEASE_MS });
    const fees = parent.selection.fee + child.selection.fee;
    const vsize = parent.selection.vsize + child.selection.vsize;
    assert.ok(fees >= 10n * BigInt(vsize - 2), `${fees} for ${vsize} together`);
    const sent = await broadcastTx(context, wallet, { raw: all.account.sign(child.psbt), submit });
    await all.mine();
    assert.ok((await context.store.getTx(wallet.id, sent.tx.id)).block !== null);
    await assertSameCoins(all, 'shop');
  });
});
