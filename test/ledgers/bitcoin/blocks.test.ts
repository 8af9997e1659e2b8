/**
 * Every sample block: decoded, its hash, Merkle root and witness commitment
 * recomputed, its facts compared with the table that came with the data, its
 * transactions written again byte for byte, and its inputs matched with the
 * outputs they spend where those came too.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '../../../src/crypto/sha256.ts';
import { compactBytes } from '../../../src/ledgers/bitcoin/cursor.ts';
import {
  type BitcoinBlock,
  type BitcoinNetwork,
  bitcoinLedger,
  coreType,
  type DescribedTx,
  decodeBlock,
  decodeTx,
  describeOutput,
  describeTx,
  formatId,
  readScript,
  saidHeight,
} from '../../../src/ledgers/bitcoin/index.ts';
import { verifyBody } from '../../../src/ledgers/bitcoin/proof.ts';
import { concatBytes, equalBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { fixtures, needsFixtures, readFixtureText } from '../../support/fixtures.ts';
import { bitcoin, readRun, type Sample, sampleBytes, samples } from './samples.ts';

const blockOf = (sample: Sample): BitcoinBlock => decodeBlock(sampleBytes(sample.file), sample.height);
const sampleAt = (height: number): Sample => samples.find((sample) => sample.height === height) ?? assert.fail(`no block ${height}`);

function outpointsOf(block: BitcoinBlock): string[] {
  return block.txs.flatMap((tx) => tx.spends.map(({ at, index }) => `${toHex(block.raw, at, at + 32)}#${index}`));
}

/** The bytes of outputs by outpoint, those that cannot be spent left out. */
function createdBy(block: BitcoinBlock): Map<string, Uint8Array> {
  const entries = block.txs.flatMap((tx) =>
    tx.creates.map(({ index, start, end }) => [`${toHex(tx.id)}#${index}`, block.raw.subarray(start, end)] as const),
  );
  return new Map(entries);
}

/** In the words of the table, which calls by the name of multisig also what has no keys in the place of keys. */
function kindOf(script: Uint8Array): string {
  const read = readScript(script);
  if (read.kind === 'unknown' && script.at(-1) === 0xae) return 'multisig';
  if (script[0] === 0x6a) return 'opret';
  if (read.kind !== 'witness') return read.kind === 'unknown' ? 'other' : read.kind;
  if (read.version > 0) return 'p2tr';
  return read.program.length === 20 ? 'p2wpkh' : 'p2wsh';
}

describe('single blocks', () => {
  test('hash, counts and kinds of output are those of the table', needsFixtures, () => {
    assert.equal(samples.length, 18);
    for (const sample of samples) {
      const block = blockOf(sample);
      const txs = block.txs.map(describeTx);
      const created = createdBy(block);
      const kinds: Record<string, number> = {};
      for (const { script } of txs.flatMap((tx) => tx.outputs)) kinds[kindOf(script)] = (kinds[kindOf(script)] ?? 0) + 1;
      assert.deepEqual(
        {
          hash: formatId(block.hash),
          bytes: block.raw.length,
          txs: block.txs.length,
          inputs: block.txs.reduce((sum, tx) => sum + tx.spends.length, 0),
          outputs: txs.reduce((sum, tx) => sum + tx.outputs.length, 0),
          witnessTxs: txs.filter((tx) => tx.inputs.some(({ witness }) => witness.length > 0)).length,
          inBlock: outpointsOf(block).filter((key) => created.has(key)).length,
          kinds,
        },
        {
          hash: sample.hash,
          bytes: sample.bytes,
          txs: sample.txs,
          inputs: sample.inputs,
          outputs: sample.outputs,
          witnessTxs: sample.witnessTxs,
          inBlock: sample.inBlock,
          kinds: sample.kinds,
        },
        sample.file,
      );
      assert.equal(created.size, sample.outputs - (sample.kinds['opret'] ?? 0), sample.file);
    }
  });

  test('three of the five that look like multisig hold data in place of a key, which nodes do not take for it', needsFixtures, () => {
    const scripts = blockOf(sampleAt(300025)).txs.flatMap((tx) => describeTx(tx).outputs.map(({ script }) => script));
    const types = scripts.filter((script) => script.at(-1) === 0xae).map((script) => coreType(script));
    assert.deepEqual(types.sort(), ['multisig', 'multisig', 'nonstandard', 'nonstandard', 'nonstandard']);
  });

  test('Merkle root, witness commitment and height are recomputed', needsFixtures, () => {
    for (const sample of samples) {
      const block = blockOf(sample);
      verifyBody(block, sample.network);
      if (block.header.version >= 2) assert.equal(saidHeight(block.raw), sample.height, sample.file);
      assert.throws(() => verifyBody(decodeBlock(block.raw, sample.height + 1), { ...sample.network, bip34Height: 0 }), {
        code: 'BLOCK_INVALID',
        message: /BIP34/,
      });
    }
  });

  test('every transaction is written again to the byte, alone and in its block', needsFixtures, () => {
    for (const sample of samples) {
      const block = blockOf(sample);
      for (const tx of block.txs) {
        const described = describeTx(tx);
        const bytes = block.raw.slice(tx.start, tx.end);
        assert.ok(equalBytes(written(described, true), bytes), formatId(tx.id));
        const alone = decodeTx(bytes);
        assert.deepEqual([alone.id, alone.witnessId, alone.coinbase], [tx.id, tx.witnessId, tx.coinbase]);
        const bare = written(described, false);
        assert.deepEqual(
          [described.size, described.strippedSize, described.weight, described.virtualSize],
          [bytes.length, bare.length, 3 * bare.length + bytes.length, Math.ceil((3 * bare.length + bytes.length) / 4)],
        );
        assert.deepEqual(decodeTx(bare).id, tx.id);
        assert.deepEqual(decodeTx(bare).witnessId, tx.id);
      }
    }
  });

  test('outputs are kept as they stood', needsFixtures, () => {
    const block = blockOf(sampleAt(702861));
    for (const tx of block.txs) {
      const all = describeTx(tx).outputs;
      for (const { index, start, end, addressStart, addressEnd, valueHi, valueLo, flags } of tx.creates) {
        const { value, script } = describeOutput(block.raw, start, end);
        assert.equal(value, (BigInt(valueHi) << 32n) | BigInt(valueLo));
        assert.ok(equalBytes(script, block.raw.subarray(addressStart, addressEnd)));
        assert.deepEqual({ start, end }, { start: all[index].start, end: all[index].end });
        assert.equal(flags, tx.coinbase ? 1 : 0);
      }
    }
  });
});

