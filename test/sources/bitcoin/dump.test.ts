/**
 * A node's dump, in each form there was: what was written comes out again, to
 * the bit, and nothing that was cut, lengthened or changed passes. The writer is
 * the tests' own (`support/utxo-dump.ts`).
 */
import assert from 'node:assert/strict';
import { createECDH, createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import { compactBytes } from '../../../src/ledgers/bitcoin/cursor.ts';
import { OUTPUT_FLAG, SerializedHash3 } from '../../../src/ledgers/bitcoin/index.ts';
import { outpointIndex, outpointTxId } from '../../../src/ledgers/outpoint.ts';
import { DumpFile } from '../../../src/sources/bitcoin/dump/file.ts';
import type { NodeOutput } from '../../../src/sources/node-set.ts';
import { compareBytes, concatBytes, toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { type DumpedCoin, type DumpForm, type UtxoDump, writeUtxoDump } from '../../support/utxo-dump.ts';

const FORMS: readonly DumpForm[] = ['grouped', 'counted', 'plain'];
const folder = mkdtempSync(join(tmpdir(), 'unspent-dump-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'utxo.dump');

const random = new Random(20_261_118);
const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.int(256));
const wrap = (before: string, inner: Uint8Array, behind: string): Uint8Array =>
  concatBytes(Buffer.from(before, 'hex'), inner, Buffer.from(behind, 'hex'));

function publicKey(form: 'compressed' | 'uncompressed'): Uint8Array {
  const key = createECDH('secp256k1');
  key.setPrivateKey(createHash('sha256').update(bytes(8)).digest());
  return new Uint8Array(key.getPublicKey(null, form));
}

const SCRIPTS: readonly (() => Uint8Array)[] = [
  () => wrap('76a914', bytes(20), '88ac'),
  () => wrap('a914', bytes(20), '87'),
  () => wrap('21', publicKey('compressed'), 'ac'),
  () => wrap('41', publicKey('uncompressed'), 'ac'),
  () => wrap('0014', bytes(20), ''),
  () => wrap('5120', bytes(32), ''),
  () => new Uint8Array(0),
  () => wrap('51', bytes(random.int(300)), ''),
  () => wrap('51', bytes(9_999), ''),
];
const AMOUNTS: readonly bigint[] = [
  0n,
  1n,
  9n,
  10n,
  546n,
  5_000_000_000n,
  2_099_999_999_999_999n,
  8_400_000_000_000_000n,
  123_456_789_012_345n,
];

function coinsOf(transactions: number, scripts = SCRIPTS): DumpedCoin[] {
  return Array.from({ length: transactions }, () => {
    const txId = bytes(32);
    const [height, coinbase] = [random.int(2 ** 30), random.chance(0.2)];
    return [0, 1, 5, 300].slice(0, 1 + random.int(4)).map((index, i) => {
      const value = AMOUNTS[random.int(AMOUNTS.length)] + BigInt(i);
      return { txId, index, height, coinbase, value, script: scripts[random.int(scripts.length)]() };
    });
  }).flat();
}

const dumpOf = (coins: readonly DumpedCoin[]): UtxoDump => ({ baseHash: bytes(32), magic: regtest.magic, coins });

function read(file: Uint8Array): { head: DumpFile['head']; outputs: NodeOutput[] } {
  writeFileSync(path, file);
  const dump = new DumpFile(path, regtest);
  try {
    return { head: dump.head, outputs: [...dump.batches()].flat() };
  } finally {
    dump.close();
  }
}

const lineOf = (txId: Uint8Array, index: number, height: number, coinbase: boolean, output: Uint8Array): string =>
  `${toHex(txId)}:${index} ${height} ${coinbase} ${toHex(output)}`;

function given(coins: readonly DumpedCoin[]): string[] {
  const ordered = coins.toSorted((a, b) => compareBytes(a.txId, b.txId) || a.index - b.index);
  return ordered.map(({ txId, index, height, coinbase, value, script }) => {
    const amount = new Uint8Array(8);
    new DataView(amount.buffer).setBigUint64(0, value, true);
    return lineOf(txId, index, height, coinbase, concatBytes(amount, compactBytes(script.length), script));
  });
}

function found(outputs: readonly NodeOutput[]): string[] {
  return outputs.map(({ bytes: raw, keyAt, start, end, height, flags }) =>
    lineOf(outpointTxId(raw, keyAt), outpointIndex(raw, keyAt), height!, (flags & OUTPUT_FLAG.coinbase) !== 0, raw.subarray(start, end)),
  );
}

/** The error, which must be ours and say the path. */
function refused(file: Uint8Array, what: string): string {
  try {
    read(file);
  } catch (error) {
    assert.ok(isUnspentError(error, 'SNAPSHOT_INVALID'), `${what}: ${error}`);
    assert.ok(error.message.startsWith(path), error.message);
    return error.message;
  }
  assert.fail(`${what}: it was read`);
}

describe('a dump of an unspent set', () => {
  for (const form of FORMS) {
    it(`${form}: every kind of script and amount comes out as it went in`, () => {
      const dump = dumpOf(coinsOf(200));
      const { head, outputs } = read(writeUtxoDump(form, dump));
      assert.deepEqual([head.form, head.count, toHex(head.blockHash)], [form, dump.coins.length, toHex(dump.baseHash)]);
      assert.equal(head.magic, form === 'grouped' ? regtest.magic : null);
      assert.deepEqual(found(outputs), given(dump.coins));
    });

    it(`${form}: a single coin, and none`, () => {
      const one = dumpOf(coinsOf(1).slice(0, 1));
      assert.deepEqual(found(read(writeUtxoDump(form, one)).outputs), given(one.coins));
      assert.deepEqual(read(writeUtxoDump(form, dumpOf([]))).outputs, []);
    });

    it(`${form}: outputs of a wide transaction are put in order`, () => {
      const [coin] = coinsOf(1);
      const wide = Array.from({ length: 17_000 }, (_, index) => ({ ...coin, index, script: Uint8Array.of(0x51) }));
      const { outputs } = read(writeUtxoDump(form, dumpOf(wide)));
      assert.deepEqual(
        outputs.map(({ bytes: raw, keyAt }) => outpointIndex(raw, keyAt)),
        wide.map(({ index }) => index),
      );
    });

    it(`${form}: cut anywhere, or with anything behind it, it is refused`, () => {
      const file = writeUtxoDump(form, dumpOf(coinsOf(3, SCRIPTS.slice(0, 7))));
      for (let length = 0; length < file.length; length++) refused(file.subarray(0, length), `cut at ${length} of ${file.length}`);
      assert.match(refused(Buffer.concat([file, Buffer.of(0)]), 'a byte behind it'), /behind its last output|not what a node writes/);
    });

    it(`${form}: with any bit turned it is refused, or hashes to something else`, () => {
      const dump = dumpOf(coinsOf(2, SCRIPTS.slice(0, 7)));
      const file = writeUtxoDump(form, dump);
      const hashOf = (outputs: readonly NodeOutput[]): string => {
        const hash = new SerializedHash3();
        for (const { bytes: raw, keyAt, start, end, height, flags } of outputs)
          hash.add({
            txId: outpointTxId(raw, keyAt),
            index: outpointIndex(raw, keyAt),
            height: height!,
            coinbase: flags !== 0,
            output: raw.subarray(start, end),
          });
        return toHex(hash.digest());
      };
      const right = { ...read(file) };
      const said = (head: DumpFile['head']): string => `${toHex(head.blockHash)} ${head.magic}`;
      let [passed, stopped] = [0, 0];
      for (let bit = 0; bit < 8 * file.length; bit++) {
        const changed = Buffer.from(file);
        changed[bit >> 3] ^= 1 << (bit & 7);
        try {
          const { head, outputs } = read(changed);
          const isSame = hashOf(outputs) === hashOf(right.outputs) && said(head) === said(right.head);
          // How many transactions the chain has says nothing of the set.
          const isElsewhere = form === 'counted' && bit >> 3 >= 40 && bit >> 3 < 44;
          assert.ok(!isSame || isElsewhere, `bit ${bit} of ${form} changes nothing`);
          passed++;
        } catch (error) {
          if (!isUnspentError(error, 'SNAPSHOT_INVALID')) throw error;
          stopped++;
        }
      }
      assert.ok(passed > 50 && stopped > 50, `${passed} read, ${stopped} refused`);
    });
  }

  it('refuses versions it does not know, and what is no dump at all', () => {
    const file = writeUtxoDump('grouped', dumpOf(coinsOf(3)));
    file.writeUInt16LE(3, 5);
    assert.match(refused(file, 'version 3'), /version 3; this program reads version 2/);
    refused(Buffer.from('a letter, and a long one, that has nothing to do with any of this'), 'text');
    refused(Buffer.alloc(100_000), 'zeros');
    refused(new Uint8Array(0), 'nothing');
  });

  it('refuses an output that is there twice, and transactions out of order', () => {
    const [first, ...rest] = coinsOf(4);
    for (const form of FORMS) assert.match(refused(writeUtxoDump(form, dumpOf([first, first, ...rest])), 'twice'), /twice/);
    const file = writeUtxoDump('plain', dumpOf(coinsOf(40).filter(({ index }) => index === 0)));
    const later = writeUtxoDump('plain', dumpOf(coinsOf(1).slice(0, 1))).subarray(40);
    later.fill(0, 0, 32);
    const both = Buffer.concat([file, later]);
    both.writeBigUInt64LE(41n, 32);
    assert.match(refused(both, 'order'), /does not come behind/);
  });
});
