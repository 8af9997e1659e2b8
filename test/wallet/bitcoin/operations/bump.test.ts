/**
 * Fee bumps: from which account they take coins and to which change goes, what
 * they owe for ancestors, and what they take for change.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { equalBytes, toHex } from '../../../../src/util/bytes.ts';
import { newAddressOf } from '../../../../src/wallet/bitcoin/operations/addresses.ts';
import { broadcastTx } from '../../../../src/wallet/bitcoin/operations/broadcast.ts';
import { prepareChild, prepareReplacement } from '../../../../src/wallet/bitcoin/operations/bump.ts';
import { createWatchOnlyWallet, importDescriptor } from '../../../../src/wallet/bitcoin/operations/create-wallet.ts';
import { type PreparedPayment, preparePayment } from '../../../../src/wallet/bitcoin/operations/payment.ts';
import { Spendables } from '../../../../src/wallet/bitcoin/operations/spendable.ts';
import { UnconfirmedTxs } from '../../../../src/wallet/bitcoin/operations/unconfirmed.ts';
import type { TxDetail, WalletInfo } from '../../../../src/wallet/records.ts';
import { RegtestWallets } from './regtest-wallets.ts';

const LEASE_MS = 600_000;

/** A wallet with the accounts `default` and `second`, which have so many coins of 100,000 each. */
async function twoAccounts(t: TestContext, seed: number, coins: number): Promise<{ all: RegtestWallets; wallet: WalletInfo }> {
  const all = await RegtestWallets.open(t, seed);
  const { context, chain, account } = all;
  all.follow(t);
  await createWatchOnlyWallet(context, { name: 'shop', descriptor: account.descriptor });
  await importDescriptor(context, 'shop', { descriptor: account.accountDescriptor(1), account: 'second' });
  const wallet = await all.wallet('shop');
  const [, second] = await context.store.listAccounts(wallet.id);
  const derive = context.keys.addressesOf(context.account(second));
  for (let index = 0; index < coins; index++) {
    chain.fund(account.script(0, index), 100_000n);
    chain.fund(derive(0, index)?.script ?? assert.fail('the address exists'), 100_000n);
  }
  await all.mine();
  return { all, wallet: await all.wallet('shop') };
}

/** Of each input, and of change behind them. */
async function accountsOf(
  { context }: RegtestWallets,
  { id }: WalletInfo,
  { selection, changeScript }: PreparedPayment,
): Promise<string[]> {
  const accounts = new Map((await context.store.listAccounts(id)).map((account) => [account.id, account.name]));
  const spent = await Promise.all(
    selection.inputs.map(async ({ txId, index }) => (await context.store.getTx(id, txId)).tx.outputs[index].script),
  );
  const scripts = [...spent, ...(changeScript === null ? [] : [changeScript])];
  const owned = await context.store.resolveOwned(id, scripts);
  return scripts.map((script) => accounts.get(owned.get(toHex(script))?.derivation?.accountId ?? -1) ?? 'none');
}

