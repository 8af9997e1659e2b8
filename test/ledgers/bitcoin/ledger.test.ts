/**
 * The ledger contract, kept by this family: heights, first blocks, keys, what
 * never enters the set; and the core's own fold over real blocks of it.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMemory } from '../../../src/engine/memory.ts';
import {
  BITCOIN_NETWORKS,
  bitcoinLedger,
  bitcoinNetwork,
  decodeBlock,
  formatId,
  genesisBlock,
  OUTPUT_FLAG,
  parseId,
  scriptKey,
} from '../../../src/ledgers/bitcoin/index.ts';
import { type Create, OutputKeys } from '../../../src/ledgers/ledger.ts';
import { outpointKey } from '../../../src/ledgers/outpoint.ts';
import { chainProjection } from '../../../src/projections/chain.ts';
import { readStored } from '../../../src/projections/coin.ts';
import { indexColumn, indexProjection } from '../../../src/projections/index/by-key.ts';
import { transactionsProjection } from '../../../src/projections/transactions.ts';
import { UNSPENT, utxoProjection } from '../../../src/projections/utxo.ts';
import { deltaColumn } from '../../../src/state/delta.ts';
import { Fold } from '../../../src/state/fold.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { needsFixtures } from '../../support/fixtures.ts';
import { forgeBlock, forgeCoinbase, forgeTx, NO_BYTES, OP_TRUE } from './forge.ts';
import { bitcoin, PlainSet, readRun, regtest, sampleBytes, samples } from './samples.ts';

const ledger = bitcoinLedger(bitcoin);
const PREV = new Uint8Array(32).fill(9);
const paid = [{ value: 50n, script: OP_TRUE }];

describe('heights', () => {
  test('given, or said by the block, or an error', needsFixtures, () => {
    assert.equal(ledger.decode(genesisBlock(bitcoin)).height, 0);
    assert.equal(ledger.decode(genesisBlock(bitcoin)).slot, 0);
    const late = samples.find(({ height }) => height === 702861) ?? assert.fail();
    assert.equal(ledger.decode(sampleBytes(late.file)).height, 702861);
    const [first] = readRun('btcd-blocks1-255.dat');
    assert.throws(() => ledger.decode(first), { code: 'BLOCK_INVALID', message: /does not say its height/ });
    const block = ledger.decode(first, 1);
    assert.deepEqual([block.height, block.slot, block.boundary, block.era], [1, 1, false, 0]);
  });

  test('the first block of another network says none', () => {
    assert.throws(() => ledger.decode(genesisBlock(regtest)), { code: 'BLOCK_INVALID' });
  });
});

describe('the first block', () => {
  test('of each network is its own, creates nothing and passes the ledger', () => {
    for (const network of BITCOIN_NETWORKS) {
      const own = bitcoinLedger(network);
      const block = own.decode(genesisBlock(network));
      own.verify(block);
      assert.ok(own.isFirst(block));
      assert.equal(own.transition(undefined, block), null);
      assert.deepEqual(block.txs[0].creates, []);
      assert.equal(block.prevHash, null);
    }
  });

  test('of another network is refused', () => {
    const other = decodeBlock(genesisBlock(bitcoinNetwork('litecoin')), 0);
    assert.throws(() => ledger.transition(undefined, other), { code: 'NETWORK_WRONG', message: /12a765e3.*bitcoin/ });
    assert.equal(ledger.transition({ era: 0 }, other), null);
  });
});

describe('outputs', () => {
  const data = { value: 0n, script: fromHex('6a04deadbeef') };
  const long = (length: number) => ({ value: 1n, script: new Uint8Array(length).fill(0x51) });
  const empty = { value: 3n, script: NO_BYTES };

  test('those that can never be spent are left out, and the others keep their index', () => {
    const outputs = [data, ...paid, long(10_000), data, long(10_001), empty];
    const block = ledger.decode(forgeBlock(PREV, [forgeCoinbase(600, outputs)]), 600);
    assert.deepEqual(
      block.txs[0].creates.map(({ index, valueLo, flags }) => [index, valueLo, flags]),
      [
        [1, 50, OUTPUT_FLAG.coinbase],
        [2, 1, OUTPUT_FLAG.coinbase],
        [5, 3, OUTPUT_FLAG.coinbase],
      ],
    );
  });

  test('only a coinbase has its flag', () => {
    const spend = forgeTx({ inputs: [{ txId: PREV, index: 1 }], outputs: paid });
    const block = ledger.decode(forgeBlock(PREV, [forgeCoinbase(600, paid), spend]), 600);
    assert.deepEqual(
      block.txs.map((tx) => [tx.spends.length, tx.creates[0].flags, tx.valid]),
      [
        [0, 1, true],
        [1, 0, true],
      ],
    );
  });

  test('a stored output is read as it was decoded, and has one key', () => {
    const raw = forgeBlock(PREV, [forgeCoinbase(600, [long(300), ...paid])]);
    const keys = new OutputKeys();
    for (const create of ledger.decode(raw, 600).txs[0].creates) {
      const stored = raw.slice(create.start, create.end);
      const read: Create = ledger.readOutput(stored, 0, stored.length);
      assert.deepEqual([read.valueHi, read.valueLo], [create.valueHi, create.valueLo]);
      ledger.findKeys(stored, read, keys);
      const script = stored.subarray(read.addressStart, read.addressEnd);
      assert.deepEqual([keys.mask, keys.places[0], toHex(keys.made, 0, 28)], [1, 0, toHex(scriptKey(script))]);
      assert.throws(() => ledger.readOutput(concatBytes(stored, OP_TRUE), 0, stored.length + 1), { code: 'BLOCK_INVALID' });
    }
  });

  test('an output of less than nothing is refused', () => {
    const output = { value: (1n << 64n) - 1n, script: OP_TRUE };
    assert.throws(() => ledger.decode(forgeBlock(PREV, [forgeCoinbase(600, [output])]), 600), {
      code: 'BLOCK_INVALID',
      message: /less than nothing/,
    });
  });

  test('an index is as wide as the rules have it', () => {
    for (const index of [65_535, 65_536, 0xffff_ffff]) {
      const spend = forgeTx({ inputs: [{ txId: PREV, index }], outputs: paid });
      assert.equal(ledger.decode(forgeBlock(PREV, [forgeCoinbase(600, paid), spend]), 600).txs[1].spends[0].index, index);
    }
    // What a block of 4,000,000 units of weight has room for.
    const most = 111_000;
    const { creates } = ledger.decode(forgeBlock(PREV, [forgeCoinbase(600, Array<typeof empty>(most).fill(empty))]), 600).txs[0];
    assert.deepEqual([creates.length, creates[most - 1].index], [most, most - 1]);
  });

  test('only a coinbase names no output, and then nothing else', () => {
    const none = { txId: new Uint8Array(32), index: 0xffff_ffff };
    const mixed = forgeTx({ inputs: [{ txId: PREV, index: 0 }, none], outputs: paid });
    assert.throws(() => ledger.decode(forgeBlock(PREV, [forgeCoinbase(600, paid), mixed]), 600), {
      code: 'BLOCK_INVALID',
      message: /null outpoint/,
    });
    const zero = forgeTx({ inputs: [{ ...none, index: 0xffff_fffe }], outputs: paid });
    assert.equal(ledger.decode(forgeBlock(PREV, [forgeCoinbase(600, paid), zero]), 600).txs[1].spends.length, 1);
  });

  test('the coinbases that were overwritten (BIP30) are not in the set', () => {
    const raw = forgeBlock(PREV, [forgeCoinbase(91_722, paid)]);
    const hash = formatId(decodeBlock(raw, 91_722).hash);
    const odd = bitcoinLedger({
      ...bitcoin,
      overwritten: [{ height: 91_722, hash, by: { height: 91_880, hash: bitcoin.overwritten[0].by.hash } }],
    });
    assert.deepEqual(odd.decode(raw, 91_722).txs[0].creates, []);
    // Another block at that height, or this one elsewhere, is as any other.
    assert.equal(odd.decode(raw, 91_723).txs[0].creates.length, 1);
    assert.equal(ledger.decode(raw, 91_722).txs[0].creates.length, 1);
    for (const { hash: known } of bitcoin.overwritten) assert.equal(formatId(parseId(known)), known);
  });
});

describe('coinbases', () => {
  test('stand first and only there', () => {
    const spend = forgeTx({ inputs: [{ txId: PREV, index: 1 }], outputs: paid });
    const coinbase = forgeCoinbase(600, paid);
    assert.throws(() => ledger.decode(forgeBlock(PREV, [spend]), 600), { code: 'BLOCK_INVALID', message: /not a coinbase/ });
    assert.throws(() => ledger.decode(forgeBlock(PREV, [coinbase, coinbase]), 600), { code: 'BLOCK_INVALID', message: /behind the first/ });
  });

  test('two inputs of which one is none is no transaction', () => {
    const inputs = [
      { txId: new Uint8Array(32), index: 0xffff_ffff },
      { txId: PREV, index: 0 },
    ];
    const header = forgeBlock(PREV, [forgeCoinbase(600, paid)]).subarray(0, 80);
    for (const order of [inputs, [...inputs].reverse()]) {
      const raw = concatBytes(header, Uint8Array.of(1), forgeTx({ inputs: order, outputs: paid }));
      assert.throws(() => ledger.decode(raw, 600), { code: 'BLOCK_INVALID' });
    }
  });
});

describe('the fold of the core', () => {
  test('carries the first 256 blocks of the chain, and takes them back', needsFixtures, () => {
    const projections = [chainProjection(), transactionsProjection(ledger), utxoProjection(ledger), indexProjection('address', ledger)];
    const engine = openMemory([...projections.flatMap(({ columns }) => columns), deltaColumn]);
    const fold = new Fold(engine, ledger, projections, {
      utxo: true,
      partial: false,
      selfContained: false,
      pruneDepth: 300,
      rollbackWindow: 300,
      fsync: false,
    });
    const blocks = [genesisBlock(bitcoin), ...readRun('btcd-blocks1-255.dat')].map((raw, height) => ledger.decode(raw, height));
    const plain = new PlainSet();
    for (const block of blocks) plain.apply(block);
    for (let at = 0; at < blocks.length; at += 50) fold.apply(blocks.slice(at, at + 50));
    assert.deepEqual([fold.head?.height, fold.head?.utxos, fold.head?.value], [255, 260, plain.totals.value]);
    const stored = [...engine.scan(UNSPENT)].map(([key, value]) => ({ key, output: readStored(value) }));
    const wanted = plain.inOrder().map(({ txId, index, ...rest }) => ({ key: outpointKey(txId, index), ...rest }));
    assert.deepEqual(
      stored.map(({ key, output: { height, flags, raw } }) => [toHex(key), height, flags, toHex(raw)]),
      wanted.map(({ key, height, coinbase, output }) => [toHex(key), height, coinbase ? OUTPUT_FLAG.coinbase : 0, toHex(output)]),
    );
    assert.equal([...engine.scan(indexColumn('address'))].length, 260);
    fold.rollback(blocks[169]);
    assert.deepEqual([fold.head?.height, fold.head?.utxos], [169, 169]);
    fold.apply(blocks.slice(170));
    assert.deepEqual([fold.head?.height, fold.head?.utxos], [255, 260]);
    fold.rollback(null);
    assert.equal(fold.head, null);
  });
});
