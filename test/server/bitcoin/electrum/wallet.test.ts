/**
 * Debian's Electrum against our server: it checks how headers link and every
 * Merkle proof before it shows anything, and what it shows of a watched address
 * is what the model says, through blocks, a reorganisation and the mempool. A
 * wallet from a seed is paid, pays, and what it signs reaches the node.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Transaction } from 'bitcoinjs-lib';
import { bitcoinNetwork, formatAddress, parseAddress } from '../../../../src/ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import { ElectrumRig, SCRIPTS, watched } from './rig.ts';
import { needsElectrum, Wallet } from './wallet.ts';

const network = bitcoinNetwork('bitcoin-regtest');

let rig: ElectrumRig;
let wallet: Wallet;

before(async () => {
  if (needsElectrum.skip !== false) return;
  rig = await ElectrumRig.open({ seed: 31 });
  for (let i = 0; i < 60; i++) rig.step();
  wallet = await Wallet.open(rig.ports.tcp!);
});

after(async () => {
  await wallet?.close();
  await rig?.close();
});

interface Shown {
  readonly transactions: readonly { readonly txid: string; readonly height: number; readonly confirmations: number }[];
}

interface ShownCoin {
  readonly prevout_hash: string;
  readonly prevout_n: number;
  readonly value: string;
}

const coins = (satoshis: number): string => (satoshis / 1e8).toFixed(8);

/** What the wallet shows, and what it should. A transaction is confirmed for it when its proof was checked. */
async function compare(script: Uint8Array, path: string): Promise<void> {
  const { model } = rig;
  const info = await wallet.ask<{ blockchain_height: number; server_height: number; connected: boolean }>('getinfo');
  assert.deepEqual([info.connected, info.blockchain_height, info.server_height], [true, model.height, model.height]);
  const { transactions } = await wallet.ask<Shown>('onchain_history', { wallet: path });
  const history = model.history(script);
  assert.deepEqual(
    new Map(transactions.map(({ txid, confirmations }) => [txid, confirmations])),
    new Map(history.map(({ tx_hash, height }) => [tx_hash, height > 0 ? model.height - height + 1 : 0])),
  );
  const unspent = await wallet.ask<ShownCoin[]>('listunspent', { wallet: path });
  const names = unspent.map(({ prevout_hash, prevout_n, value }) => `${prevout_hash}:${prevout_n} ${Number(value).toFixed(8)}`);
  assert.deepEqual(
    names.sort(),
    model
      .unspent(script)
      .map(({ tx_hash, tx_pos, value }) => `${tx_hash}:${tx_pos} ${coins(value)}`)
      .sort(),
  );
  const shown = await wallet.ask<Record<string, string>>('getbalance', { wallet: path });
  const { confirmed, unconfirmed } = model.balance(script);
  assert.equal(
    Object.values(shown)
      .reduce((sum, value) => sum + Number(value), 0)
      .toFixed(8),
    coins(confirmed + unconfirmed),
  );
}

test('a watched address, through blocks, a reorganisation and the mempool', { ...needsElectrum }, async () => {
  const [script] = SCRIPTS;
  const path = await wallet.restore('watching', formatAddress(network, script)!);
  await wallet.eventually(() => compare(script, path));
  // Confirmed, taken back into the mempool, and confirmed again in other blocks.
  rig.mine(rig.model.mempool);
  for (let i = 0; i < 3; i++) rig.announce(rig.forge([script, watched(99)])!);
  for (let i = 0; i < 3; i++) rig.mine(rig.model.mempool.slice(0, 1));
  await wallet.eventually(() => compare(script, path));
  rig.back(3);
  for (let i = 0; i < 4; i++) rig.mine();
  assert.equal(rig.model.mempool.length, 3);
  await wallet.eventually(() => compare(script, path));
  rig.mine(rig.model.mempool);
  await wallet.eventually(() => compare(script, path));
  rig.announce(rig.forge([script, script])!);
  await wallet.eventually(() => compare(script, path));
  rig.mine(rig.model.mempool, script);
  await wallet.eventually(() => compare(script, path));
  assert.equal(rig.model.mempool.length, 0);
  assert.ok(rig.model.history(script).length > 5, 'there was something to show');
  const { height } = rig.model;
  const server = await wallet.ask<{ tx_hash: string; height: number }[]>('getaddresshistory', { address: formatAddress(network, script) });
  assert.deepEqual(
    server.map(({ tx_hash, height: at }) => [tx_hash, at]),
    rig.model.history(script).map(({ tx_hash, height: at }) => [tx_hash, at]),
  );
  const proof = await wallet.ask<{ block_height: number }>('getmerkle', { txid: server[0].tx_hash, height: server[0].height });
  assert.ok(proof.block_height <= height);
});

test('a wallet from a seed is paid, pays, and its transaction reaches the node', { ...needsElectrum }, async () => {
  const seed = await wallet.ask<string>('make_seed');
  const path = await wallet.restore('spending', seed);
  const [address] = await wallet.ask<string[]>('listaddresses', { wallet: path, receiving: true });
  const script = parseAddress(network, address);
  const payment = rig.forge([script])!;
  const paid = Number(Transaction.fromBuffer(payment).outs[0].value);
  rig.announce(payment);
  await wallet.eventually(() => compare(script, path));
  rig.mine(rig.model.mempool);
  await wallet.eventually(() => compare(script, path));
  const amount = Math.floor(paid / 2);
  const to = formatAddress(network, SCRIPTS[4]);
  const signed = await wallet.ask<string>('payto', { destination: to, amount: coins(amount), wallet: path, feerate: 5 });
  const id = await wallet.ask<string>('broadcast', { tx: signed });
  assert.equal(id, Transaction.fromHex(signed).getId());
  assert.equal(toHex(rig.submitted.at(-1)!), signed);
  rig.mine([rig.model.mempool.find((raw) => toHex(raw) === signed)!]);
  await wallet.eventually(async () => {
    const { transactions } = await wallet.ask<Shown>('onchain_history', { wallet: path });
    assert.deepEqual(transactions.find(({ txid }) => txid === id)?.confirmations, 1);
  });
  const tx = Transaction.fromHex(signed);
  const fee = paid - Number(tx.outs.reduce((sum, { value }) => sum + value, 0n));
  const balance = await wallet.ask<Record<string, string>>('getbalance', { wallet: path });
  assert.equal(Number(balance['confirmed']).toFixed(8), coins(paid - amount - fee));
  assert.deepEqual(fromHex(signed), rig.submitted.at(-1));
});
