/**
 * The rest of what can be read: what each block did, balances, datums and
 * scripts by hash, how far back the store reaches; and what is said when the
 * store does not keep it, not yet, or not any more.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blake2b224, blake2b256 } from '../../src/crypto/hash.ts';
import { cardanoNetwork, describeOutput, eraName, slotToEpoch } from '../../src/ledgers/cardano/index.ts';
import { KEY_KINDS } from '../../src/ledgers/ledger.ts';
import { CHAIN } from '../../src/projections/chain.ts';
import { INDEX_KINDS, type IndexKind } from '../../src/projections/index/by-key.ts';
import { cardanoDialect } from '../../src/query/cardano/dialect.ts';
import { Overlays } from '../../src/query/overlay.ts';
import { Query, type Utxo } from '../../src/query/query.ts';
import { Renderer, renderBalance } from '../../src/query/render.ts';
import { writeFillStart } from '../../src/state/fill.ts';
import { metaKey } from '../../src/state/head.ts';
import { pruneStep, readPruned } from '../../src/state/pruned.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError, type UnspentError } from '../../src/util/errors.ts';
import { assertCode, Devnet, devnetOptions, type Flavour, KEEP_ALL, memoryRig, type Rig, type RigOptions } from '../support/harness.ts';
import { keep, leaveOut } from '../support/keep.ts';
import { assertBalance, balanceOf, ChainModel, nameOf } from './model.ts';

const KEY = new Uint8Array(28);

function grown(seed: number, flavour: Flavour, blocks: number, options: RigOptions = {}): Rig {
  const rig = memoryRig(new Devnet(devnetOptions(seed, flavour)), options);
  rig.forward(blocks, [4, 1, 9]);
  return rig;
}

function prune(rig: Rig): void {
  while (!pruneStep(rig.engine, rig.projections, rig.fold.head!.height, rig.options, 7).done);
}

/** The call fails so, with a message that says this. */
function assertSays(body: () => unknown, code: ErrorCode, says: string | RegExp): void {
  assertCode(body, code);
  try {
    body();
  } catch (error) {
    assert.match((error as UnspentError).message, typeof says === 'string' ? new RegExp(says.replaceAll('.', '\\.')) : says);
  }
}

