/** What is written without a store: transactions of real blocks, as bitcoinjs-lib reads them; any bytes as scripts; proofs; difficulties. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, Block, networks, type Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { decodeBlock, decodeTx, describeTx, formatId } from '../../../../src/ledgers/bitcoin/index.ts';
import { MerkleTree } from '../../../../src/ledgers/bitcoin/merkle.ts';
import { difficultyOf } from '../../../../src/server/bitcoin/esplora/block-json.ts';
import { merkleBlock } from '../../../../src/server/bitcoin/esplora/merkle.ts';
import { txJson, UNCONFIRMED } from '../../../../src/server/bitcoin/esplora/tx-json.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { forgeBlock, forgeTx } from '../../../ledgers/bitcoin/forge.ts';
import { bitcoin, regtest, sampleBytes, samples } from '../../../ledgers/bitcoin/samples.ts';
import { needsFixtures } from '../../../support/fixtures.ts';
import { checkMerkleBlock, rootFromBranch } from './merkle-check.ts';

interface OutputJson {
  readonly scriptpubkey: string;
  readonly scriptpubkey_type: string;
  readonly scriptpubkey_address?: string;
  readonly value: number;
}

interface InputJson {
  readonly txid: string;
  readonly vout: number;
  readonly prevout: OutputJson | null;
  readonly scriptsig: string;
  readonly witness?: readonly string[];
  readonly is_coinbase: boolean;
  readonly sequence: number;
}

interface TxJson {
  readonly vin: readonly InputJson[];
  readonly vout: readonly OutputJson[];
  readonly fee: number | null;
}

/** Kinds whose address bitcoinjs-lib writes without another library. */
const PLAIN_KINDS = new Set(['p2pkh', 'p2sh', 'v0_p2wpkh', 'v0_p2wsh']);
const NO_ADDRESS = new Set(['p2pk', 'op_return', 'empty']);

function checkOutput(given: OutputJson, { script, value }: Transaction['outs'][number], mainnet: boolean): void {
  assert.deepEqual([given.scriptpubkey, given.value], [toHex(script), Number(value)]);
  const { scriptpubkey_type: kind, scriptpubkey_address: written } = given;
  if (PLAIN_KINDS.has(kind)) assert.equal(written, address.fromOutputScript(script, mainnet ? networks.bitcoin : networks.testnet));
  else if (kind === 'v1_p2tr') assert.equal(written, address.toBech32(script.subarray(2), 1, mainnet ? 'bc' : 'tb'));
  else if (NO_ADDRESS.has(kind)) assert.equal(written, undefined);
}

function checkInput(given: InputJson, { hash, index, script, sequence, witness }: Transaction['ins'][number]): void {
  const { txid, vout, scriptsig, witness: shown } = given;
  assert.deepEqual([txid, vout, scriptsig, given.sequence], [toHex(Uint8Array.from(hash).reverse()), index, toHex(script), sequence]);
  assert.deepEqual(shown, witness.length === 0 ? undefined : witness.map((item) => toHex(item)));
}

test('transactions of the sample blocks', needsFixtures, () => {
  assert.ok(samples.length > 5);
  for (const { file, network, height } of samples) {
    const raw = sampleBytes(file);
    const theirs = Block.fromBuffer(Buffer.from(raw)).transactions!;
    const ours = decodeBlock(raw, height).txs;
    assert.equal(ours.length, theirs.length);
    const known = new Map(ours.map((tx) => [toHex(tx.id), describeTx(tx)]));
    for (const [i, tx] of ours.entries()) {
      const described = describeTx(tx);
      const prevouts = described.inputs.map(({ txId, index }) => known.get(toHex(txId))?.outputs[index] ?? null);
      const json = txJson(network, described, prevouts, UNCONFIRMED) as unknown as TxJson & Record<string, unknown>;
      const their = theirs[i];
      const facts = [json['txid'], json['version'], json['locktime'], json['size'], json['weight']];
      assert.deepEqual(facts, [their.getId(), their.version >>> 0, their.locktime, their.byteLength(), their.weight()]);
      assert.deepEqual([json.vin.length, json.vout.length], [their.ins.length, their.outs.length]);
      for (const [n, input] of json.vin.entries()) checkInput(input, their.ins[n]);
      for (const [n, output] of json.vout.entries()) checkOutput(output, their.outs[n], network === bitcoin);
      assert.ok(json.vin.every(({ is_coinbase: coinbase }) => coinbase === (i === 0)));
      const isKnown = i === 0 || prevouts.every((prevout) => prevout !== null);
      assert.equal(json.fee !== null, isKnown, 'a fee is told when everything that is spent is known');
      if (json.fee !== null) assert.ok(json.fee >= 0, file);
    }
  }
});

test('any bytes are a script that can be shown', () => {
  const bytes = (length: number) => fc.uint8Array({ maxLength: length });
  const shape = fc.record({
    scriptSig: bytes(80),
    script: bytes(50),
    spent: bytes(50),
    witness: fc.array(bytes(40), { minLength: 1, maxLength: 4 }),
  });
  const p2sh = Uint8Array.of(0xa9, 20, ...new Uint8Array(20), 0x87);
  fc.assert(
    fc.property(shape, fc.boolean(), ({ scriptSig, script, spent, witness }, hashed) => {
      const raw = forgeTx({
        inputs: [{ txId: new Uint8Array(32).fill(9), index: 0, scriptSig, witness }],
        outputs: [{ value: 5n, script }],
      });
      const prevout = { value: 12n, script: hashed ? p2sh : spent };
      const json = txJson(regtest, describeTx(decodeTx(raw)), [prevout], UNCONFIRMED);
      const { vin, vout, fee } = JSON.parse(JSON.stringify(json)) as TxJson;
      assert.deepEqual([vin[0].scriptsig, vout[0].scriptpubkey, fee], [toHex(scriptSig), toHex(script), 7]);
    }),
  );
});

test('an amount that a JSON number does not hold is not written', () => {
  const raw = forgeTx({
    inputs: [{ txId: new Uint8Array(32).fill(9), index: 0 }],
    outputs: [{ value: 2n ** 53n, script: Uint8Array.of(0x51) }],
  });
  assert.throws(() => txJson(regtest, describeTx(decodeTx(raw)), [null], UNCONFIRMED), /JSON number/);
});

test('proofs of every transaction in blocks of every size', () => {
  for (let count = 1; count <= 37; count++) {
    const txs = Array.from({ length: count }, (_, i) =>
      forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(1), index: i }], outputs: [{ value: 1n, script: Uint8Array.of(0x51) }] }),
    );
    const header = forgeBlock(new Uint8Array(32), txs).subarray(0, 80);
    const hash = Block.fromBuffer(Buffer.from(header)).getId();
    const ids = txs.map((raw) => decodeTx(raw).id);
    for (let position = 0; position < count; position++) {
      const branch = new MerkleTree(ids).branch(position).map(formatId);
      assert.equal(rootFromBranch(formatId(ids[position]), branch, position), toHex(header.subarray(36, 68)));
      checkMerkleBlock(toHex(merkleBlock(header, ids, position)), hash, formatId(ids[position]), position, count);
    }
    assert.throws(() => new MerkleTree(ids).branch(count));
  }
});

test('difficulties that nodes print', () => {
  assert.equal(difficultyOf(0x1d00ffff), 1);
  assert.equal(difficultyOf(0x1b0404cb), 16307.420938523983);
  assert.equal(difficultyOf(0x207fffff), 4.6565423739069247e-10);
  assert.equal(difficultyOf(0x1b04864c), 14484.162361225399);
});
