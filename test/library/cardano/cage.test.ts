/**
 * The library's door to cages, over a devnet that has them: what it says is held
 * against what verifiers make of it, and a session against the trie that the
 * same operations build from nothing.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CageContext, openCage, type TokenDocument, type TrieSession } from '../../../src/cage.ts';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { isUnspentError, open, type Store } from '../../../src/index.ts';
import { MemoryNodes, mpf } from '../../../src/proofs.ts';
import { openDevnet } from '../../../src/sources.ts';
import { fromHex, toHex, utf8 } from '../../../src/util/bytes.ts';
import type { ErrorCode } from '../../../src/util/errors.ts';

const source = openDevnet('devnet:?blocks=260&seed=4&rollbacks=1&cages=1');
const folder = mkdtempSync(join(tmpdir(), 'unspent-cage-'));
const settings = { 'cage.enabled': true, 'cage.deployments': 'devnet', 'proofs.csmt': true, 'engine.memtableBytes': '8MiB' };
const code =
  (wanted: ErrorCode) =>
  (error: unknown): boolean =>
    isUnspentError(error, wanted);

/** The root of a trie that is built from these entries alone. */
function rootOf(entries: ReadonlyMap<string, Uint8Array>): string {
  const nodes = new MemoryNodes();
  const changes = Array.from(entries, ([key, value]) => ({ key: fromHex(key), value }));
  return toHex(changes.length === 0 ? mpf.NULL_HASH : mpf.update(nodes, nodes, changes));
}

const pathOf = (key: Uint8Array): string => toHex(blake2b256(key));

/** A key whose path is such. */
function keyWith(isSuch: (path: string) => boolean): Uint8Array {
  for (let i = 0; ; i++) if (isSuch(pathOf(utf8(`k${i}`)))) return utf8(`k${i}`);
}

/** Two keys whose paths begin alike. */
function pairWith(nibbles: number): readonly [Uint8Array, Uint8Array] {
  const first = utf8('k0');
  return [first, keyWith((path) => path !== pathOf(first) && path.startsWith(pathOf(first).slice(0, nibbles)))];
}

