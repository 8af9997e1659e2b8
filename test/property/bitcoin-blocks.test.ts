/**
 * Real blocks through the fold on RocksDB: a store that holds the outputs they
 * spend connects them without one input missing, says of each what the undo
 * data says, and is byte for byte the store before when they are taken back.
 * And real reorganisations, there and back.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { type BitcoinBlock, type BitcoinNetwork, bitcoinLedger, decodeBlock, genesisBlock } from '../../src/ledgers/bitcoin/index.ts';
import { commitmentOf } from '../../src/query/bitcoin/commitment.ts';
import { rawBlock } from '../../src/query/bitcoin/raw-block.ts';
import { Fold } from '../../src/state/fold.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { bitcoin, expectedSets, PlainSet, readRun, regtest, type Sample, sampleBytes, samples } from '../ledgers/bitcoin/samples.ts';
import { nameOf } from '../support/bitcoin-chain.ts';
import { VERIFY_ALL_BITCOIN } from '../support/bitcoin-rig.ts';
import {
  type OutputBytes,
  outpointsOf,
  readCompressedStore,
  readSpentList,
  readUndoFile,
  type SeedCoin,
  seedBlock,
} from '../support/bitcoin-spent.ts';
import { fixtures, needsFixtures, readFixtureText } from '../support/fixtures.ts';
import { type ForgedRig, forgedRocksRig } from '../support/forged-chain.ts';
import { assertCode, assertSameDump, type Dump, dump, rowsOf } from '../support/harness.ts';

const BYSTANDERS = 50;
const TWICE_BYTES_MAX = 500_000;

interface Given {
  readonly block: BitcoinBlock;
  readonly network: BitcoinNetwork;
  /** What each input spends, in order. */
  readonly spent: readonly OutputBytes[];
  readonly coinbase: (input: number) => boolean;
}

function createdBy(block: BitcoinBlock): Map<string, OutputBytes> {
  const made = block.txs.flatMap((tx) =>
    tx.creates.map(({ index, start, end }) => [nameOf(tx.id, index), block.raw.subarray(start, end)] as const),
  );
  return new Map(made);
}

/** The outputs that the block finds, and some that it leaves alone: beside those it spends, and of transactions of their own. */
function seedsOf({ block, spent, coinbase }: Given): SeedCoin[] {
  const created = createdBy(block);
  const spends = outpointsOf(block).map((outpoint, i) => ({ ...outpoint, output: spent[i], coinbase: coinbase(i) }));
  const found = spends.filter(({ name }) => !created.has(name));
  const taken = new Set(found.map(({ name }) => name));
  const beside = found.slice(0, BYSTANDERS).map((coin) => ({ ...coin, index: coin.index + 1000 }));
  const apart = found.slice(0, BYSTANDERS).map((coin, i) => ({ ...coin, txId: new Uint8Array(32).fill(i + 1), index: 2 * i }));
  return [...found, ...[...beside, ...apart].filter(({ txId, index }) => !taken.has(nameOf(txId, index)))];
}

function unspentNames(engine: Engine): string[] {
  return rowsOf(engine, 'utxo_unspent').map((row) => `${row.slice(0, 64)}#${Number.parseInt(row.slice(64, 72), 16)}`);
}

/** Connects the block, compares, disconnects, compares; a small one twice. */
async function thereAndBack(given: Given, selfContained: boolean): Promise<void> {
  const { block, network } = given;
  const ledger = bitcoinLedger(network);
  const seeds = seedsOf(given);
  // Only the block that never was may begin in the middle of the chain.
  const rig = await forgedRocksRig(ledger, { partial: true, selfContained });
  try {
    rig.fold.apply([seedBlock(block, seeds)]);
    const fold = new Fold(rig.engine, ledger, rig.projections, { ...rig.fold.options, partial: false });
    assert.deepEqual([fold.head?.utxos, fold.head?.missing], [seeds.length, 0]);
    const before = dump(rig.engine);
    const { prevHash } = block;
    for (let rounds = block.raw.length < TWICE_BYTES_MAX ? 2 : 1; rounds > 0; rounds--) {
      const applied = fold.apply([block]);
      assert.equal(applied.spent, given.spent.length, 'every input is found');
      checkConnected(rig, given, seeds);
      assert.equal(fold.rollback({ height: block.height - 1, slot: block.height - 1, hash: prevHash! }), 1);
      assertSameDump(dump(rig.engine), before, `block ${block.height} there and back`);
    }
    checkRefused(fold, given, before, rig);
  } finally {
    await rig.close();
  }
}