describe('what a block did', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    it(`is told as it was right after it, whatever came later (${flavour})`, () => {
      const rig = grown(11, flavour, 70);
      const model = new ChainModel(rig.devnet);
      let both = 0;
      let dropped = 0;
      rig.read((query) => {
        for (const [number, block] of model.blocks.entries()) {
          const { txs, created, spent } = query.changes(query.blockByHash(block.hash)!);
          assert.deepEqual(
            txs.map(({ id, valid }) => [toHex(id), valid]),
            block.txs.map(({ id, valid }) => [id, valid]),
          );
          const before = model.unspentAt(number - 1);
          const after = model.unspentAt(number);
          const made = [...(number === 0 ? rig.devnet.genesis : []), ...block.txs.flatMap(({ creates }) => creates)];
          const taken = block.txs.flatMap(({ spends }) => spends).map(({ key }) => key);
          const swept = [...before.keys()].filter((key) => !after.has(key) && !taken.includes(key));
          assert.deepEqual(created.map(nameOf).sort(), made.map(({ key }) => key).sort());
          assert.deepEqual(spent.map(nameOf).sort(), [...taken, ...swept].sort());
          for (const utxo of created) {
            model.checkOutput(utxo, made.find(({ key }) => key === nameOf(utxo))!, number);
            if (utxo.spent !== null) both++;
          }
          for (const utxo of spent) {
            assert.equal(utxo.spent?.height, block.height);
            model.checkOutput(utxo, model.outputs.find(({ key }) => key === nameOf(utxo))!, number);
            if (utxo.spent?.txId === null) dropped++;
          }
        }
      });
      assert.ok(both > 0, 'some are created and spent in one block');
      assert.equal(dropped > 0, flavour === 'ancient', 'some are removed by the ledger itself');
    });
  }

  it('is refused when it was pruned, and not before', () => {
    const rig = grown(12, 'conway', 60, { pruneDepth: 10, rollbackWindow: 25 });
    prune(rig);
    const { spent, deltas } = readPruned(rig.engine);
    const model = new ChainModel(rig.devnet);
    const outcomes = { told: 0, refused: 0 };
    rig.read((query) => {
      for (const block of model.blocks) {
        const row = query.blockByHash(block.hash)!;
        const needed = [...block.txs.flatMap(({ spends }) => spends), ...block.txs.flatMap(({ creates }) => creates)];
        const gone = needed.some(({ key }) => (rig.devnet.chain.spentBy(key)?.height ?? Number.POSITIVE_INFINITY) <= spent);
        if (block.height <= deltas || gone || block.height === 0) {
          assertSays(() => query.changes(row), 'PRUNED', `above height ${spent}`);
          outcomes.refused++;
        } else {
          assert.equal(query.changes(row).txs.length, block.txs.length);
          outcomes.told++;
        }
      }
    });
    assert.ok(outcomes.told >= 10 && outcomes.refused >= 30, JSON.stringify(outcomes));
  });

  it('is the same after spent outputs were pruned, for as long as undo records carry them', () => {
    for (const flavour of ['conway', 'ancient'] as const) {
      const rig = grown(12, flavour, 90, { selfContained: true, pruneDepth: 8, rollbackWindow: 60 });
      const rows = rig.devnet.chain.blocks.map(({ hash }) => hash);
      const told = (query: Query, hash: Uint8Array) => {
        const { txs, created, spent } = query.changes(query.blockByHash(hash)!);
        return { txs, created, spent };
      };
      const before = rig.read((query) => rows.map((hash) => told(query, hash)));
      prune(rig);
      const { spent, deltas } = readPruned(rig.engine);
      let forgotten = 0;
      rig.read((query) => {
        for (const [i, hash] of rows.entries()) {
          const { height } = query.blockByHash(hash)!;
          if (height <= deltas) assertSays(() => query.changes(query.blockByHash(hash)!), 'PRUNED', `above height ${deltas}`);
          else assert.deepEqual(told(query, hash), before[i], `block ${height}`);
          if (height > deltas && height <= spent) forgotten += before[i].spent.length;
        }
      });
      assert.ok(forgotten > 20, `${forgotten} outputs come from undo records only`);
    }
  });

  it('costs one copy of what was spent, whichever way it is kept', () => {
    const sizes = [false, true].map((selfContained) => {
      const rig = grown(14, 'conway', 60, { selfContained });
      const bytes = (column: string) => [...rig.engine.scan(column)].reduce((sum, [, value]) => sum + value.length, 0);
      const rows = [...rig.engine.scan('utxo_spent')].length;
      return { rows, bytes: bytes('utxo_spent') + bytes('delta') };
    });
    assert.equal(sizes[0].rows, sizes[1].rows);
    // Who spent it and how long it is: a few bytes each.
    assert.ok(sizes[1].bytes - sizes[0].bytes <= 6 * sizes[0].rows, JSON.stringify(sizes));
  });

  it('of a chain without the unspent set is its transactions, and no empty lists of outputs', () => {
    const rig = grown(13, 'conway', 20, { utxo: false });
    rig.read((query) => {
      for (const block of rig.devnet.chain.blocks) {
        const row = query.blockByHash(block.hash)!;
        assert.deepEqual(
          query.blockTxs(row).map(({ id }) => toHex(id)),
          block.txs.map(({ id }) => id),
        );
        assertSays(() => query.changes(row), 'UNSUPPORTED', 'utxo.enabled');
      }
      assert.equal(query.totals, null);
      assertSays(() => query.tx(new Uint8Array(32)), 'UNSUPPORTED', 'utxo.enabled');
      assert.equal(query.at(rig.devnet.chain.blocks[4]).head?.height, 4);
    });
  });
});