describe('cages of a store', () => {
  let store: Store;
  let cage: CageContext;

  before(async () => {
    store = await open({ data: join(folder, 'data'), network: 'devnet', genesis: source.genesis, settings });
    cage = openCage(store);
    await store.follow(source);
  });
  after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The token with the most facts. */
  const largest = (): TokenDocument => cage.state.tokens().toSorted((a, b) => (b.facts ?? 0) - (a.facts ?? 0))[0];

  it('lists tokens and finds each by both of its names', () => {
    const tokens = cage.state.tokens();
    assert.ok(tokens.length >= 2, `${tokens.length} tokens`);
    for (const token of tokens) {
      assert.deepEqual(cage.state.token(token.id), token);
      assert.deepEqual(cage.state.token(token.name), token);
      assert.ok(store.proveOutput(token.stateRef));
    }
    assert.deepEqual(cage.state.checkpoint(), store.head);
    assert.equal(cage.indexer.status().tokens, tokens.length);
    assert.equal(cage.state.token('00'.repeat(32)), null);
    assert.throws(() => cage.state.token('no hex'), code('USAGE'));
    assert.throws(() => cage.state.requests('00'.repeat(32)), code('NOT_FOUND'));
  });

  it('gives facts, and proofs that lead to the root on chain', () => {
    const { id, root, facts } = largest();
    const listed = cage.trieManager.facts(id);
    assert.ok(listed.length > 3 && listed.length === facts);
    assert.equal(rootOf(new Map(listed.map(({ key, value }) => [toHex(key), value]))), root);
    assert.equal(cage.trieManager.root(id), root);
    for (const { key, value } of listed) {
      assert.deepEqual(cage.trieManager.lookup(id, key), value);
      const proof = cage.trieManager.proof(id, key);
      assert.equal(mpf.verifyPresence(fromHex(root), key, proof.value!, proof.steps).ok, true);
    }
    const absent = cage.trieManager.proof(id, utf8('nobody has set this'));
    assert.equal(absent.value, null);
    assert.equal(mpf.verifyAbsence(fromHex(root), utf8('nobody has set this'), absent.steps).ok, true);
  });

  it('pages through facts', () => {
    const { id } = largest();
    const all = cage.trieManager.facts(id);
    const [first] = cage.trieManager.facts(id, { limit: 1 });
    assert.deepEqual([first, ...cage.trieManager.facts(id, { after: first.key })], all);
    assert.deepEqual(cage.trieManager.facts(id, { limit: 0 }), []);
  });

  it('tells the phase of a request at a given time', () => {
    const waiting = cage.state
      .tokens()
      .flatMap(({ id, terms }) => cage.state.requests(id, { at: 0 }).map(({ ref }) => ({ ref, id, terms })));
    assert.ok(waiting.length > 0, 'some requests wait');
    for (const { ref, id, terms } of waiting) {
      const phaseAt = (at: bigint): unknown => cage.state.requests(id, { at }).find((request) => request.ref === ref)?.phase;
      const submitted = cage.state.requests(id).find((request) => request.ref === ref)?.submittedAt;
      assert.ok(terms !== null && submitted !== undefined && submitted !== null);
      const ends = [submitted, submitted + terms.processTime, submitted + terms.processTime + terms.retractTime];
      assert.deepEqual(ends.map(phaseAt), ['process', 'retract', 'reject']);
      assert.deepEqual(
        ends.map((end) => phaseAt(end - 1n)),
        ['dishonest', 'process', 'retract'],
      );
    }
  });

  describe('a session', () => {
    const withSession = (body: (session: TrieSession, entries: Map<string, Uint8Array>) => void): void => {
      using session = cage.trieManager.session(largest().id);
      body(session, new Map(cage.trieManager.facts(largest().id).map(({ key, value }) => [toHex(key), value])));
    };

    it('makes the roots and proofs that the same operations on a trie of its own make', () => {
      withSession((session, entries) => {
        const before = session.root;
        for (let i = 0; i < 60; i++) {
          const [present] = [...entries.keys()].slice(i % entries.size);
          const key = i % 3 === 0 ? utf8(`key ${i}`) : fromHex(present);
          const value = entries.get(toHex(key)) ?? null;
          const rootBefore = fromHex(session.root);
          if (value === null) {
            const { steps, root } = session.apply(key, { type: 'insert', value: utf8(`value ${i}`) });
            entries.set(toHex(key), utf8(`value ${i}`));
            assert.deepEqual(mpf.rootAfterInsert(rootBefore, key, utf8(`value ${i}`), steps), { ok: true, root: fromHex(root) });
          } else if (i % 3 === 1) {
            const { steps, root, proof } = session.apply(key, { type: 'delete', value });
            entries.delete(toHex(key));
            assert.deepEqual(mpf.rootAfterDelete(rootBefore, key, value, mpf.decode(proof)), { ok: true, root: fromHex(root) });
            assert.deepEqual(mpf.toJson(mpf.decode(proof)), mpf.toJson(steps));
          } else {
            session.apply(key, { type: 'update', before: value, after: utf8(`later ${i}`) });
            entries.set(toHex(key), utf8(`later ${i}`));
          }
          assert.equal(session.root, rootOf(entries));
        }
        assert.notEqual(session.root, before);
        assert.equal(largest().root, before, 'nothing was written');
      });
    });

    it('refuses what the trie does not allow, and is as before', () => {
      withSession((session, entries) => {
        const { root } = session;
        const [[present, value]] = [...entries];
        const other = utf8('another value');
        assert.throws(() => session.apply(fromHex(present), { type: 'insert', value }), code('USAGE'));
        assert.throws(() => session.apply(fromHex(present), { type: 'delete', value: other }), code('USAGE'));
        assert.throws(() => session.apply(utf8('nobody'), { type: 'update', before: other, after: value }), code('USAGE'));
        assert.equal(session.root, root);
        session.release();
        assert.throws(() => session.lookup(fromHex(present)), code('CLOSED'));
      });
    });

    it('applies requests in ledger order, and says what does not fit', () => {
      withSession((session, entries) => {
        const insert = (n: number, key: string): Parameters<TrieSession['applyRequests']>[0][number] => ({
          ref: `${n.toString(16).padStart(2, '0').repeat(32)}#0`,
          key: utf8(key),
          operation: { type: 'insert', value: utf8(`by ${n}`) },
        });
        const { applied, refused, root } = session.applyRequests([insert(9, 'b'), insert(1, 'a'), insert(5, 'a'), insert(3, 'c')]);
        assert.deepEqual(
          applied.map(({ ref }) => ref.slice(0, 2)),
          ['01', '03', '09'],
        );
        assert.deepEqual(
          refused.map(({ ref }) => ref.slice(0, 2)),
          ['05'],
        );
        for (const [key, n] of Object.entries({ a: 1, c: 3, b: 9 })) entries.set(toHex(utf8(key)), utf8(`by ${n}`));
        assert.equal(root, rootOf(entries));
      });
    });

    it('leaves out what the deployed validators compute wrongly', () => {
      withSession((session, entries) => {
        for (const [key, value] of entries) session.apply(fromHex(key), { type: 'delete', value });
        // Two keys share three nibbles and the third one only the first of them: its proof of absence skips a nibble.
        const [a, b] = pairWith(3);
        const c = keyWith((path) => path[0] === pathOf(a)[0] && path[1] !== pathOf(a)[1]);
        const value = utf8('v');
        for (const key of [a, b]) assert.ok(session.apply(key, { type: 'insert', value }).validatorsAgree);
        const { root } = session;
        const ref = `${'00'.repeat(32)}#0`;
        const tried = session.applyRequests([{ ref, key: c, operation: { type: 'insert', value } }]);
        assert.deepEqual([tried.applied.length, tried.refused.length, tried.root], [0, 1, root]);
        assert.match(tried.refused[0].why, /validators/);
        assert.equal(session.lookup(c), null);
        assert.equal(session.apply(c, { type: 'insert', value }).validatorsAgree, false);
      });
    });
  });

  it('a view answers of one block while the store goes back', () => {
    using view = cage.view();
    const tokens = view.state.tokens();
    const { id } = largest();
    const facts = view.trieManager.facts(id);
    using session = view.trieManager.session(id);
    store.rollback(`height:${store.head!.height - 60}`);
    assert.notDeepEqual(cage.state.tokens(), tokens);
    assert.deepEqual(view.state.tokens(), tokens);
    assert.deepEqual(view.trieManager.facts(id), facts);
    session.apply(utf8('new'), { type: 'insert', value: utf8('v') });
    assert.ok(view.checkpoint!.height > store.head!.height);
    view.release();
    assert.throws(() => view.state.tokens(), code('CLOSED'));
  });

  it('waits for blocks and transactions, across a rollback', async () => {
    const { height } = store.head!;
    const block = cage.indexer.waitForBlock(height + 20);
    await assert.rejects(cage.indexer.waitForBlock(height + 20, { timeoutMs: 1 }), code('NOT_YET'));
    const stop = new AbortController();
    const stopped = assert.rejects(cage.indexer.waitForTx('00'.repeat(32), { signal: stop.signal }), code('INTERRUPTED'));
    stop.abort();
    await stopped;
    await store.follow(source);
    assert.ok((await block).height >= height + 20);
    const [txId] = largest().stateRef.split('#');
    const { tx_hash, block: at } = await cage.indexer.waitForTx(txId);
    assert.equal(tx_hash, txId);
    const tip = store.head!.height;
    store.rollback(`height:${at - 1}`);
    const again = cage.indexer.waitForTx(txId, { confirmations: tip - at });
    await store.follow(source);
    assert.equal((await again).block, at);
    await assert.rejects(cage.indexer.waitForTx(txId, { confirmations: 100_000, timeoutMs: 1 }), code('NOT_YET'));
  });

  it('is refused where a store keeps none', async () => {
    await using plain = await open({ data: join(folder, 'plain'), network: 'devnet', genesis: source.genesis });
    assert.throws(() => openCage(plain), code('UNSUPPORTED'));
  });
});