/** The set is what was there, less what the block spends, and what it makes; and each input spent what the undo data says. */
function checkConnected(rig: ForgedRig, { block, spent, network }: Given, seeds: readonly SeedCoin[]): void {
  const created = createdBy(block);
  const names = new Set([...seeds.map(({ txId, index }) => nameOf(txId, index)), ...created.keys()]);
  const spends = outpointsOf(block);
  for (const { name } of spends) assert.ok(names.delete(name), `${name} was there`);
  assert.deepEqual(unspentNames(rig.engine).sort(), [...names].sort());
  rig.read((query) => {
    const changes = query.changes(query.blockByHash(block.hash)!);
    assert.equal(changes.created.length, created.size);
    for (const [i, { txId, index, output, spent: by }] of changes.spent.entries()) {
      assert.equal(nameOf(txId, index), spends[i].name, `input ${i}`);
      assert.equal(toHex(output.raw), toHex(spent[i]), `what input ${i} spends`);
      assert.equal(by?.height, block.height);
    }
    const fees = changes.spent.reduce((sum, { output }) => sum + output.value, 0n);
    const minted = block.txs[0].creates.length > 0 ? changes.created.filter(({ output }) => output.txIndex === 0) : [];
    const paid = changes.created.filter(({ output }) => output.txIndex > 0).reduce((sum, { output }) => sum + output.value, 0n);
    const subsidy = 5_000_000_000n >> BigInt(Math.floor(block.height / network.halvingBlocks));
    const reward = minted.reduce((sum, { output }) => sum + output.value, 0n);
    assert.ok(reward <= subsidy + fees - paid, `${reward} is no more than ${subsidy} and the fees`);
    assert.equal(toHex(rawBlock(query, query.blockByHash(block.hash)!)), toHex(block.raw), 'the block from its history');
  });
  const { muhash, bogosize } = commitmentOf(rig.engine, block.hash);
  assert.deepEqual(
    rig.read((query) => query.setHash(bitcoinLedger(network).setHash)),
    { hash: muhash, bogosize },
  );
}

/** With any one of its inputs gone the block is refused, and nothing is written. */
function checkRefused(fold: Fold, { block }: Given, before: Dump, { engine }: ForgedRig): void {
  const [{ raw, start }] = block.txs;
  const created = createdBy(block);
  const last = block.txs.findLast((tx) => tx.spends.some(({ at, index }) => !created.has(nameOf(block.raw.subarray(at, at + 32), index))))!;
  const spend = last.spends.find(({ at, index }) => !created.has(nameOf(block.raw.subarray(at, at + 32), index)))!;
  const other = raw.slice();
  assert.ok(start < spend.at);
  other[spend.at] ^= 1;
  assertCode(() => fold.apply([decodeBlock(other, block.height)]), 'INPUT_MISSING');
  assertSameDump(dump(engine), before, 'after the refusal');
}

describe('blocks with what they spend', () => {
  const undoOf = (file: string): string => file.replace('.raw', '-undo.raw');
  const withUndo = samples.filter(({ file }) => existsSync(fixtures('bitcoin', 'blocks', undoOf(file))));
  const given = (sample: Sample, spent: readonly OutputBytes[], coinbase = (_: number) => false): Given => {
    const block = bitcoinLedger(sample.network).decode(sampleBytes(sample.file), sample.height);
    assert.equal(spent.length, sample.inputs, sample.file);
    return { block, network: sample.network, spent, coinbase };
  };

  it('there are seven with undo files', needsFixtures, () => assert.equal(withUndo.length, 7));

  for (const [i, sample] of withUndo.entries())
    it(`block ${sample.height} connects and disconnects to the same bytes`, needsFixtures, () =>
      thereAndBack(given(sample, readUndoFile(undoOf(sample.file))), i % 2 === 1),
    );

  it('block 367891, with a transaction of 20,000 inputs', needsFixtures, () => {
    const sample = samples.find(({ height }) => height === 367_891)!;
    const rows = readSpentList('floresta-block367891-spent.json.gz');
    assert.ok(rows.every(({ height }) => height <= sample.height));
    const spent = given(
      sample,
      rows.map(({ output }) => output),
      (input) => rows[input].coinbase,
    );
    return thereAndBack(spent, false);
  });

  it('block 277647, with the compressed coins of another store', needsFixtures, () => {
    const [raw] = readRun('btcd-277647.dat');
    const block = bitcoinLedger(bitcoin).decode(raw, 277_647);
    const coins = readCompressedStore('btcd-277647-utxostore.bin');
    const created = createdBy(block);
    const of = outpointsOf(block).map(({ name }) => created.get(name) ?? coins.get(name)?.output ?? assert.fail(name));
    const names = outpointsOf(block).map(({ name }) => name);
    assert.ok(names.some((name) => coins.get(name) !== undefined) && [...coins.values()].every(({ height }) => height <= block.height));
    return thereAndBack({ block, network: bitcoin, spent: of, coinbase: (input) => coins.get(names[input])?.coinbase ?? false }, true);
  });
});

