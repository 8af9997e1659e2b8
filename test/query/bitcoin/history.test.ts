/**
 * Reading history: transactions by id and by place, blocks byte by byte, pages
 * of what happened to a script, who spent what; over a random chain, against
 * its blocks. And the check of it: nothing to say of a good store, and a word
 * for every kind of damage.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bitcoinNetwork, scriptKey } from '../../../src/ledgers/bitcoin/index.ts';
import { OUTPOINT_BYTES } from '../../../src/ledgers/outpoint.ts';
import { CHAIN, metaKey } from '../../../src/projections/chain.ts';
import { HISTORY_KEY_COLUMN, HISTORY_SPEND, HISTORY_TX, historyTxKey } from '../../../src/projections/history/rows.ts';
import { TX } from '../../../src/projections/transactions.ts';
import { rawBlock } from '../../../src/query/bitcoin/raw-block.ts';
import type { HistoryRow } from '../../../src/query/history.ts';
import { verifyStore } from '../../../src/store/verify/verify.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import {
  expectedHistory,
  ForgedChain,
  type ForgedRig,
  forgedRig,
  forgedRocksRig,
  KEEP_ALL_BITCOIN,
  randomFrom,
} from '../../support/forged-chain.ts';
import { assertCode, TEST_SEED } from '../../support/harness.ts';
import { leaveOut } from '../../support/keep.ts';

const VERIFY = { projections: KEEP_ALL_BITCOIN } as const;
const COMMON = scriptKey(Uint8Array.of(0x51, 0x50));

function longChain(): ForgedChain {
  const chain = new ForgedChain(randomFrom(TEST_SEED), bitcoinNetwork('litecoin-regtest'));
  chain.mine(60);
  return chain;
}

describe('history, read', () => {
  const chain = longChain();
  let rig: ForgedRig;
  before(async () => {
    rig = await forgedRocksRig(chain.ledger);
    rig.apply(chain.blocks, [1, 20]);
  });
  after(() => rig.close());

  it('finds each transaction by id and by place', () => {
    rig.read((query) => {
      const history = query.history();
      for (const { txs, height, raw } of chain.blocks) {
        txs.forEach((tx, txIndex) => {
          const expected = { height, txIndex, id: tx.id, raw: raw.subarray(tx.start, tx.end) };
          for (const found of [history.tx(tx.id), history.txAt(height, txIndex)]) assert.deepEqual(plain(found), plain(expected));
        });
        assert.equal(history.txAt(height, txs.length), null);
        assert.deepEqual(
          history.ids(height).map((id) => toHex(id)),
          txs.map(({ id }) => toHex(id)),
        );
        assert.deepEqual(
          history.txs(height).map(({ txIndex }) => txIndex),
          txs.map((_, i) => i),
        );
        assert.deepEqual(
          history.txs(height, 1, 2).map(({ txIndex }) => txIndex),
          txs.map((_, i) => i).slice(1, 3),
        );
      }
      assert.equal(history.tx(new Uint8Array(32)), null);
      assert.deepEqual([history.txs(99), history.ids(99)], [[], []]);
    });
  });

  it('puts every block together again, byte by byte', () => {
    assert.ok(
      chain.blocks.some((block) => block.bodyEnd < block.raw.length),
      'some have a tail',
    );
    rig.read((query) => {
      for (const { raw, height } of chain.blocks) assert.equal(toHex(rawBlock(query, query.blockAtHeight(height)!)), toHex(raw));
    });
  });

  it('gives what happened to a script in pages, both ways', () => {
    const all = expectedHistory(chain)
      .get('history_script')!
      .filter((row) => row.startsWith(toHex(COMMON)))
      .map(rowOf);
    assert.ok(all.length > 20);
    rig.read((query) => {
      const history = query.history();
      assert.deepEqual([...history.ofKey('address', COMMON)], all);
      assert.deepEqual([...history.ofKey('address', COMMON, { order: 'desc' })], all.toReversed());
      for (const order of ['asc', 'desc'] as const) {
        for (const limit of [1, 7, all.length]) {
          const rows: HistoryRow[] = [];
          for (;;) {
            const page = [
              ...history.ofKey('address', COMMON, { order, limit, ...(rows.length > 0 ? { after: rows[rows.length - 1] } : {}) }),
            ];
            assert.ok(page.length <= limit);
            if (page.length === 0) break;
            rows.push(...page);
          }
          assert.deepEqual(rows, order === 'asc' ? all : all.toReversed(), `${order}, ${limit} a page`);
        }
      }
      assert.deepEqual([...history.ofKey('address', new Uint8Array(28))], []);
      assert.deepEqual([...history.ofKey('address', new Uint8Array(28).fill(0xff), { order: 'desc' })], []);
      assertCode(() => [...history.ofKey('address', COMMON.subarray(1))], 'USAGE');
    });
  });

  it('sums up a script to what is unspent there', () => {
    rig.read((query) => {
      const { txs, fundedCount, fundedSum, spentCount, spentSum } = query.history().totals('address', COMMON);
      const unspent = [...query.byKey('address', COMMON)];
      assert.equal(fundedCount - spentCount, unspent.length);
      assert.equal(
        fundedSum - spentSum,
        unspent.reduce((sum, { output }) => sum + output.value, 0n),
      );
      assert.ok(txs > 20 && spentCount > 5);
      assert.equal(query.history().totals('address', new Uint8Array(28)).txs, 0);
    });
  });

  it('knows who spent each output, and of no other', () => {
    rig.read((query) => {
      let spent = 0;
      for (const { txs, height, raw } of chain.blocks) {
        txs.forEach((tx, txIndex) => {
          tx.spends.forEach(({ at, index }, input) => {
            assert.deepEqual(query.history().spend(raw.subarray(at, at + 32), index), { height, txIndex, input, output: null });
            spent++;
          });
        });
      }
      assert.ok(spent > 100);
      for (const { txId, index } of query.byKey('address', COMMON)) assert.equal(query.history().spend(txId, index), null);
    });
  });

  it('is refused, by its setting, where it is not kept', () => {
    const without = forgedRig(chain.ledger, { keeps: leaveOut(KEEP_ALL_BITCOIN, 'history') });
    without.apply(chain.blocks, [100]);
    assert.throws(() => without.read((query) => query.history()), { code: 'UNSUPPORTED', message: /utxo\.history/ });
  });
});

describe('history, checked', () => {
  const chain = longChain();
  const sound = (): ForgedRig => {
    const rig = forgedRig(chain.ledger);
    rig.apply(chain.blocks, [1, 30]);
    return rig;
  };

  it('has nothing to say of a good store, one that went back, and one that began later', () => {
    const rig = sound();
    const { faults, indexRows } = verifyStore(rig.engine, chain.ledger, VERIFY);
    assert.deepEqual(faults, []);
    assert.equal(indexRows[HISTORY_KEY_COLUMN.address], expectedHistory(chain).get('history_script')!.length);
    assert.equal(indexRows['setHash'], 1);
    rig.fold.rollback(chain.blocks[31]);
    assert.deepEqual(verifyStore(rig.engine, chain.ledger, VERIFY).faults, []);
    const late = forgedRig(chain.ledger, { partial: true });
    late.apply(chain.blocks.slice(25), [4]);
    assert.ok(late.fold.head!.missing > 0);
    assert.deepEqual(verifyStore(late.engine, chain.ledger, VERIFY).faults, []);
  });

  it('finds a missing, a foreign and a changed row of each kind', () => {
    const last = chain.blocks.length - 1;
    const firstOf = (rig: ForgedRig, column: string, skip = 20): readonly [Uint8Array, Uint8Array] => [...rig.engine.scan(column)][skip];
    const changed = (value: Uint8Array, at: number): Uint8Array => value.with(at, value[at] ^ 1);
    const damages: Record<string, (rig: ForgedRig) => readonly [column: string, key: Uint8Array, value: Uint8Array | null]> = {
      'a transaction is gone': () => [HISTORY_TX, historyTxKey(last, 0), null],
      'a byte of a transaction is changed': (rig) => [
        HISTORY_TX,
        historyTxKey(last, 0),
        changed(rig.engine.get(HISTORY_TX, historyTxKey(last, 0))!, 40),
      ],
      'a transaction stands under another id': (rig) => [
        HISTORY_TX,
        historyTxKey(last, 0),
        changed(rig.engine.get(HISTORY_TX, historyTxKey(last, 0))!, 3),
      ],
      'a transaction too many': () => [HISTORY_TX, historyTxKey(last + 1, 0), new Uint8Array(99)],
      'a tail that no block had': () => [HISTORY_TX, historyTxKey(0, 0xffff_ffff), Uint8Array.of(1)],
      'a script row is gone': (rig) => [HISTORY_KEY_COLUMN.address, firstOf(rig, HISTORY_KEY_COLUMN.address)[0], null],
      'a script row counts another funding': (rig) => [
        HISTORY_KEY_COLUMN.address,
        firstOf(rig, HISTORY_KEY_COLUMN.address)[0],
        changed(firstOf(rig, HISTORY_KEY_COLUMN.address)[1], 11),
      ],
      'a script row counts another spend': (rig) => [
        HISTORY_KEY_COLUMN.address,
        firstOf(rig, HISTORY_KEY_COLUMN.address)[0],
        changed(firstOf(rig, HISTORY_KEY_COLUMN.address)[1], 15),
      ],
      'a script row of nobody': () => [
        HISTORY_KEY_COLUMN.address,
        concatBytes(new Uint8Array(28).fill(7), new Uint8Array(8)),
        concatBytes(new Uint8Array(12), Uint8Array.of(0, 0, 0, 1), new Uint8Array(8)),
      ],
      'a spend is gone': (rig) => [HISTORY_SPEND, firstOf(rig, HISTORY_SPEND)[0], null],
      'a spend leads to another input': (rig) => [
        HISTORY_SPEND,
        firstOf(rig, HISTORY_SPEND)[0],
        changed(firstOf(rig, HISTORY_SPEND)[1], 11),
      ],
      'a spend of nothing': () => [HISTORY_SPEND, new Uint8Array(OUTPOINT_BYTES), new Uint8Array(12)],
      'an id leads elsewhere': () => [TX, chain.blocks[last].txs[0].id, new Uint8Array(9)],
      'the hash of the set is of another set': (rig) => [
        CHAIN,
        metaKey('set_hash'),
        changed(rig.engine.get(CHAIN, metaKey('set_hash'))!, 9),
      ],
      'the hash of the set is gone': () => [CHAIN, metaKey('set_hash'), null],
    };
    for (const [name, damage] of Object.entries(damages)) {
      const rig = sound();
      const [column, key, value] = damage(rig);
      const batch = rig.engine.batch();
      if (value === null) batch.del(column, key);
      else batch.put(column, key, value);
      batch.commit();
      const { faultCount, faults } = verifyStore(rig.engine, chain.ledger, VERIFY);
      assert.ok(faultCount > 0, name);
      const wanted = column === CHAIN ? 'setHash' : column;
      assert.ok(
        faults.some((fault) => fault.column === wanted),
        `${name}: ${JSON.stringify(faults)}`,
      );
    }
  });
});

function rowOf(text: string): HistoryRow {
  const bytes = fromHex(text.replace(' ', ''));
  const view = new DataView(bytes.buffer);
  return {
    height: view.getUint32(28),
    txIndex: view.getUint32(32),
    fundedCount: view.getUint32(36),
    fundedSum: view.getBigUint64(40),
    spentCount: view.getUint32(48),
    spentSum: view.getBigUint64(52),
  };
}

function plain(tx: { height: number; txIndex: number; id: Uint8Array; raw: Uint8Array } | null) {
  return tx === null ? null : { ...tx, id: toHex(tx.id), raw: toHex(tx.raw) };
}