describe('a balance', () => {
  it('is the same kept and added up, and equals the model', () => {
    for (const balances of [true, false]) {
      const rig = grown(14, 'conway', 60, { keeps: balances ? KEEP_ALL : leaveOut(KEEP_ALL, 'balance') });
      const model = new ChainModel(rig.devnet);
      rig.read((query) => {
        for (const kind of KEY_KINDS) {
          for (const [key, utxos] of model.indexAt(59, kind)) {
            assertBalance(query.balance(kind, fromHex(key)), balanceOf(utxos), `${kind} ${key}`);
            assert.equal(query.storedBalance(kind, fromHex(key)) !== null, balances && kind !== 'payment');
          }
          assertBalance(query.balance(kind, KEY), balanceOf([]), 'of nobody');
        }
      });
    }
  });

  it('is had without an index where it is kept', () => {
    const rig = grown(14, 'conway', 40, { keeps: leaveOut(KEEP_ALL, 'index') });
    const model = new ChainModel(rig.devnet);
    rig.read((query) => {
      for (const [key, utxos] of model.indexAt(39, 'stake')) assertBalance(query.balance('stake', fromHex(key)), balanceOf(utxos), key);
      assertSays(() => query.balance('payment', KEY), 'UNSUPPORTED', 'utxo.index.paymentCredential');
    });
  });

  it('has a document', () => {
    const [policy, name] = [new Uint8Array(28).fill(1), Uint8Array.of(0xab)];
    assert.deepEqual(
      renderBalance({ utxos: 2, value: 10n ** 17n, assets: [{ policy, name, quantity: 5n }] }, cardanoDialect(cardanoNetwork('devnet'))),
      {
        utxo_count: 2,
        lovelace_amount: '100000000000000000',
        amounts: [
          { unit: 'lovelace', quantity: '100000000000000000' },
          { unit: `${'01'.repeat(28)}ab`, policy_id: '01'.repeat(28), asset_name: 'ab', quantity: '5' },
        ],
      },
    );
  });
});

describe('datums and scripts', () => {
  const rig = grown(15, 'conway', 80);
  const network = cardanoNetwork('devnet');
  const outputs = new ChainModel(rig.devnet).outputs;

  it('are found by their hash, with the first output that had them', () => {
    let datums = 0;
    const types = new Set<string>();
    rig.read((query) => {
      const renderer = new Renderer(query, cardanoDialect(network));
      for (const utxo of outputs) {
        const { inlineDatum, datumHash, scriptRef, scriptHash } = describeOutput(utxo.output);
        if (datumHash !== null) assert.equal(query.datum(datumHash), null, 'a hash alone does not tell the datum');
        if (inlineDatum !== null) {
          const hash = blake2b256(inlineDatum);
          const first = outputs.find((each) => toHex(describeOutput(each.output).inlineDatum ?? KEY) === toHex(inlineDatum))!;
          const json = renderer.seen(hash, query.datum(hash)!);
          assert.deepEqual([json.hash, json.cbor, json.tx_hash, json.output_index], [toHex(hash), toHex(inlineDatum), ...placeOf(first)]);
          assert.deepEqual([json.slot, json.block, json.type, json.script], [first.slot, first.height, undefined, undefined]);
          datums++;
        }
        if (scriptRef === null || scriptHash === null) continue;
        const json = renderer.seen(scriptHash, query.script(scriptHash)!);
        const kind = json.type === 'native' ? 0 : Number(json.type!.slice('plutusV'.length));
        assert.equal(toHex(blake2b224(concatBytes(Uint8Array.of(kind), fromHex(json.script!)))), json.hash);
        assert.deepEqual([json.hash, json.cbor], [toHex(scriptHash), toHex(scriptRef)]);
        types.add(json.type!);
      }
      assert.equal(query.datum(new Uint8Array(32)), null);
      assert.equal(query.script(KEY), null);
    });
    assert.ok(datums > 20);
    assert.deepEqual([...types].sort(), ['native', 'plutusV1', 'plutusV2', 'plutusV3']);
  });

  const placeOf = ({ txId, index }: { txId: Uint8Array; index: number }) => [toHex(txId), index] as const;
});

