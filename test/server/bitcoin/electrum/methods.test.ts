/**
 * Every method once, over a socket: what it answers in each version of the
 * protocol, held against the model or against bitcoinjs-lib, and what it says
 * to parameters that cannot be.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Transaction } from 'bitcoinjs-lib';
import { sha256d } from '../../../../src/crypto/sha256.ts';
import { bitcoinNetwork, formatAddress } from '../../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, fromHex, toHex } from '../../../../src/util/bytes.ts';
import { LineClient } from './client.ts';
import { blockOf } from './model.ts';
import { ElectrumRig, SCRIPTS } from './rig.ts';

let rig: ElectrumRig;
let old: LineClient;
let recent: LineClient;

before(async () => {
  rig = await ElectrumRig.open({ seed: 21 });
  for (let i = 0; i < 60; i++) rig.step();
  while (rig.model.mempool.length < 3) rig.announce(rig.forge()!);
  old = await LineClient.open(rig.ports.tcp, '1.4');
  recent = await LineClient.open(rig.ports.tcp, ['1.4', '1.6']);
});

after(async () => {
  await Promise.all([old.close(), recent.close()]);
  await rig.close();
});

/** As a client checks a branch, all in the order people write hashes in. */
function rootOf(hash: string, position: number, branch: readonly string[]): string {
  const flip = (text: string): Uint8Array => fromHex(text).reverse();
  let at = flip(hash);
  branch.forEach((other, i) => {
    at = sha256d((position >> i) % 2 === 0 ? concatBytes(at, flip(other)) : concatBytes(flip(other), at));
  });
  return toHex(at.reverse());
}

interface Proof {
  readonly root: string;
  readonly branch: readonly string[];
}

test('headers, in the form of each version', async () => {
  const { model } = rig;
  const all = model.blocks.map((_, height) => model.header(height));
  for (const height of [0, 1, model.height]) assert.equal(await old.ask('blockchain.block.header', height), all[height]);
  assert.equal((await old.reply('blockchain.block.header', { height: 2 })).result, all[2]);
  assert.deepEqual(await old.ask('blockchain.block.headers', 1, 3), { count: 3, hex: all.slice(1, 4).join(''), max: 2016 });
  assert.deepEqual(await recent.ask('blockchain.block.headers', 1, 3), { count: 3, headers: all.slice(1, 4), max: 2016 });
  assert.deepEqual(await recent.ask('blockchain.block.headers', 0, 9999), { count: all.length, headers: all, max: 2016 });
  assert.deepEqual(await old.ask('blockchain.block.headers', 5, 0), { count: 0, hex: '', max: 2016 });
  assert.deepEqual(await recent.ask('blockchain.block.headers', all.length, 1, 5), { count: 0, headers: [], max: 2016 });
  for (const bad of [-1, 1.5, '1', all.length]) assert.equal(await old.refusal('blockchain.block.header', bad), 1, String(bad));
});

test('headers with the proof up to a checkpoint', async () => {
  const { model } = rig;
  const { height } = model;
  const idOf = (at: number): string => toHex(Uint8Array.from(model.hash(at)).reverse());
  const proof = await old.ask<Proof & { header: string }>('blockchain.block.header', 3, height);
  assert.equal(proof.header, model.header(3));
  assert.equal(rootOf(idOf(3), 3, proof.branch), proof.root);
  const list = await recent.ask<Proof & { count: number }>('blockchain.block.headers', 2, 4, height);
  assert.deepEqual([list.count, list.root], [4, proof.root]);
  assert.equal(rootOf(idOf(5), 5, list.branch), list.root);
  for (const params of [
    [4, 3],
    [4, height + 1],
    [2, -1],
  ])
    assert.equal(await old.refusal('blockchain.block.header', ...params), 1);
  assert.equal(await old.refusal('blockchain.block.headers', 2, 5, 3), 1);
});

test('transactions with the proof of their place in the block', async () => {
  const { model } = rig;
  for (let height = 1; height <= model.height; height++) {
    const block = blockOf(model.blocks[height]);
    const root = toHex(Uint8Array.from(block.merkleRoot!).reverse());
    for (const [pos, tx] of block.transactions!.entries()) {
      const id = tx.getId();
      const found = await old.ask<{ merkle: string[]; pos: number }>('blockchain.transaction.get_merkle', id, height);
      assert.deepEqual({ ...found, merkle: rootOf(id, pos, found.merkle) }, { block_height: height, pos, merkle: root });
      assert.deepEqual(await recent.ask('blockchain.transaction.get_merkle', id), found);
      assert.equal(await old.ask('blockchain.transaction.id_from_pos', height, pos), id);
      const both = { tx_hash: id, merkle: found.merkle };
      assert.deepEqual(await old.ask('blockchain.transaction.id_from_pos', height, pos, true), both);
      assert.equal(await old.ask('blockchain.transaction.get', id), tx.toHex());
    }
    assert.equal(await old.refusal('blockchain.transaction.id_from_pos', height, block.transactions!.length), 1);
    assert.equal(await old.refusal('blockchain.transaction.get_merkle', block.transactions![0].getId(), height - 1), 1);
  }
  const pending = Transaction.fromBuffer(model.mempool[0]);
  assert.equal(await old.ask('blockchain.transaction.get', pending.getId(), false), pending.toHex());
  assert.equal(await old.refusal('blockchain.transaction.get_merkle', pending.getId(), 1), 1);
  assert.equal(await old.refusal('blockchain.transaction.get', '00'.repeat(32)), 2);
  for (const bad of ['00', 5, null, 'zz'.repeat(32)]) assert.ok([1, -32602].includes(await old.refusal('blockchain.transaction.get', bad)));
  assert.equal(await old.refusal('blockchain.transaction.get', pending.getId(), 'yes'), 1);
});

