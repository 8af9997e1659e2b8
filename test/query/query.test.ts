/**
 * Reading: pages by cursor put together are the whole, nothing skipped and
 * nothing repeated; a query answers from the point it was made at, whatever
 * the fold does meanwhile; places on the chain are found by slot, height and
 * hash, where two blocks share a slot or a height too.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { KEY_KINDS, type KeyKind } from '../../src/ledgers/ledger.ts';
import { digestOf } from '../../src/query/digest.ts';
import { parsePlace, pointAt } from '../../src/query/place.ts';
import type { IndexedUtxo, Query, Utxo } from '../../src/query/query.ts';
import { toHex } from '../../src/util/bytes.ts';
import { Expected, keysOf } from '../support/expected.ts';
import { assertCode, Devnet, devnetOptions, KEEP_ALL, memoryRig, type Rig, rocksRig, TEST_SEED } from '../support/harness.ts';
import { leaveOut } from '../support/keep.ts';

const name = ({ txId, index }: { txId: Uint8Array; index: number }) => `${toHex(txId)}#${index}`;

/** Every key of a kind that has unspent outputs, with them in the order they came to the chain. */
function byKey(devnet: Devnet, kind: KeyKind): Map<string, ModelUtxo[]> {
  const expected = new Expected(devnet);
  const found = new Map<string, ModelUtxo[]>();
  for (const utxo of devnet.chain.utxos.values()) {
    const key = keysOf(utxo)[kind];
    if (key !== undefined) found.set(toHex(key), [...(found.get(toHex(key)) ?? []), utxo]);
  }
  for (const utxos of found.values()) {
    utxos.sort((a, b) => {
      const [left, right] = [expected.where(a), expected.where(b)];
      return left.slot - right.slot || left.txIndex - right.txIndex || a.index - b.index;
    });
  }
  return found;
}