describe('what is not there', () => {
  const kinds: Readonly<Record<IndexKind, string>> = {
    address: 'utxo.index.addressHash',
    payment: 'utxo.index.paymentCredential',
    stake: 'utxo.index.stakeCredential',
    policy: 'utxo.index.policy',
    asset: 'utxo.index.asset',
    datum: 'utxo.index.datumHash',
    script: 'utxo.index.referenceScript',
  };

  it('because it is switched off is said with the setting that switches it on', () => {
    const rig = grown(16, 'conway', 20, { keeps: keep('setHash', 'csmt') });
    rig.read((query) => {
      const past = query.at(rig.devnet.chain.blocks[9]);
      for (const kind of INDEX_KINDS) {
        for (const view of [query, past, query.at(null)]) assertSays(() => [...view.byKey(kind, KEY)], 'UNSUPPORTED', kinds[kind]);
      }
      for (const view of [query, past]) assertSays(() => view.balance('address', KEY), 'UNSUPPORTED', 'utxo.index.addressHash');
      assertSays(() => query.datum(new Uint8Array(32)), 'UNSUPPORTED', 'utxo.datums');
      assertSays(() => query.script(KEY), 'UNSUPPORTED', 'utxo.scripts');
    });
    const bare = grown(16, 'conway', 20, { utxo: false });
    bare.read((query) => {
      const past = query.at(bare.devnet.chain.blocks[9]);
      for (const view of [query, past, query.at(null)])
        assertSays(() => view.outpoint(new Uint8Array(32), 0), 'UNSUPPORTED', 'utxo.enabled');
      for (const view of [query, past]) assertSays(() => [...view.byKey('address', KEY)], 'UNSUPPORTED', 'utxo.enabled');
    });
  });

  it('because it is still being filled is said, and nothing else is held up by it', () => {
    const rig = grown(17, 'conway', 30);
    const model = new ChainModel(rig.devnet);
    const [stake, utxos] = [...model.indexAt(29, 'stake')][0];
    const known = model.outputs.map(({ output }) => describeOutput(output).inlineDatum).find((datum) => datum !== null)!;
    const filling = ['index.policy', 'index.address', 'balance.stake', 'datums'];
    const batch = rig.engine.batch();
    for (const name of filling) writeFillStart(batch, name);
    batch.commit();
    rig.read((query) => {
      assert.deepEqual([...query.filling().keys()].sort(), [...filling].sort());
      for (const view of [query, query.at(rig.devnet.chain.blocks[9]), query.at(null)]) {
        assertSays(() => [...view.byKey('policy', KEY)], 'INDEX_NOT_READY', 'utxo.index.policy');
        assert.deepEqual([...view.byKey('asset', KEY)], []);
      }
      // From the index, while its own rows are not complete; and the other way round.
      assert.equal(query.storedBalance('stake', fromHex(stake)), null);
      assertBalance(query.balance('stake', fromHex(stake)), balanceOf(utxos), 'stake');
      assert.notEqual(query.storedBalance('address', KEY), null);
      assertSays(() => query.at(rig.devnet.chain.blocks[9]).balance('address', KEY), 'INDEX_NOT_READY', 'utxo.index.addressHash');
      assert.equal(toHex(query.datum(blake2b256(known))!.bytes), toHex(known), 'what is there already is told');
      assertSays(() => query.datum(new Uint8Array(32)), 'INDEX_NOT_READY', 'utxo.datums');
      assert.equal(query.script(KEY), null);
    });
  });

  it('because the question is wrong', () => {
    const rig = grown(18, 'conway', 5);
    rig.read((query) => {
      for (const length of [0, 27, 32]) {
        assertCode(() => query.byKey('address', new Uint8Array(length)), 'USAGE');
        assertCode(() => query.at(rig.devnet.chain.blocks[2]).byKey('address', new Uint8Array(length)), 'USAGE');
        assertCode(() => query.balance('address', new Uint8Array(length)), 'USAGE');
        assertCode(() => query.at(rig.devnet.chain.blocks[2]).balance('address', new Uint8Array(length)), 'USAGE');
      }
    });
  });

  it('because too much was spent since', () => {
    const rig = grown(19, 'conway', 60);
    const columns = rig.engine.columns.map(({ name }) => name);
    const query = new Query(rig.engine.snapshot(columns), columns, rig.devnet.ledger, new Overlays(1500));
    const [far, near] = [rig.devnet.chain.blocks[5], rig.devnet.chain.blocks[58]];
    assertSays(() => query.at(far), 'LIMIT', 'height 5');
    assert.equal(query.at(near).head?.height, 58);
    query.release();
  });

  it('because the query was not told of its ledger, or made without undo records', () => {
    const rig = grown(20, 'conway', 20, { keeps: leaveOut(KEEP_ALL, 'balance') });
    const columns = rig.engine.columns.map(({ name }) => name).filter((name) => name !== 'delta');
    const query = new Query(rig.engine.snapshot(columns), columns);
    assertSays(() => query.balance('stake', KEY), 'UNSUPPORTED', 'ledger');
    assertSays(() => query.at(rig.devnet.chain.blocks[2]), 'UNSUPPORTED', 'undo records');
    assertSays(() => query.changes(query.blockAtHeight(3)!), 'UNSUPPORTED', 'undo records');
    query.release();
  });

  it('because a row is damaged', () => {
    const rig = grown(21, 'conway', 20);
    const batch = rig.engine.batch();
    batch.put(CHAIN, metaKey('fill.index.policy'), Uint8Array.of(1, 2, 3));
    const [[key]] = rig.engine.scan('utxo_spent');
    batch.del('utxo_spent', key);
    batch.commit();
    rig.read((query) => {
      assertCode(() => query.filling(), 'STORE_DAMAGED');
      assertCode(() => query.at(rig.devnet.chain.blocks[0]), 'STORE_DAMAGED');
    });
  });
});