interface Verbose {
  readonly vin: readonly { coinbase?: string; txid?: string; vout?: number; sequence: number; txinwitness?: string[] }[];
  readonly vout: readonly { value: number; n: number; scriptPubKey: { desc: string; hex: string; address?: string; type: string } }[];
  readonly [field: string]: unknown;
}

test('a transaction as a node shows it', async () => {
  const { model } = rig;
  const height = model.blocks.findIndex((raw, i) => i > 0 && blockOf(raw).transactions!.length > 1);
  const block = blockOf(model.blocks[height]);
  const [coinbase, tx] = block.transactions!;
  const shown = await old.ask<Verbose>('blockchain.transaction.get', tx.getId(), true);
  const fields = {
    txid: tx.getId(),
    hash: hashOf(tx),
    size: tx.byteLength(),
    vsize: tx.virtualSize(),
    weight: tx.weight(),
    hex: tx.toHex(),
  };
  const place = { blockhash: block.getId(), confirmations: model.height - height + 1, blocktime: block.timestamp, time: block.timestamp };
  const { vin, vout, ...rest } = shown;
  assert.deepEqual(rest, { ...fields, ...place, version: tx.version, locktime: tx.locktime });
  for (const [i, input] of tx.ins.entries()) {
    assert.deepEqual([vin[i].txid, vin[i].vout], [toHex(Uint8Array.from(input.hash).reverse()), input.index]);
    assert.deepEqual(
      vin[i].txinwitness,
      input.witness.map((item) => toHex(item)),
    );
  }
  for (const [n, { script, value }] of tx.outs.entries()) {
    const address = formatAddress(bitcoinNetwork('bitcoin-regtest'), script);
    assert.equal(Math.round(vout[n].value * 1e8), Number(value));
    assert.deepEqual([vout[n].n, vout[n].scriptPubKey.hex, vout[n].scriptPubKey.address], [n, toHex(script), address]);
    assert.equal(vout[n].scriptPubKey.type, 'witness_v0_keyhash');
    assert.match(vout[n].scriptPubKey.desc, new RegExp(`^addr\\(${address}\\)#[a-z0-9]{8}$`));
  }
  const first = await old.ask<Verbose>('blockchain.transaction.get', coinbase.getId(), true);
  assert.deepEqual(Object.keys(first.vin[0]), ['coinbase', 'txinwitness', 'sequence']);
  const pending = await old.ask<Verbose>('blockchain.transaction.get', Transaction.fromBuffer(model.mempool[0]).getId(), true);
  assert.ok(!('confirmations' in pending) && !('blockhash' in pending));
});

function hashOf(tx: Transaction): string {
  return toHex(Uint8Array.from(tx.getHash(true)).reverse());
}

test('a transaction goes to the node, and its words come back', async () => {
  const tx = rig.forge()!;
  const hex = toHex(tx);
  const id = Transaction.fromBuffer(tx).getId();
  rig.refuse = () => 'min relay fee not met, 12 < 100';
  const { error } = await old.reply('blockchain.transaction.broadcast', [hex]);
  assert.deepEqual(error, { code: 2, message: 'min relay fee not met, 12 < 100' });
  rig.refuse = () => null;
  assert.equal(await old.ask('blockchain.transaction.broadcast', hex), id);
  assert.equal(await recent.ask('blockchain.transaction.get', id), hex);
  assert.deepEqual(
    rig.submitted.map((raw) => toHex(raw)),
    [hex],
  );
  for (const bad of ['', 'zz', 5, {}]) assert.equal(await old.refusal('blockchain.transaction.broadcast', bad), 1, String(bad));
  assert.equal(await old.refusal('blockchain.transaction.broadcast', 'abcd'), 2);
});

