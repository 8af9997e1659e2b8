/**
 * The wallet that a regtest chain of one's own opens with: it is paid, pays, and
 * replaces its payment by one with a higher fee; then the chain turns, and the
 * payment loses its block and comes back. One coin is reserved. Its keys are words that everybody knows, so that a newcomer can sign,
 * too; on a chain of one's own nothing is lost by that.
 */
import { randomBytes } from 'node:crypto';
import { GUEST_SCRIPT, type RegtestDevnet } from '../../../chains/bitcoin/regtest/index.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { assert, isUnspentError } from '../../../util/errors.ts';
import { pause } from '../../../util/pause.ts';
import { newAddressOf } from '../../../wallet/bitcoin/operations/addresses.ts';
import { broadcastTx } from '../../../wallet/bitcoin/operations/broadcast.ts';
import { prepareReplacement } from '../../../wallet/bitcoin/operations/bump.ts';
import { createWatchOnlyWallet } from '../../../wallet/bitcoin/operations/create-wallet.ts';
import { preparePayment } from '../../../wallet/bitcoin/operations/payment.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import type { TxDetail, WalletCoin, WalletId, WalletInfo } from '../../../wallet/records.ts';
import type { Context } from '../../context.ts';
import { withWallets } from '../../wallet/open-wallets.ts';
import { bitcoinWallets } from './open-bitcoin-wallets.ts';

export const DEMO_WALLET = 'demo';
/** The first test vector of BIP39. */
const WORDS = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const PURPOSE = 84;
const FUNDED = [
  ['first sale', 50_000_000n],
  ['second sale', 20_000_000n],
] as const;
/** A sale that is in no block after so many will not be in one. */
const SALE_BLOCKS = 5;
const PAID = 12_345_678n;
/** How often the payment is tried. */
const ATTEMPTS = 5;
/** In sat/kvB: what the payment pays first, and what the one that replaces it pays. */
const RATES = [2000, 12_000] as const;
const LEASE_MS = 600_000;
/** How long the coin that is left is reserved. */
const RESERVED_MS = 3_600_000;
const LOOK_MS = 300;
/** The mempool tells the wallets within a second; if it has not told by then, it will not. */
const SEEN_MS = 10_000;
/** The chain turns when the payment has so many: soon enough to be waited for. */
const FORK_CONFS = 2;
/** From so many confirmations on no fork of this chain is deep enough to take the payment back. */
const DEEP_CONFS = 6;

/** Once in the life of a store; ends when the payment is deep, or with the signal. What goes wrong is said, and ends nothing else. */
export async function playDemoWallet(context: Context, devnet: RegtestDevnet, signal: AbortSignal): Promise<void> {
  try {
    await withWallets(context, (wallets) => play(bitcoinWallets(wallets), devnet, signal), { create: true });
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    context.output.remark(`there is no demo wallet: ${error.message}`);
  }
}

async function play(wallets: WalletContext, devnet: RegtestDevnet, signal: AbortSignal): Promise<void> {
  const { store, keys, network } = wallets;
  if ((await store.listWallets()).some(({ name }) => name === DEMO_WALLET)) return;
  const secret = keys.parseMnemonic(WORDS);
  const master = keys.masterOf(network, secret);
  assert(master !== null, 'a mnemonic has a master key');
  const descriptor = keys.accountDescriptor(network, master, { purpose: PURPOSE, account: 0 });
  const wallet = await createWatchOnlyWallet(wallets, { name: DEMO_WALLET, descriptor });
  const ring = keys.openKeyRing(network, secret);
  const demo: Demo = { wallets, devnet, wallet, signal, sign: (psbt) => keys.extractTx(keys.signPsbt(psbt, ring).psbt).raw };
  for (const [label, sats] of FUNDED) await fund(demo, label, sats);
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      return await payAndReplace(demo);
    } catch (error) {
      // A fork may come between the payment and its replacement, and mine the one or take the coin of the other.
      if (!isUnspentError(error) || attempt === ATTEMPTS) throw error;
      await fund(demo, 'another sale', FUNDED[0][1]);
    }
  }
}

interface Demo {
  readonly wallets: WalletContext;
  readonly devnet: RegtestDevnet;
  readonly wallet: WalletInfo;
  readonly signal: AbortSignal;
  sign(psbt: Uint8Array): Uint8Array;
}

