/**
 * The library's store: text in, documents out. What it answers is held against
 * the queries below it; what it must not show is looked for.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isUnspentError, open, type UtxoJson, verifySnapshot } from '../../src/index.ts';
import { Store } from '../../src/library/store.ts';
import { documentFromJson, documentToJson, verifyDocument } from '../../src/proofs.ts';
import { Renderer } from '../../src/query/render.ts';
import { openDevnet, openSource, startRegtest } from '../../src/sources.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import type { ErrorCode } from '../../src/util/errors.ts';

const source = openDevnet('devnet:?blocks=400&rollbacks=0');
const [address] = source.addresses;
const folder = mkdtempSync(join(tmpdir(), 'unspent-library-'));
const settings = { 'proofs.csmt': true, 'utxo.history': true, 'engine.memtableBytes': '8MiB' };
const nameOf = ({ tx_hash, output_index }: UtxoJson): string => `${tx_hash}#${output_index}`;

function code(wanted: ErrorCode): (error: unknown) => boolean {
  return (error) => isUnspentError(error, wanted);
}

describe('a store of the library', () => {
  let opened: OpenStore;
  let store: Store;

  before(async () => {
    opened = await openStore({ data: join(folder, 'data'), network: 'devnet', genesis: source.genesis, settings });
    store = new Store(opened);
    await store.follow(source);
  });
  after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Everything of the address as the query below says it. */
  const expected = (place = 'height:399'): UtxoJson[] => {
    const { dialect } = opened.network;
    const point = opened.locate(place);
    return opened.read((query) => {
      const renderer = new Renderer(query, dialect);
      return Array.from(query.at(point).byKey('address', dialect.addressKey(address)), (utxo) => renderer.utxo(utxo));
    });
  };

  it('shows neither its engine nor its fold', () => {
    const shown = new Set<unknown>();
    for (let at: object | null = store; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const key of Reflect.ownKeys(at)) shown.add(key);
    }
    for (const hidden of ['engine', 'fold', 'query', 'read', 'readers']) assert.ok(!shown.has(hidden), hidden);
    assert.deepEqual(Reflect.ownKeys(store), [], 'no field of its own: all of it is behind methods');
  });

  it('tells what happened to an address, and whole transactions', () => {
    const { txs, next, fromHeight } = store.txs(address, { limit: 1000 });
    assert.ok(txs.length > 5 && next === null && fromHeight === 0);
    const pages = [];
    for (
      let page = store.txs(address, { limit: 3, order: 'desc' });
      ;
      page = store.txs(address, { limit: 3, order: 'desc', after: page.next ?? undefined })
    ) {
      pages.push(...page.txs);
      if (page.next === null) break;
    }
    assert.deepEqual(pages, txs.toReversed());
    for (const { tx_hash: id, received_amount: received, spent_amount: spent } of txs) {
      const tx = store.transaction(id) ?? assert.fail(id);
      const ofAddress = (list: readonly object[]): bigint =>
        (list as readonly UtxoJson[]).reduce(
          (sum, { owner_addr: owner, lovelace_amount: amount = '' }) => sum + (owner === address ? BigInt(amount) : 0n),
          0n,
        );
      assert.equal(ofAddress(tx.outputs), BigInt(received));
      assert.equal(ofAddress(tx.valid ? tx.inputs : (tx.collateral_inputs ?? [])), BigInt(spent));
    }
    assert.equal(store.transaction('00'.repeat(32)), null);
    assert.throws(() => store.txs(address, { limit: 0 }), code('USAGE'));
  });

  it('answers with the documents of the command line and the server', () => {
    const all = expected();
    assert.ok(all.length > 5);
    assert.deepEqual(store.utxos(address, { limit: 1000 }), { utxos: all, next: null });
    const [one] = all;
    assert.deepEqual(store.utxo(nameOf(one)), one);
    const total = all.reduce((sum, { lovelace_amount = '' }) => sum + BigInt(lovelace_amount), 0n);
    assert.equal(store.balance(address).lovelace_amount, total.toString());
    const tx = store.tx(one.tx_hash);
    assert.deepEqual(
      tx?.outputs.find(({ output_index }) => output_index === one.output_index),
      one,
    );
    assert.equal(store.tx('00'.repeat(32)), null);
    assert.equal(store.utxo(`${'00'.repeat(32)}#0`), null);
    assert.equal(store.head?.height, 399);
    assert.equal(store.block('height:7')?.height, 7);
    assert.equal(store.block('origin'), null);
    assert.deepEqual(store.status().tip?.hash, store.head?.hash);
    assert.equal(store.totals()?.utxos, store.digest().utxos);
    assert.equal(store.verify().faultCount, 0);
    assert.equal(store.network, 'devnet');
    assert.equal(store.data, join(folder, 'data'));
  });

  it('pages put together are the whole, in both orders', () => {
    for (const order of ['asc', 'desc'] as const) {
      const found: UtxoJson[] = [];
      for (let after: string | undefined, i = 0; i === 0 || after !== undefined; i++) {
        const page = store.utxos(address, { limit: 3, order, after });
        found.push(...page.utxos);
        after = page.next ?? undefined;
      }
      assert.deepEqual(found, order === 'asc' ? expected() : expected().reverse());
    }
    assert.throws(() => store.utxos(address, { limit: 0 }), code('USAGE'));
    assert.throws(() => store.utxos(address, { after: 'x' }), code('USAGE'));
  });

  it('says what is wrong with text it cannot read', () => {
    assert.throws(() => store.utxo('abc'), code('USAGE'));
    assert.throws(() => store.balance('abc'), code('USAGE'));
    assert.throws(() => store.tx('abc'), code('USAGE'));
    assert.throws(() => store.view('somewhere'), code('USAGE'));
    assert.throws(() => store.view('height:400'), code('POINT_UNKNOWN'));
  });

  it('a view stays at its block while the store goes on', async () => {
    const now = store.view();
    const past = store.view({ hash: store.block('height:200')?.hash ?? '' });
    const [all, then] = [expected(), expected('height:200')];
    assert.equal(store.rollback('height:390'), 9);
    assert.deepEqual([now.head?.height, past.head?.height, store.head?.height], [399, 200, 390]);
    assert.deepEqual([...now.eachUtxo(address)], all);
    assert.deepEqual([...past.eachUtxo(address)], then);
    assert.notDeepEqual(all, then);
    assert.throws(() => past.block('height:201'), code('POINT_UNKNOWN'));
    await store.follow(source);
    assert.deepEqual(past.utxos(address, { limit: 1000 }).utxos, then);
    for (const view of [now, past]) {
      view.release();
      view[Symbol.dispose]();
      assert.throws(() => view.head, code('CLOSED'));
      assert.throws(() => [...view.eachUtxo(address)], code('CLOSED'));
    }
    assert.deepEqual(expected(), all, 'the way back and forth changed nothing');
  });

  it('a page cursor of a block that was undone is refused', async () => {
    const { next } = store.utxos(address, { limit: 1 });
    assert.ok(next !== null);
    store.rollback('height:395');
    assert.throws(() => store.utxos(address, { after: next }), code('CURSOR_STALE'));
    await store.follow(source);
  });

  it('proves what it says', () => {
    const [utxo] = store.utxos(address, { limit: 1 }).utxos;
    const trusted = { root: Buffer.from(store.roots().csmt ?? '', 'hex'), network: 'devnet', family: 'cardano' } as const;
    const nobodys = `${'11'.repeat(32)}#3`;
    for (const document of [store.proveOutput(nameOf(utxo)), store.proveAddress(address), store.proveAbsent(address, nobodys)]) {
      assert.ok(verifyDocument(documentFromJson(documentToJson(document)), trusted).ok);
    }
    assert.throws(() => store.proveAbsent(address, nameOf(utxo)), code('NOT_FOUND'));
  });

  it('stops where it is told to, tells of rollbacks, and takes a source of the program', async () => {
    const told: (number | undefined)[] = [];
    const turning = openSource('devnet:?blocks=400&rollbacks=1');
    const own = { name: 'own:', ...(turning.genesis && { genesis: turning.genesis }), runs: turning.runs };
    const other = await open({ data: join(folder, 'own'), network: 'devnet', genesis: turning.genesis, settings });
    try {
      const first = await other.follow(own, { until: { kind: 'height', height: 10 } });
      assert.deepEqual([first.reason, other.head?.height], ['until', 10]);
      await other.follow(own, { onRollback: (to, undone) => told.push(to?.height, undone) });
      assert.equal(other.head?.height, 399);
      assert.equal(told.length, 2);
    } finally {
      await other.close();
    }
  });

  it('writes a snapshot that holds, of an earlier block too', async () => {
    const manifest = await store.exportSnapshot(join(folder, 'snapshot'), { at: 'height:300' });
    assert.equal(manifest.point.height, 300);
    assert.equal((await verifySnapshot(join(folder, 'snapshot'))).id, manifest.id);
    assert.ok(readdirSync(join(folder, 'snapshot')).includes('manifest.json'));
  });
});