/** From one branch to the other and back, with everything as it was each time. */
async function reorganise(network: BitcoinNetwork, trunk: readonly BitcoinBlock[], branch: readonly BitcoinBlock[]): Promise<Dump[]> {
  const fork = trunk.findIndex(({ hash }) => toHex(hash) === toHex(branch[0].prevHash!));
  const rig = await forgedRocksRig(bitcoinLedger(network));
  const dumps: Dump[] = [];
  try {
    rig.apply(trunk, [2, 1]);
    for (const [round, sizes] of [[1], [1000], [2, 3]].entries()) {
      for (const [way, blocks] of [trunk.slice(fork + 1), branch].entries()) {
        rig.fold.rollback(trunk[fork]);
        rig.apply(blocks, sizes);
        const now = dump(rig.engine);
        assertSameDump(now, dumps[way] ?? now, `round ${round}`);
        dumps[way] = now;
        const plain = new PlainSet();
        for (const block of [...trunk.slice(0, fork + 1), ...blocks]) plain.apply(block);
        const { hash2, hash3, muhash } = plain.summary(blocks[blocks.length - 1].hash);
        const found = commitmentOf(rig.engine, rig.fold.head!.hash);
        assert.deepEqual([found.hashSerialized2, found.hashSerialized3, found.muhash], [hash2, hash3, muhash]);
        assert.deepEqual(verifyStore(rig.engine, bitcoinLedger(network), VERIFY_ALL_BITCOIN).faults, []);
      }
    }
    return dumps;
  } finally {
    await rig.close();
  }
}

describe('real reorganisations on RocksDB', () => {
  const decoded = (network: BitcoinNetwork, raws: readonly Uint8Array[], from: number): BitcoinBlock[] =>
    raws.map((raw, i) => bitcoinLedger(network).decode(raw, from + i));

  /** The blocks of the annotated file: hex in words, and lines that say what they are. */
  function annotated(): Uint8Array[] {
    const text = readFixtureText('bitcoin', 'blocks', 'btcd-reorgtest.hex');
    return text
      .split(/^Block .*$/m)
      .slice(1)
      .map((part) =>
        fromHex(
          part
            .split('\n')
            .filter((line) => /^[\s0-9a-f]*$/.test(line))
            .join('')
            .replaceAll(/\s/g, ''),
        ),
      )
      .map((record) => record.subarray(8));
  }

  it('blocks 3 and 4 give way to 3A, 4A and 5A', needsFixtures, async () => {
    const trunk = readRun('btcd-blk_0_to_4.dat');
    const branch = ['3A', '4A', '5A'].flatMap((name) => readRun(`btcd-blk_${name}.dat`));
    const before = expectedSets.get('btcd reorg file 1..4 (before)')!;
    const after = expectedSets.get('btcd reorg 1, 2, 3A, 4A, 5A (after)')!;
    const dumps = await reorganise(bitcoin, decoded(bitcoin, trunk, 0), decoded(bitcoin, branch, 3));
    assert.deepEqual(
      dumps.map((rows) => rows.get('utxo_unspent')!.length),
      [before.coins, after.coins],
    );
  });

  it(
    'the annotated draft of that chain is sound block by block, but spends what never was: it ends at block 1',
    needsFixtures,
    async () => {
      const ledger = bitcoinLedger(bitcoin);
      const blocks = annotated().map((raw, i) => ledger.decode(raw, i < 5 ? i : i - 2));
      assert.equal(blocks.length, 8);
      for (const block of blocks) ledger.verify(block);
      for (const sizes of [[1], [1000]]) {
        const rig = await forgedRocksRig(ledger);
        const missing = 'd2eeb8dc4f076278dcb0b50f99b5866a1999dfdf4dbad588131c6102101d4563#0';
        const by = '00000000582200284cf23362f951db4923a0dd4579f14c0dabfa06055482337d';
        assert.throws(() => rig.apply(blocks.slice(0, 5), sizes), { code: 'INPUT_MISSING', message: new RegExp(`^${missing}.*${by}`) });
        assert.equal(toHex(rig.fold.head!.hash), toHex(blocks[1].hash));
        await rig.close();
      }
    },
  );

  it('the last five blocks of a regtest chain give way to eleven', needsFixtures, async () => {
    const [trunk, branch] = JSON.parse(readFixtureText('bitcoin', 'blocks', 'floresta-regtest-reorg.json')) as [string[], string[]];
    const hexes = (list: readonly string[]): Uint8Array[] => list.map((hex) => fromHex(hex));
    const blocks = decoded(regtest, [genesisBlock(regtest), ...hexes(trunk)], 0);
    const dumps = await reorganise(regtest, blocks, decoded(regtest, hexes(branch), 6));
    assert.deepEqual(
      dumps.map((rows) => rows.get('utxo_unspent')!.length),
      [10, 16],
    );
  });
});