describe('blocks with what they spend', () => {
  const undoOf = (file: string): string => file.replace('.raw', '-undo.raw');
  const withUndo = samples.filter(({ file }) => existsSync(fixtures('bitcoin', 'blocks', undoOf(file))));

  /** Value and script one after the other: the very bytes we keep of an output. */
  function readUndo(file: string, count: number): Uint8Array[] {
    const bytes = sampleBytes(file);
    const outputs: Uint8Array[] = [];
    for (let at = 0; outputs.length < count; ) {
      const length = bytes[at + 8] === 0xfd ? 2 + (bytes[at + 9] | (bytes[at + 10] << 8)) : bytes[at + 8];
      outputs.push(bytes.subarray(at, at + 9 + length));
      at += 9 + length;
    }
    assert.equal(
      outputs.reduce((sum, output) => sum + output.length, 0),
      bytes.length,
      file,
    );
    return outputs;
  }

  /** Inputs of each transaction with the outputs they spend: keys hash to what was paid to, and the fees add up. */
  function match(block: BitcoinBlock, spent: readonly Uint8Array[], network: BitcoinNetwork): { keys: number; fees: bigint } {
    let next = 0;
    let keys = 0;
    let fees = 0n;
    const txs = block.txs.map(describeTx);
    for (const tx of txs.slice(1)) {
      for (const input of tx.inputs) {
        const { value, script } = describeOutput(spent[next++]);
        fees += value;
        const read = readScript(script);
        const key = read.kind === 'p2pkh' ? input.scriptSig.subarray(-33) : read.kind === 'witness' ? input.witness.at(-1) : undefined;
        const hash = read.kind === 'p2pkh' ? read.hash : read.kind === 'witness' && read.program.length === 20 ? read.program : null;
        if (key === undefined || hash === null) continue;
        const long = read.kind === 'p2pkh' && !isHash(key, hash) ? input.scriptSig.subarray(-65) : key;
        assert.ok(isHash(long, hash), formatId(tx.id));
        keys++;
      }
      for (const { value } of tx.outputs) fees -= value;
    }
    const minted = txs[0].outputs.reduce((sum, { value }) => sum + value, 0n);
    const subsidy = 5_000_000_000n >> BigInt(Math.floor(block.height / network.halvingBlocks));
    assert.ok(fees >= 0n && minted <= subsidy + fees, `${minted} minted, ${subsidy} and ${fees} allowed`);
    return { keys, fees };
  }

  const isHash = (key: Uint8Array, hash: Uint8Array): boolean => equalBytes(ripemd160(sha256(key)), hash);

  test('undo files: in-block spends are the same bytes, keys match, fees are not negative', needsFixtures, () => {
    assert.equal(withUndo.length, 7);
    for (const sample of withUndo) {
      const block = blockOf(sample);
      const spent = readUndo(undoOf(sample.file), sample.inputs);
      const created = createdBy(block);
      let inBlock = 0;
      for (const [i, key] of outpointsOf(block).entries()) {
        const output = created.get(key);
        if (output === undefined) continue;
        assert.ok(equalBytes(output, spent[i]), `${sample.file} ${key}`);
        inBlock++;
      }
      assert.equal(inBlock, sample.inBlock);
      const { keys } = match(block, spent, sample.network);
      assert.ok(keys > 50, `${sample.file}: ${keys} keys compared`);
    }
  });

  test('the transaction of 20,000 inputs', needsFixtures, () => {
    const sample = sampleAt(367891);
    const block = blockOf(sample);
    const rows = JSON.parse(readFixtureText('bitcoin', 'blocks', 'floresta-block367891-spent.json.gz')) as {
      txout: { value: number; script_pubkey: string };
    }[];
    assert.equal(rows.length, sample.inputs);
    const spent = rows.map(({ txout }) => {
      const script = fromHex(txout.script_pubkey);
      const value = new Uint8Array(8);
      new DataView(value.buffer).setBigUint64(0, BigInt(txout.value), true);
      return concatBytes(value, compactBytes(script.length), script);
    });
    assert.ok(Math.max(...block.txs.map((tx) => tx.spends.length)) >= 20_000);
    match(block, spent, bitcoin);
  });
});