/** Resolves when the wallet knows of it. */
async function fund({ wallets, devnet, wallet, signal }: Demo, label: string, sats: bigint): Promise<void> {
  const { store } = wallets;
  const { script } = await newAddressOf(wallets, wallet, {});
  const id = devnet.fund(script, sats);
  await until(signal, async () => (await store.history(wallet.id)).some(({ tx }) => equalBytes(tx.id, id)));
  if (!signal.aborted) await store.updateTx(wallet.id, id, { label });
}

async function payAndReplace(demo: Demo): Promise<void> {
  const { wallets, devnet, wallet, signal } = demo;
  const { store } = wallets;
  const { id, name } = wallet;
  let soldAt = devnet.height;
  await until(signal, async () => {
    await sendAgain(demo);
    if ((await freeCoins(wallets, id)).length >= FUNDED.length) return true;
    // A fork may have taken what a sale was paid with, for good.
    if (devnet.height < soldAt + SALE_BLOCKS) return false;
    soldAt = devnet.height;
    await fund(demo, 'another sale', FUNDED[0][1]);
    return false;
  });
  if (signal.aborted) return;
  // No block until the payment is replaced: after one it could not be any more.
  devnet.pause();
  const replaced = await sendTwice(demo).finally(() => devnet.resume());
  const isDeep = async (confs: number): Promise<boolean> => {
    const [{ block }, { syncedTo }] = [await store.getTx(id, replaced.tx.id), await store.getWallet(name)];
    if (block !== null) return syncedTo !== null && syncedTo.height - block.height + 1 >= confs;
    await sendAgain(demo);
    return false;
  };
  await until(signal, () => isDeep(FORK_CONFS));
  await reserveOne(demo);
  const { block } = await store.getTx(id, replaced.tx.id);
  if (signal.aborted) return;
  // If it has none, a fork of the chain itself has just taken it.
  if (block !== null) devnet.fork(devnet.height - block.height + 1);
  await until(signal, () => isDeep(DEEP_CONFS));
}

/** The change of the payment is there, or a fork has just taken it and brings it back. */
async function reserveOne({ wallets, wallet: { id }, signal }: Demo): Promise<void> {
  await until(signal, async () => {
    const [coin] = (await freeCoins(wallets, id)).slice(-1);
    if (coin === undefined) return false;
    await wallets.store.leaseCoins(id, [coin.outpoint], { id: randomBytes(32), now: wallets.now(), durationMs: RESERVED_MS });
    return true;
  });
}

/** In blocks, and nobody has reserved them; the largest last. */
async function freeCoins({ store, now }: WalletContext, walletId: WalletId): Promise<readonly WalletCoin[]> {
  return (await store.listCoins(walletId, { now: now(), minConfs: 1 })).filter(({ lease }) => lease === null);
}

/** The payment, and then the same with a higher fee; the second one. */
async function sendTwice({ wallets, devnet, wallet: { id, name }, sign }: Demo): Promise<TxDetail> {
  const { store } = wallets;
  const submit = async (raw: Uint8Array): Promise<Uint8Array> => devnet.submit(raw);
  const outputs = [{ script: GUEST_SCRIPT, value: PAID }];
  const payment = await preparePayment(wallets, await store.getWallet(name), { outputs, rate: RATES[0], leaseMs: LEASE_MS });
  const sent = await broadcastTx(wallets, await store.getWallet(name), { raw: sign(payment.psbt), label: 'rent', submit });
  // Whoever replaces a payment has waited for it; where the wallets do not hear of the mempool, not for ever.
  const late = AbortSignal.timeout(SEEN_MS);
  await until(late, async () => (await store.getTx(id, sent.tx.id)).mempool.seenAt !== null);
  const bump = await prepareReplacement(wallets, await store.getWallet(name), { txId: sent.tx.id, rate: RATES[1], leaseMs: LEASE_MS });
  const label = 'rent, with a higher fee';
  return broadcastTx(wallets, await store.getWallet(name), { raw: sign(bump.psbt), label, replace: true, submit });
}

/** What is in no block is handed to the chain again: a fork may have taken it below a lock time or the age of a coinbase, and out of the mempool with it. */
async function sendAgain({ wallets, devnet, wallet }: Demo): Promise<void> {
  for (const { tx } of (await wallets.store.listTxs(wallet.id, 'unmined')).toReversed()) {
    try {
      devnet.submit(tx.raw);
    } catch (error) {
      // It waits already, or has to wait for a block more.
      if (!isUnspentError(error, 'TX_REFUSED')) throw error;
    }
  }
}

/** Looks now and then; ends with the signal, too. */
async function until(signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted && !(await isSo())) await pause(LOOK_MS, { signal, ref: false });
}