describe('how far back', () => {
  it('is what the fold says, at every step of pruning', () => {
    for (const [selfContained, utxo] of [[false, true] as const, [true, true] as const, [false, false] as const]) {
      const rig = memoryRig(new Devnet(devnetOptions(22, 'ancient')), { selfContained, utxo, pruneDepth: 8, rollbackWindow: 14 });
      const same = () =>
        rig.read((query) => {
          const height = rig.fold.horizonHeight;
          const row = query.horizon(rig.options);
          assert.equal(row?.height ?? null, height);
          assert.equal(row === null ? null : toHex(row.hash), height === null ? null : toHex(rig.fold.rowAt(height)!.hash));
          assert.deepEqual(query.pruned(), readPruned(rig.engine));
        });
      same();
      for (let i = 0; i < 40; i++) {
        rig.forward(1);
        same();
        pruneStep(rig.engine, rig.projections, rig.fold.head!.height, rig.options, 2);
        same();
      }
      const tip = rig.devnet.chain.tip!.height;
      const { deltas } = readPruned(rig.engine);
      assert.ok(deltas > 0 && deltas < tip);
      rig.fold.rollback(rig.devnet.pointBelow(4));
      same();
    }
  });
});

describe('documents', () => {
  const network = cardanoNetwork('devnet');

  it('of blocks', () => {
    const rig = grown(23, 'ancient', 60);
    rig.read((query) => {
      const renderer = new Renderer(query, cardanoDialect(network));
      for (const block of rig.devnet.chain.blocks) {
        const json = renderer.block(query.blockByHash(block.hash)!);
        const { height, slot, era, txs, raw, prevHash } = block;
        assert.deepEqual(
          [json.hash, json.height, json.slot, json.epoch, json.era, json.tx_count, json.size, json.previous_hash],
          [
            toHex(block.hash),
            height,
            slot,
            slotToEpoch(network, slot),
            eraName(era),
            txs.length,
            raw.length,
            prevHash === null ? undefined : toHex(prevHash),
          ],
        );
        if (json.issuer !== undefined) assert.match(json.issuer, /^[0-9a-f]{64}$/);
      }
    });
  });

  it('of outputs are the same from a renderer that has seen many and from a new one', () => {
    const rig = grown(24, 'ancient', 80);
    rig.read((query) => {
      const old = new Renderer(query, cardanoDialect(network));
      const outputs = new ChainModel(rig.devnet).outputs.map((utxo) => query.outpoint(utxo.txId, utxo.index)!);
      const text = (renderer: Renderer, utxo: Utxo) => JSON.stringify(renderer.utxo(utxo));
      const first = outputs.map((utxo) => text(old, utxo));
      for (const [i, utxo] of outputs.entries()) {
        assert.equal(text(old, utxo), first[i]);
        assert.equal(text(new Renderer(query, cardanoDialect(network)), utxo), first[i]);
      }
    });
  });

  it('of what does not decode are damage, with its name', () => {
    const rig = grown(25, 'conway', 5);
    rig.read((query) => {
      const renderer = new Renderer(query, cardanoDialect(network));
      const [row] = [...rig.engine.scan('utxo_unspent')].map(([key]) => query.outpoint(key.slice(0, 32), key[33])!);
      const broken = { ...row, output: { ...row.output, raw: Uint8Array.of(0xa1, 0) } };
      assert.throws(
        () => renderer.utxo(broken),
        (error) => isUnspentError(error, 'STORE_DAMAGED') && error.message.includes(nameOf(row)),
      );
      const seen = { height: 1, slot: 1, txId: new Uint8Array(32), index: null, bytes: Uint8Array.of(0x82) };
      assertCode(() => renderer.seen(KEY, seen), 'STORE_DAMAGED');
      assert.equal('output_index' in renderer.seen(new Uint8Array(32), seen), false);
    });
  });
});