describe('runs of blocks', () => {
  test('each follows the one before and is sound', needsFixtures, () => {
    const ledger = bitcoinLedger(bitcoin);
    const runs: readonly (readonly [file: string, first: number, last: string])[] = [
      ['btcd-blocks1-255.dat', 1, '6fe3c'],
      ['btcd-blk_0_to_4.dat', 0, 'b128e'],
      ['btcd-277647.dat', 277647, '052a8'],
    ];
    for (const [file, first, last] of runs) {
      let prev: Uint8Array | null = null;
      for (const [i, raw] of readRun(file).entries()) {
        const block = ledger.decode(raw, first + i);
        ledger.verify(block);
        if (prev !== null) assert.deepEqual(block.prevHash, prev, `${file} ${i}`);
        prev = block.hash;
      }
      assert.ok(prev !== null && formatId(prev).endsWith(last), file);
    }
  });

  test('the coins that block 277647 spends are those in its store', needsFixtures, () => {
    const [raw] = readRun('btcd-277647.dat');
    const block = decodeBlock(raw, 277647);
    const store = sampleBytes('btcd-277647-utxostore.bin');
    const view = new DataView(store.buffer, store.byteOffset, store.length);
    const stored = new Set<string>();
    for (let at = 0; at < store.length; ) {
      stored.add(`${toHex(store, at, at + 32)}#${view.getUint32(at + 32, true)}`);
      at += 40 + view.getUint32(at + 36, true);
    }
    const created = createdBy(block);
    const wanted = outpointsOf(block).filter((key) => !created.has(key));
    assert.ok(wanted.length > 400);
    for (const key of wanted) assert.ok(stored.has(key), key);
  });
});

/** A transaction as it is serialized. */
function written(tx: DescribedTx, withWitness: boolean): Uint8Array {
  const extended = withWitness && tx.inputs.some(({ witness }) => witness.length > 0);
  const u32 = (value: number): Uint8Array => Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24);
  const run = (bytes: Uint8Array): Uint8Array[] => [compactBytes(bytes.length), bytes];
  const value = (amount: bigint): Uint8Array => Uint8Array.from({ length: 8 }, (_, i) => Number((amount >> BigInt(8 * i)) & 0xffn));
  return concatBytes(
    u32(tx.version),
    extended ? Uint8Array.of(0, 1) : new Uint8Array(0),
    compactBytes(tx.inputs.length),
    ...tx.inputs.flatMap((input) => [input.txId, u32(input.index), ...run(input.scriptSig), u32(input.sequence)]),
    compactBytes(tx.outputs.length),
    ...tx.outputs.flatMap((output) => [value(output.value), ...run(output.script)]),
    ...(extended ? tx.inputs.flatMap(({ witness }) => [compactBytes(witness.length), ...witness.flatMap(run)]) : []),
    u32(tx.lockTime),
  );
}