describe('a bump', () => {
  it('stays in the account that the payment was made from', async (t) => {
    const { all, wallet } = await twoAccounts(t, 41, 2);
    const { context, account, submit } = all;
    const outputs = [{ script: account.script(0, 900), value: 90_000n }];
    const first = await preparePayment(context, wallet, { outputs, rate: 2000, account: 'second', leaseMs: LEASE_MS });
    assert.deepEqual(new Set(await accountsOf(all, wallet, first)), new Set(['second']));
    const { tx } = await broadcastTx(context, wallet, { raw: account.sign(first.psbt), submit });
    const child = await prepareChild(context, wallet, { txId: tx.id, rate: 5000, leaseMs: 1 });
    assert.deepEqual(await accountsOf(all, wallet, child), ['second', 'second']);
    // At this rate one coin does not suffice.
    const bump = await prepareReplacement(context, wallet, { txId: tx.id, rate: 90_000, leaseMs: LEASE_MS });
    assert.equal(bump.selection.inputs.length, 2);
    assert.deepEqual(new Set(await accountsOf(all, wallet, bump)), new Set(['second']));
    // Twice as much again: the other account would have it.
    await assert.rejects(prepareReplacement(context, wallet, { txId: tx.id, rate: 700_000, leaseMs: LEASE_MS }), {
      code: 'FUNDS_INSUFFICIENT',
    });
  });

  it('knows its change where the account has one branch, and pays what was paid to an address of the other', async (t) => {
    const { all, wallet } = await twoAccounts(t, 44, 1);
    const { context, account, chain, submit } = all;
    const [external] = account.accountDescriptor(2).split('#');
    await importDescriptor(context, 'shop', { descriptor: external.replace('<0;1>', '0'), account: 'narrow' });
    const { script } = await newAddressOf(context, wallet, { account: 'narrow' });
    chain.fund(script, 100_000n);
    await all.mine();
    // To an address of the second branch of another account that somebody was given.
    const paid = await newAddressOf(context, wallet, { account: 'default', branch: 1 });
    const outputs = [{ script: paid.script, value: 30_000n }];
    const synced = await all.wallet('shop');
    const first = await preparePayment(context, synced, { outputs, rate: 2000, account: 'narrow', leaseMs: LEASE_MS });
    assert.ok(first.changeScript !== null);
    const { tx } = await broadcastTx(context, synced, { raw: account.sign(first.psbt), submit });
    const bump = await prepareReplacement(context, synced, { txId: tx.id, rate: 20_000, leaseMs: LEASE_MS });
    assert.deepEqual(
      bump.selection.outputs.map(({ script: to, value }) => [toHex(to), value]),
      [[toHex(paid.script), 30_000n]],
    );
    assert.equal(bump.selection.inputs.length, 1);
    assert.deepEqual(new Set(await accountsOf(all, synced, bump)), new Set(['narrow']));
  });

  it('owes for ancestors that only what it evicts has paid for', async (t) => {
    const { all, wallet } = await twoAccounts(t, 42, 1);
    const { context, account, submit } = all;
    const pay = async (request: { readonly value: bigint; readonly rate: number }) => {
      const { value, rate } = request;
      const outputs = [{ script: account.script(0, 900), value }];
      const made = await preparePayment(context, wallet, { outputs, rate, account: 'default', leaseMs: LEASE_MS });
      return (await broadcastTx(context, wallet, { raw: account.sign(made.psbt), submit })).tx.id;
    };
    const parent = await pay({ value: 10_000n, rate: 1000 });
    const victim = await pay({ value: 10_000n, rate: 1000 });
    assert.ok((await context.store.getTx(wallet.id, victim)).tx.inputs.some(({ txId }) => equalBytes(txId, parent)));
    const child = await prepareChild(context, wallet, { txId: victim, rate: 20_000, leaseMs: LEASE_MS });
    await broadcastTx(context, wallet, { raw: account.sign(child.psbt), submit });
    const before = await Spendables.read(context, wallet, 15_000);
    assert.equal(before.unconfirmed.bumpFee([toHex(parent)]), 0n, 'its descendants pay for it');
    const after = before.without(before.unconfirmed.descendants(toHex(victim)));
    assert.ok(after.unconfirmed.bumpFee([toHex(parent)]) > 1000n);
    assert.deepEqual(after.unconfirmed.ancestry(toHex(parent)), {
      ancestors: 1,
      descendants: 1,
      bumpFee: after.unconfirmed.bumpFee([toHex(parent)]),
    });
  });
});

describe('transactions that wait', () => {
  it('are each read once, however many coins ask for their ancestors', async (t) => {
    const { all, wallet } = await twoAccounts(t, 43, 1);
    const { context } = all;
    const [template] = await context.store.listTxDetails(wallet.id, 0, -1);
    let reads = 0;
    const ids = Array.from({ length: 400 }, (_, n) => new Uint8Array(32).fill(n & 0xff).fill(n >> 8, 0, 1));
    const details = ids.map((id, n): TxDetail => {
      // Chains of four, and an input of the wallet's own that is known.
      const parent = { txId: n % 4 === 0 ? new Uint8Array(32).fill(0xee) : ids[n - 1], index: 0 };
      const counted = {
        get raw() {
          reads++;
          return template.tx.raw;
        },
      };
      const tx = Object.defineProperties({ ...template.tx, id, inputs: [parent] }, Object.getOwnPropertyDescriptors(counted));
      return { ...template, block: null, tx, ownedInputs: [{ index: 0, amount: 10n ** 12n }] };
    });
    const waiting = new UnconfirmedTxs(context.network, details, 1000);
    for (let round = 0; round < 3; round++) {
      for (const id of ids) assert.equal(waiting.ancestry(toHex(id)).descendants, 4);
    }
    assert.ok(reads <= 3 * ids.length, `${reads} for ${ids.length}`);
  });
});