test('a package goes to the node one by one', async () => {
  const parent = rig.forge()!;
  rig.announce(parent);
  const child = rig.forge([SCRIPTS[0]])!;
  rig.evict(parent);
  const [first, second] = [parent, child].map((tx) => toHex(tx));
  rig.refuse = (raw) => (toHex(raw) === second ? 'bad-txns' : null);
  const childId = Transaction.fromBuffer(child).getId();
  const refused = { success: false, errors: [{ txid: childId, error: 'bad-txns' }] };
  assert.deepEqual(await recent.ask('blockchain.transaction.broadcast_package', [first, second]), refused);
  rig.refuse = () => null;
  assert.deepEqual(await recent.ask('blockchain.transaction.broadcast_package', [first, second], false), { success: true });
  for (const bad of [[], 'ab', [[5]], [['abcd']], [Array(26).fill(first)], [[first], true]])
    assert.ok([1, -32602].includes(await recent.refusal('blockchain.transaction.broadcast_package', ...bad)), JSON.stringify(bad));
  assert.equal(await old.refusal('blockchain.transaction.broadcast_package', [first]), -32601);
});

test('fees, and what each version has of them', async () => {
  const rate = rig.mempool.feeRate(2);
  assert.equal(await old.ask('blockchain.estimatefee', 2), (rate * 1000) / 1e8);
  assert.equal(await recent.ask('blockchain.estimatefee', 2, 'CONSERVATIVE'), (rate * 1000) / 1e8);
  for (const params of [[-1], ['x'], [2, 'whatever']]) assert.equal(await recent.refusal('blockchain.estimatefee', ...params), 1);
  assert.equal(await old.ask('blockchain.relayfee'), 0.00001);
  assert.equal(await recent.refusal('blockchain.relayfee'), -32601);
  const info = { mempoolminfee: 0.00001, minrelaytxfee: 0.00001, incrementalrelayfee: 0.00001 };
  assert.deepEqual(await recent.ask('mempool.get_info'), info);
  assert.equal(await old.refusal('mempool.get_info'), -32601);
  const histogram = await old.ask<[number, number][]>('mempool.get_fee_histogram');
  const total = rig.model.mempool.reduce((sum, tx) => sum + Transaction.fromBuffer(tx).virtualSize(), 0);
  assert.equal(
    histogram.reduce((sum, [, size]) => sum + size, 0),
    total,
  );
  assert.ok(histogram.every(([fee], i) => i === 0 || fee < histogram[i - 1][0]));
});

test('what the server says of itself', async () => {
  const features = await old.ask<Record<string, unknown>>('server.features');
  const { name, genesisHash } = bitcoinNetwork('bitcoin-regtest');
  assert.deepEqual(features['hosts'], { '127.0.0.1': { tcp_port: rig.ports.tcp, ssl_port: null } });
  assert.deepEqual(
    [features['genesis_hash'], features['protocol_min'], features['protocol_max'], features['hash_function'], features['pruning']],
    [genesisHash, '1.4', '1.6', 'sha256', null],
  );
  assert.ok((await old.ask<string>('server.banner')).includes(name));
  assert.deepEqual([await old.ask('server.ping'), await old.ask('server.donation_address')], [null, '']);
  assert.deepEqual([await old.ask('server.peers.subscribe'), await old.ask('server.add_peer', features)], [[], false]);
  for (const method of ['', 'toString', '__proto__', 'blockchain.address.get_balance']) assert.equal(await old.refusal(method), -32601);
  assert.equal(await old.refusal('server.ping', 1), -32602);
});

test('the version comes first, or it is an old one', async () => {
  const fresh = await LineClient.open(rig.ports.tcp, null);
  assert.deepEqual((await fresh.ask<string[]>('server.version', 'test', ['1.4', '1.6'], { more: 'to come' }))[1], '1.6');
  assert.equal(await fresh.refusal('server.version', 'test', '1.4'), 1);
  await fresh.close();
  const late = await LineClient.open(rig.ports.tcp, null);
  assert.equal(await late.ask('server.ping'), null);
  assert.equal((await late.ask<string[]>('server.version', 'test', ['1.4', '1.6']))[1], '1.4.3');
  await late.close();
  const silent = await LineClient.open(rig.ports.tcp, null);
  assert.equal((await silent.ask<string[]>('server.version'))[1], '1.4');
  await silent.close();
  const wrong = await LineClient.open(rig.ports.tcp, null);
  assert.equal(await wrong.refusal('server.version', 'test', ['1.1', '1.2']), 1);
  await wrong.closed;
});

test('a subscription ends when it is told to', async () => {
  const hash = rig.model.scriptHash(SCRIPTS[1]);
  assert.equal(await old.ask('blockchain.scripthash.unsubscribe', hash), false);
  assert.equal(await old.ask('blockchain.scripthash.subscribe', hash), rig.model.status(SCRIPTS[1]));
  assert.equal(await recent.ask('blockchain.scripthash.subscribe', hash.toUpperCase()), rig.model.status(SCRIPTS[1]));
  assert.equal(await old.ask('blockchain.scripthash.unsubscribe', hash), true);
  rig.mine([], SCRIPTS[1]);
  await recent.until(
    (message) => 'method' in message && message.params?.[0] === hash && message.params[1] === rig.model.status(SCRIPTS[1]),
  );
  assert.deepEqual(old.notified('blockchain.scripthash.subscribe'), []);
  assert.equal(await old.ask('blockchain.scripthash.unsubscribe', hash), false);
});
