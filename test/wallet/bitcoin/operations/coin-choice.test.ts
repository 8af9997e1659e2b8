/**
 * What whoever pays may say of coins and change: each word of a request reaches
 * the selection, and what cannot be is refused, with no coin leased.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { broadcastTx } from '../../../../src/wallet/bitcoin/operations/broadcast.ts';
import { prepareReplacement } from '../../../../src/wallet/bitcoin/operations/bump.ts';
import { createWatchOnlyWallet, importDescriptor } from '../../../../src/wallet/bitcoin/operations/create-wallet.ts';
import { preparePayment } from '../../../../src/wallet/bitcoin/operations/payment.ts';
import { type PaymentText, readChoice, readFee, readPayment } from '../../../../src/wallet/bitcoin/operations/payment-text.ts';
import { RegtestWallets } from './regtest-wallets.ts';

/** Coins of 100,000 to 500,000, a block apart, the smallest the oldest; the largest is twice at one address. */
const AMOUNTS = [100_000n, 200_000n, 300_000n, 400_000n, 500_000n, 500_000n];

class Shop {
  readonly all: RegtestWallets;

  private constructor(all: RegtestWallets) {
    this.all = all;
  }

  static async open(t: TestContext): Promise<Shop> {
    const all = await RegtestWallets.open(t, 114);
    const { context, chain, account } = all;
    all.follow(t);
    await createWatchOnlyWallet(context, { name: 'shop', descriptor: account.descriptor });
    await importDescriptor(context, 'shop', { descriptor: account.accountDescriptor(1), account: 'second' });
    for (const [i, amount] of AMOUNTS.entries()) {
      chain.fund(account.script(0, Math.min(i, 4)), amount);
      await all.mine();
    }
    for (let i = 0; i < 6; i++) await all.mine();
    return new Shop(all);
  }

  /** Amounts of the inputs, and all outputs; nothing stays leased. */
  async pay(text: Partial<PaymentText>) {
    const { context } = this.all;
    const wallet = await this.all.wallet('shop');
    const { address } = this;
    const request = readPayment(context.network, { to: [{ address, amount: 90_000n }], feeRate: 2, ...text });
    const { selection, psbt, leaseId, changeScript } = await preparePayment(context, wallet, request);
    for (const coin of selection.inputs) await context.store.releaseCoin(wallet.id, coin, leaseId, context.now());
    const { outputs } = context.keys.inspectPsbt(psbt);
    const spent = selection.inputs.map(({ value }) => value).sort((a, b) => Number(a - b));
    return { selection, spent, outputs, changeScript, psbt };
  }

  /** `txid#index` of the coins, the smallest first. */
  async outpoints(): Promise<readonly string[]> {
    const { context } = this.all;
    const coins = await context.store.listCoins((await this.all.wallet('shop')).id, { now: context.now() });
    assert.ok(
      coins.every(({ lease }) => lease === null || lease.expiresAt <= context.now()),
      'a refusal leases nothing',
    );
    return coins.map(({ outpoint }) => `${context.notation.formatId(outpoint.txId)}#${outpoint.index}`);
  }

  get address(): string {
    return this.all.account.address(0, 900);
  }
}

