/**
 * A shop's wallet, from a descriptor to a payment that waits to be signed: a
 * regtest chain pays it, a store follows the chain, and the wallet is fed from
 * the store. Nothing here has a private key.
 *
 * Wallets need packages of their own:
 * npm install kysely @scure/bip32 @scure/bip39 @scure/btc-signer
 */
import { open } from 'unspent';
import { startRegtest } from 'unspent/sources';
import { openWallets } from 'unspent/wallet';

const regtest = await startRegtest();
const store = await open({ data: './data', network: regtest.network, settings: { 'utxo.history': true } });
const wallets = await openWallets({ database: 'sqlite:wallets.sqlite', network: regtest.network });

// BIP84's own test key; `<0;1>` are the addresses to be given out, and those of change.
const key =
  '[73c5da0a/84h/1h/0h]tpubDC8msFGeGuwnKG9Upg7DM2b4DaRqg3CUZa5g8v2SRQ6K4NSkxUgd7HsL2XVWbVm39yBA4LAxysQAm397zwQSQoQgewGiYZqrA9DsP4zbQ1M';
await wallets.create({ name: 'shop', descriptor: `wpkh(${key}/<0;1>/*)` });
const { address } = await wallets.address('shop');
const other = await wallets.address('shop');
console.log(`pay to ${address}`);

// Somebody does, and the blocks come to the store and from there to the wallet.
regtest.fund(address ?? '', 500_000n);
regtest.mine();
await store.follow(regtest.url);
await wallets.sync(store);
const { spendable } = await wallets.balance('shop');
console.log(`${spendable} satoshi may be spent`);

// Coins are chosen and leased in one database transaction: nobody else gets them meanwhile.
const payment = await wallets.pay('shop', { to: [{ address: other.address ?? '', amount: 150_000n }], feeRate: 2.5 });
const [coin] = await wallets.coins('shop');
console.log(`to be signed: ${payment.psbt.slice(0, 20)}..., for ${payment.fee} satoshi; leased: ${coin?.lease?.id === payment.lease}`);

await wallets.close();
await store.close();
await regtest.close();