describe('a regtest chain of the program', () => {
  it('is followed, pays an address, and turns', async () => {
    const data = mkdtempSync(join(tmpdir(), 'unspent-library-'));
    const chain = await startRegtest({ clock: () => 1_700_000_000 });
    const store = await open({ data, network: chain.network, settings: { 'engine.memtableBytes': '8MiB' } });
    const mine = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
    try {
      const id = chain.fund(mine, 150_000n);
      chain.mine();
      await store.follow(chain.url);
      assert.equal(store.head?.height, chain.height);
      assert.equal(store.balance(mine).satoshi_amount, '150000');
      assert.deepEqual(
        store.utxos(mine).utxos.map(({ tx_hash }) => tx_hash),
        [id],
      );
      chain.fork(2);
      await store.follow(chain.url);
      assert.equal(store.head?.height, chain.height);
    } finally {
      await store.close();
      await chain.close();
      rmSync(data, { recursive: true, force: true });
    }
  });

  it('a source needs to know its network, unless it makes its own chain', () => {
    assert.throws(() => openSource('p2p://127.0.0.1:1'), code('NETWORK_NEEDED'));
    assert.throws(() => openSource('p2p://127.0.0.1:1', { network: 'preview' }), code('USAGE'));
    assert.throws(() => openSource('nothing:'), code('SOURCE_UNKNOWN'));
    assert.equal(openSource('p2p://127.0.0.1:1', { network: 'bitcoin-regtest' }).name, 'p2p://127.0.0.1:1');
  });
});