function pages(query: Query, kind: KeyKind, key: Uint8Array, order: 'asc' | 'desc', limits: readonly number[]): IndexedUtxo[] {
  const all: IndexedUtxo[] = [];
  for (let i = 0; ; i++) {
    const limit = limits[i % limits.length];
    const page = [...query.byKey(kind, key, { order, limit, after: all.at(-1)?.cursor })];
    assert.ok(page.length <= limit);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

function checkPages(rig: Rig, limits: readonly number[]): void {
  rig.read((query) => {
    for (const kind of KEY_KINDS) {
      for (const [hex, utxos] of byKey(rig.devnet, kind)) {
        const key = Uint8Array.from(Buffer.from(hex, 'hex'));
        const whole = utxos.map(name);
        assert.deepEqual([...query.byKey(kind, key)].map(name), whole);
        assert.deepEqual(pages(query, kind, key, 'asc', limits).map(name), whole);
        assert.deepEqual(pages(query, kind, key, 'desc', limits).map(name), [...whole].reverse());
      }
      assert.deepEqual([...query.byKey(kind, new Uint8Array(28).fill(7))], []);
      for (const order of ['asc', 'desc'] as const) assert.deepEqual([...query.byKey(kind, new Uint8Array(28).fill(0xff), { order })], []);
    }
  });
}

describe('pages', () => {
  it('put together are the whole, either way, whatever their sizes', () => {
    const limits = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
    const property = fc.property(fc.nat(), fc.constantFrom('conway' as const, 'ancient' as const), limits, (seed, flavour, sizes) => {
      const rig = memoryRig(new Devnet(devnetOptions(seed, flavour)));
      rig.forward(60, [11]);
      checkPages(rig, sizes);
    });
    fc.assert(property, { seed: TEST_SEED, numRuns: 12 });
  });

  it('the same on RocksDB', async () => {
    const rig = await rocksRig(new Devnet(devnetOptions(8, 'ancient')));
    try {
      rig.forward(80, [11]);
      checkPages(rig, [1, 4, 2]);
    } finally {
      await rig.close();
    }
  });

  it('go on where they were while the chain moves', () => {
    const rig = memoryRig(new Devnet(devnetOptions(9, 'conway')));
    rig.forward(60);
    const [hex, utxos] = [...byKey(rig.devnet, 'stake')].sort((a, b) => b[1].length - a[1].length)[0];
    const key = Uint8Array.from(Buffer.from(hex, 'hex'));
    const first = rig.read((query) => [...query.byKey('stake', key, { limit: 5 })]);
    const seen = new Set(first.map(name));
    rig.forward(20);
    const rest = rig.read((query) => [...query.byKey('stake', key, { after: first.at(-1)!.cursor })]);
    for (const utxo of rest) assert.ok(!seen.has(name(utxo)), 'none is told twice');
    const still = utxos.slice(5).filter(({ key: each }) => rig.devnet.chain.utxos.has(each));
    for (const utxo of still)
      assert.ok(
        rest.some((each) => name(each) === utxo.key),
        'none that stayed is left out',
      );
  });
});

describe('a query', () => {
  const pinned = async (rig: Rig) => {
    try {
      rig.forward(50, [7]);
      const { chain } = rig.devnet;
      const query = rig.query();
      const before = {
        digest: chain.digest(),
        head: rig.fold.head,
        utxos: [...chain.utxos.values()],
        indexed: byKey(rig.devnet, 'address'),
      };
      const check = () => {
        assert.deepEqual({ ...query.head, hash: toHex(query.head!.hash) }, { ...before.head, hash: toHex(before.head!.hash) });
        for (const utxo of before.utxos) assert.equal(query.outpoint(utxo.txId, utxo.index)?.spent, null);
        for (const [hex, utxos] of before.indexed) {
          assert.deepEqual([...query.byKey('address', Uint8Array.from(Buffer.from(hex, 'hex')))].map(name), utxos.map(name));
        }
        assert.equal(query.blockAtHeight(50), null);
        assert.equal(query.blockAtSlot(1_000_000_000)?.height, 49);
      };
      check();
      const old = chain.blocks.slice(30);
      rig.forward(40);
      check();
      for (const { hash } of chain.blocks.slice(50)) assert.equal(query.blockByHash(hash), null);
      rig.fold.rollback(chain.blocks[29]);
      chain.rollback(chain.blocks.length - 30);
      check();
      for (const { hash, height } of old) assert.equal(query.blockByHash(hash)?.height, height);
      for (const { id } of old.flatMap(({ txs }) => txs)) assert.notEqual(query.tx(Buffer.from(id, 'hex')).row, null);
      rig.forward(30);
      check();
      query.release();
      assertCode(() => query.blockAtHeight(1), 'CLOSED');
      rig.read((now) => assert.equal(now.head?.height, 59));
      assert.equal(digestOf(rig.engine).digest, chain.digest());
    } finally {
      await rig.close();
    }
  };

  it('answers from its own point for as long as it lives', () => pinned(memoryRig(new Devnet(devnetOptions(1, 'conway')))));
  it('the same on RocksDB', async () => pinned(await rocksRig(new Devnet(devnetOptions(1, 'conway')))));

  it('knows outputs and transactions, spent or not', () => {
    const rig = memoryRig(new Devnet(devnetOptions(2, 'ancient')));
    rig.forward(90, [13]);
    const { chain, genesis } = rig.devnet;
    const where = new Expected(rig.devnet);
    const check = (found: Utxo | null, utxo: ModelUtxo) => {
      assert.ok(found !== null, utxo.key);
      const { height, slot, txIndex, flags } = where.where(utxo);
      const { output, spent } = found;
      assert.deepEqual(
        {
          height: output.height,
          slot: output.slot,
          txIndex: output.txIndex,
          flags: output.flags,
          value: output.value,
          raw: toHex(output.raw),
        },
        { height, slot, txIndex, flags, value: utxo.lovelace, raw: toHex(utxo.output) },
      );
      const by = chain.spentBy(utxo.key);
      if (chain.utxos.has(utxo.key)) assert.equal(spent, null);
      else if (by === undefined) assert.equal(spent?.txId, null, 'no transaction removed it');
      else {
        const { height, slot, inputIndex, txId } = by;
        assert.deepEqual([toHex(spent!.txId!), spent!.input, spent!.slot, spent!.height], [txId, inputIndex, slot, height]);
      }
    };
    rig.read((query) => {
      for (const utxo of genesis) check(query.outpoint(utxo.txId, utxo.index), utxo);
      for (const { txs, height } of chain.blocks) {
        txs.forEach((tx, i) => {
          const { row, outputs } = query.tx(Buffer.from(tx.id, 'hex'));
          assert.deepEqual(row, { height, txIndex: i, valid: tx.valid });
          assert.deepEqual(
            outputs.map(name),
            tx.creates.map(({ key }) => key),
          );
          tx.creates.forEach((utxo, n) => {
            check(outputs[n], utxo);
            check(query.outpoint(utxo.txId, utxo.index), utxo);
          });
        });
      }
      assert.equal(query.outpoint(new Uint8Array(32), 0), null);
      assert.equal(query.outpoint(genesis[0].txId, 1), null);
      assert.deepEqual(query.tx(new Uint8Array(32)), { row: null, outputs: [] });
    });
  });

  it('says what the store does not keep', () => {
    const rig = memoryRig(new Devnet(devnetOptions(2, 'conway')), { keeps: [...leaveOut(KEEP_ALL, 'index'), 'index.address'] });
    rig.forward(5);
    rig.read((query) => {
      assertCode(() => [...query.byKey('payment', new Uint8Array(28))], 'UNSUPPORTED');
      assert.deepEqual([...query.byKey('address', new Uint8Array(28))], []);
    });
    const bare = memoryRig(new Devnet(devnetOptions(2, 'conway')), { utxo: false });
    bare.forward(5);
    bare.read((query) => {
      assertCode(() => query.outpoint(new Uint8Array(32), 0), 'UNSUPPORTED');
      const [tx] = bare.devnet.chain.blocks.flatMap(({ txs }) => txs);
      assertCode(() => query.tx(Buffer.from(tx.id, 'hex')), 'UNSUPPORTED');
      assert.notEqual(query.txRows([Buffer.from(tx.id, 'hex')])[0], null);
    });
  });
});

describe('places', () => {
  it('are found by slot, height and hash, boundary blocks included', () => {
    for (const seed of [1, 2, 3, 4]) {
      const rig = memoryRig(new Devnet(devnetOptions(seed, 'ancient')));
      rig.forward(60, [9]);
      const { blocks } = rig.devnet.chain;
      const last = blocks.at(-1)!;
      rig.read((query) => {
        for (let slot = 0; slot <= last.slot; slot++) {
          const wanted = blocks.findLast((block) => block.slot <= slot)!;
          assert.equal(toHex(query.blockAtSlot(slot)!.hash), toHex(wanted.hash), `seed ${seed}, slot ${slot}`);
        }
        for (const { height, hash } of blocks) {
          const newest = blocks.findLast((block) => block.height === height)!;
          assert.deepEqual(query.blockAtHeight(height)?.hash, newest.hash);
          assert.deepEqual(pointAt(query, parsePlace(toHex(hash)), { formatId: toHex })?.hash, hash);
        }
        assert.equal(pointAt(query, parsePlace('origin'), { formatId: toHex }), null);
        assertCode(() => pointAt(query, parsePlace(`slot:${last.slot + 1}`), { formatId: toHex }), 'POINT_UNKNOWN');
        assertCode(() => pointAt(query, parsePlace(`height:${last.height + 1}`), { formatId: toHex }), 'POINT_UNKNOWN');
        assertCode(() => pointAt(query, parsePlace('00'.repeat(32)), { formatId: toHex }), 'POINT_UNKNOWN');
      });
    }
    for (const text of ['', 'tip', 'slot:', 'slot:-1', 'height:1.5', 'abc', '1e3']) assertCode(() => parsePlace(text), 'USAGE');
  });
});
