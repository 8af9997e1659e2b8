/**
 * Litecoin's extension blocks: transactions with its flag, the last one of a
 * block that moves what enters and leaves, and the data behind it. The rest of
 * a block is as Bitcoin's.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bitcoinLedger, bitcoinNetwork, decodeBlock, decodeTx, describeTx } from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, toHex } from '../../../src/util/bytes.ts';
import { type ForgedTx, forgeBlock, forgeCoinbase, forgeTx, OP_TRUE } from './forge.ts';

const litecoin = bitcoinLedger(bitcoinNetwork('litecoin-regtest'));
const PREV = new Uint8Array(32).fill(3);
const paid = [{ value: 50n, script: OP_TRUE }];
const hogAddress = { value: 7n, script: concatBytes(Uint8Array.of(0x58, 0x20), new Uint8Array(32).fill(0xaa)) };
const pegIn = { value: 5n, script: concatBytes(Uint8Array.of(0x59, 0x20), new Uint8Array(32).fill(0xbb)) };
const hogEx: ForgedTx = {
  inputs: [
    { txId: new Uint8Array(32).fill(1), index: 0 },
    { txId: new Uint8Array(32).fill(2), index: 1 },
  ],
  outputs: [hogAddress, ...paid],
  mweb: Uint8Array.of(0),
};
const tail = new Uint8Array(300).fill(0xee);
const plain = forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(4), index: 2, witness: [OP_TRUE] }], outputs: [pegIn] });
const others = [plain, forgeTx(hogEx)];
const raw = forgeBlock(PREV, [forgeCoinbase(600, paid, others), ...others], tail);

describe('a block with an extension block', () => {
  test('is decoded and sound, with or without what stands behind it', () => {
    const block = litecoin.decode(raw, 600);
    litecoin.verify(block);
    assert.deepEqual(
      block.txs.map(({ hasWitness, hasMweb }) => [hasWitness, hasMweb]),
      [
        [true, false],
        [true, false],
        [false, true],
      ],
    );
    assert.equal(block.bodyEnd, raw.length - tail.length);
    litecoin.verify(litecoin.decode(raw.subarray(0, block.bodyEnd), 600));
  });

  test('the last transaction has the id it would have without the flag', () => {
    const { mweb: _, ...without } = hogEx;
    const bare = decodeTx(forgeTx(without));
    const [, , last] = litecoin.decode(raw, 600).txs;
    assert.equal(toHex(last.id), toHex(bare.id));
    assert.equal(toHex(last.witnessId), toHex(bare.id));
    assert.deepEqual(
      describeTx(last).outputs.map(({ value }) => value),
      [7n, 50n],
    );
    assert.deepEqual([last.spends.length, last.creates.length], [2, 2]);
  });

  test('Bitcoin knows neither the flag nor the data behind', () => {
    assert.throws(() => decodeBlock(raw, 600), { code: 'BLOCK_INVALID', message: /unknown kind 8/ });
    const more = forgeBlock(PREV, [forgeCoinbase(600, paid)], tail);
    for (const mweb of [false, true]) assert.throws(() => decodeBlock(more, 600, mweb), { code: 'BLOCK_INVALID', message: /bytes after/ });
  });

  test('data of the extension inside a transaction is not for blocks', () => {
    const odd = forgeTx({ ...hogEx, mweb: Uint8Array.of(1, 2, 3) });
    assert.throws(() => litecoin.decode(forgeBlock(PREV, [forgeCoinbase(600, paid), odd]), 600), {
      code: 'BLOCK_INVALID',
      message: /data of the extension/,
    });
  });

  test('other flags are of no known kind', () => {
    for (const flags of [0, 2, 4, 16, 0x80, 3, 9 | 2]) {
      const tx = plain.slice();
      tx[5] = flags;
      assert.throws(() => decodeTx(tx, true), { code: 'BLOCK_INVALID', message: /unknown kind/ });
    }
  });
});

describe('a transaction on its way into the extension block', () => {
  test('alone it carries both parts; its ids are those of the part that will stand in the block', () => {
    const inputs = [{ txId: new Uint8Array(32).fill(4), index: 2, witness: [OP_TRUE] }];
    const relayed = decodeTx(forgeTx({ inputs, outputs: [pegIn], mweb: new Uint8Array(120).fill(0xcc) }), true);
    const inBlock = decodeTx(plain);
    assert.equal(toHex(relayed.id), toHex(inBlock.id));
    assert.equal(toHex(relayed.witnessId), toHex(inBlock.witnessId));
    assert.equal(describeTx(relayed).lockTime, 0);
  });
});