test('a request for a payment', async (t) => {
  const shop = await Shop.open(t);

  await t.test('says which coins are spent', async () => {
    const [one, two, , , five] = await shop.outpoints();
    const smallest = { order: 'oldest-first' } as const;
    assert.deepEqual((await shop.pay(smallest)).spent, [100_000n]);
    assert.deepEqual((await shop.pay({ order: 'largest-first' })).spent, [500_000n]);
    assert.deepEqual((await shop.pay({ ...smallest, exclude: [one] })).spent, [200_000n]);
    assert.deepEqual((await shop.pay({ include: [five] })).spent, [500_000n]);
    const to = [{ address: shop.address, amount: 350_000n }];
    assert.deepEqual((await shop.pay({ ...smallest, to, include: [two], exclude: [one] })).spent, [200_000n, 300_000n]);
    assert.deepEqual((await shop.pay({ coins: [one, two] })).spent, [100_000n, 200_000n]);
    await assert.rejects(shop.pay({ coins: [one], include: [two] }), { code: 'USAGE' });

    const all = AMOUNTS.reduce((sum, amount) => sum + amount, 0n);
    const most = [{ address: shop.address, amount: all - 50_000n }];
    await assert.rejects(shop.pay({ to: most, exclude: [one] }), { code: 'FUNDS_INSUFFICIENT' });
    assert.deepEqual((await shop.pay({ ...smallest, minConfs: 11 })).spent, [100_000n]);
    assert.deepEqual((await shop.pay({ ...smallest, minConfs: 11, maxConfs: 11 })).spent, [200_000n]);
    assert.deepEqual((await shop.pay({ ...smallest, maxConfs: 8 })).spent, [500_000n]);
    await assert.rejects(shop.pay({ minConfs: 13 }), { code: 'FUNDS_INSUFFICIENT' });
    await assert.rejects(shop.pay({ minConfs: 3, maxConfs: 2 }), { code: 'USAGE' });
    assert.deepEqual((await shop.pay({ order: 'largest-first', avoidPartialSpends: true })).spent, [500_000n, 500_000n]);
    await assert.rejects(shop.pay({ to: most, weightMax: 1000 }), { code: 'TX_TOO_LARGE' });
    await assert.rejects(shop.pay({ account: 'second' }), { code: 'FUNDS_INSUFFICIENT' });
    assert.equal((await shop.outpoints()).length, AMOUNTS.length);
  });

  await t.test('says by which search they are found', async () => {
    for (const order of ['coin-grinder', 'single-random-draw', 'knapsack', 'largest-first', 'oldest-first'] as const)
      assert.equal((await shop.pay({ order })).selection.algorithm, order);
    await assert.rejects(shop.pay({ order: 'branch-and-bound' }), { code: 'SELECTION_NOT_FOUND', message: /without change/ });
    await assert.rejects(shop.pay({ order: 'branch-and-bound', subtractFee: true }), { code: 'USAGE' });
    const { selection } = await shop.pay({ order: 'branch-and-bound', to: [{ address: shop.address, amount: 99_700n }] });
    assert.deepEqual([selection.algorithm, selection.changeIndex], ['branch-and-bound', null]);
    const [one] = await shop.outpoints();
    const wasteAt = async (longTermFeeRate: number) => (await shop.pay({ coins: [one], longTermFeeRate })).selection.waste;
    assert.ok((await wasteAt(1)) > (await wasteAt(50)), 'a coin is cheaper to spend now than some other day');
  });

  await t.test('says who bears the fee, where change goes and where it stands', async () => {
    const { context, account } = shop.all;
    const other = account.address(0, 901);
    const to = [
      { address: shop.address, amount: 90_000n, subtractFee: true },
      { address: other, amount: 80_000n },
    ];
    const { outputs, selection } = await shop.pay({ to, changePosition: 0 });
    assert.equal(selection.changeIndex, 0);
    assert.deepEqual(
      outputs.slice(1).map(({ amount }) => amount),
      [90_000n - selection.fee, 80_000n],
    );
    for (const changePosition of [0, 1]) assert.equal((await shop.pay({ changePosition })).selection.changeIndex, changePosition);
    await assert.rejects(shop.pay({ changePosition: 2 }), { code: 'USAGE' });

    const elsewhere = await shop.pay({ changeAddress: other, changePosition: 1 });
    assert.deepEqual(elsewhere.changeScript, account.script(0, 901));
    const second = await shop.pay({ changeAccount: 'second', changePosition: 1 });
    const { id } = await shop.all.wallet('shop');
    const [owner] = (await context.store.resolveOwned(id, [second.changeScript ?? assert.fail('there is change')])).values();
    assert.equal(owner.derivation?.accountId, (await context.store.listAccounts(id))[1].id);
    await assert.rejects(shop.pay({ changeAccount: 'third' }), { code: 'ACCOUNT_UNKNOWN' });
    // 9,700 are left: worth an output, unless spending it is taken to be dear.
    const small = [{ address: shop.address, amount: 90_000n }];
    const coin = { coins: (await shop.outpoints()).slice(0, 1), to: small };
    assert.notEqual((await shop.pay(coin)).selection.changeIndex, null);
    assert.equal((await shop.pay({ ...coin, discardFeeRate: 200 })).selection.changeIndex, null);
  });

  await t.test('says whether what is unconfirmed is spent; and a bump takes the same words', async () => {
    const { context, account, submit } = shop.all;
    const [one, two, three, ...rest] = await shop.outpoints();
    const wallet = await shop.all.wallet('shop');
    const { psbt } = await shop.pay({ coins: [one], to: [{ address: shop.address, amount: 40_000n }] });
    const { tx } = await broadcastTx(context, wallet, { raw: account.sign(psbt), submit });
    const onlyChange = { exclude: [two, three, ...rest], to: [{ address: account.address(0, 902), amount: 20_000n }] };
    assert.equal((await shop.pay(onlyChange)).spent.length, 1);
    await assert.rejects(shop.pay({ ...onlyChange, unconfirmedChange: false }), { code: 'FUNDS_INSUFFICIENT' });

    // The replacement at 700 sat/vB takes a coin more, which is none of those that are excluded.
    const bump = async (text: Parameters<typeof readChoice>[0]) => {
      const fee = readFee({ feeRate: 700, minutes: 1 });
      const made = await prepareReplacement(context, wallet, { txId: tx.id, ...fee, ...readChoice(text) });
      for (const coin of made.selection.inputs)
        await context.store.releaseCoin(wallet.id, coin, made.leaseId, context.now()).catch(() => {});
      return made.selection.inputs.map(({ value }) => value).sort((a, b) => Number(a - b));
    };
    assert.deepEqual(await bump({ order: 'oldest-first' }), [100_000n, 200_000n]);
    assert.deepEqual(await bump({ order: 'oldest-first', exclude: [two] }), [100_000n, 300_000n]);
    await assert.rejects(bump({ minConfs: 100 }), { code: 'FUNDS_INSUFFICIENT' });
  });
});
