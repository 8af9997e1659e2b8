/**
 * An id that comes twice (BIP30): the later place is the one it leads to, the
 * earlier one is back when the later block is undone, and whoever checks the
 * store knows that there is one row fewer than there are transactions.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BitcoinBlock,
  type BitcoinLedger,
  bitcoinLedger,
  bitcoinNetwork,
  formatId,
  genesisBlock,
} from '../../../src/ledgers/bitcoin/index.ts';
import { readTxRow, TX } from '../../../src/projections/transactions.ts';
import { rawBlock } from '../../../src/query/bitcoin/raw-block.ts';
import { verifyStore } from '../../../src/store/verify/verify.ts';
import { forgeBlock, forgeCoinbase, forgeTx, OP_TRUE } from '../../ledgers/bitcoin/forge.ts';
import { bitcoin } from '../../ledgers/bitcoin/samples.ts';
import { type ForgedRig, forgedRig, KEEP_ALL_BITCOIN } from '../../support/forged-chain.ts';
import { assertSameDump, dump } from '../../support/harness.ts';
import { leaveOut } from '../../support/keep.ts';

const EARLIER = 3;
const LATER = 6;
const TIP = 8;
const VERIFY = { projections: KEEP_ALL_BITCOIN } as const;

/** A chain whose coinbases at two heights are the same; both are blocks of the network's table. */
function repeating(): { ledger: BitcoinLedger; blocks: BitcoinBlock[] } {
  // Blocks need not say their height there, and may be the same twice.
  const network = { ...bitcoinNetwork('bitcoin-regtest'), bip34Height: 1000 };
  const plain = bitcoinLedger(network);
  const input = { txId: new Uint8Array(32), index: 0xffff_ffff, scriptSig: Uint8Array.of(1, 2) };
  const same = forgeTx({ inputs: [input], outputs: [{ value: 50n, script: OP_TRUE }] });
  const raws = [genesisBlock(network)];
  for (let height = 1; height <= TIP; height++) {
    const coinbase = height === EARLIER || height === LATER ? same : forgeCoinbase(height, [{ value: BigInt(height), script: OP_TRUE }]);
    raws.push(forgeBlock(plain.decode(raws[height - 1], height - 1).hash, [coinbase]));
  }
  const hashes = raws.map((raw, height) => formatId(plain.decode(raw, height).hash));
  const ledger = bitcoinLedger({
    ...network,
    overwritten: [{ height: EARLIER, hash: hashes[EARLIER], by: { height: LATER, hash: hashes[LATER] } }],
  });
  return { ledger, blocks: raws.map((raw, height) => ledger.decode(raw, height)) };
}

const placeOf = (rig: ForgedRig, id: Uint8Array): number | undefined => {
  const row = rig.engine.get(TX, id);
  return row === undefined ? undefined : readTxRow(row).height;
};

describe('an id that comes twice', () => {
  const { ledger, blocks } = repeating();
  const { id } = blocks[EARLIER].txs[0];

  it('leads to the later place, and to the earlier one again when that is undone', () => {
    assert.deepEqual(blocks[LATER].txs[0].id, id);
    for (const sizes of [[1], [2, 3], [4], [TIP + 1]]) {
      const rig = forgedRig(ledger);
      rig.apply(blocks, sizes);
      for (const [height, place] of [
        [TIP, LATER],
        [LATER, LATER],
        [LATER - 1, EARLIER],
        [EARLIER, EARLIER],
        [EARLIER - 1, undefined],
      ] as const) {
        rig.fold.rollback(blocks[height]);
        assert.equal(placeOf(rig, id), place, `at ${height}, in groups of ${sizes}`);
        const straight = forgedRig(ledger);
        straight.apply(blocks.slice(0, height + 1));
        assertSameDump(dump(rig.engine), dump(straight.engine), `at ${height}, in groups of ${sizes}`);
        assert.deepEqual(verifyStore(rig.engine, ledger, VERIFY).faults, [], `at ${height}`);
      }
    }
  });

  it('goes back over both at once', () => {
    const rig = forgedRig(ledger);
    rig.apply(blocks);
    rig.fold.rollback(blocks[1]);
    assert.equal(placeOf(rig, id), undefined);
    rig.apply(blocks.slice(2), [3]);
    assert.equal(placeOf(rig, id), LATER);
  });

  it('is found in its later block, and both blocks are whole', () => {
    const rig = forgedRig(ledger);
    rig.apply(blocks, [5]);
    rig.read((query) => {
      const history = query.history();
      assert.equal(history.tx(id)?.height, LATER);
      for (const height of [EARLIER, LATER]) {
        assert.deepEqual(history.ids(height), [id]);
        assert.deepEqual(rawBlock(query, query.blockAtHeight(height)!), blocks[height].raw);
      }
    });
  });

  it('is no repetition for a store that began in between', () => {
    const rig = forgedRig(ledger, { partial: true });
    rig.apply(blocks.slice(EARLIER + 1), [2]);
    assert.deepEqual(verifyStore(rig.engine, ledger, VERIFY).faults, []);
    rig.fold.rollback(blocks[LATER - 1]);
    assert.equal(placeOf(rig, id), undefined);
  });

  it('excuses no other row that is gone', () => {
    const rig = forgedRig(ledger);
    rig.apply(blocks);
    const batch = rig.engine.batch();
    batch.del(TX, blocks[5].txs[0].id);
    batch.commit();
    const { faults } = verifyStore(rig.engine, ledger, { projections: leaveOut(KEEP_ALL_BITCOIN, 'history') });
    assert.match(faults.map(({ what }) => what).join(), /has 7 rows; the chain has 8/);
  });

  it('is known of the two pairs of mainnet, by height and hash', () => {
    const mainnet = bitcoinLedger(bitcoin);
    assert.equal(bitcoin.overwritten.length, 2);
    for (const { height, by } of bitcoin.overwritten) {
      const hash = Uint8Array.from(Buffer.from(by.hash, 'hex')).reverse();
      assert.equal(mainnet.repeats?.({ height: by.height, slot: by.height, hash }), height);
      assert.equal(mainnet.repeats?.({ height: by.height, slot: by.height, hash: new Uint8Array(32) }), null);
      assert.equal(mainnet.repeats?.({ height, slot: height, hash }), null);
    }
  });
});
