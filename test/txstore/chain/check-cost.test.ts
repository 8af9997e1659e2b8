/** What checking the records of a transaction with many outputs reads: as many times more as it has more outputs, not the square of that. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reader } from '../../../src/engine/engine.ts';
import { decodeTx } from '../../../src/ledgers/bitcoin/index.ts';
import { openStore } from '../../../src/store/store.ts';
import { temporary } from '../../cli/run.ts';
import { atTime, forgeBlock, forgeCoinbase, forgeTx, OP_TRUE, withWork } from '../../ledgers/bitcoin/forge.ts';
import { TestChain } from '../../sources/bitcoin/p2p-chain.ts';

const FEW = 800;
const TIMES = 4;

/** Rows of records that `verify` reads of a store with such a transaction, whose first half is spent by one that has as many outputs. */
async function rowsRead(outputs: number): Promise<number> {
  const chain = new TestChain(2);
  const mine = (tx: Uint8Array): void => {
    const height = chain.height + 1;
    const coinbase = forgeCoinbase(height, [{ value: 1n, script: OP_TRUE }], [tx]);
    chain.adopt(withWork(atTime(forgeBlock(chain.tip.hash, [coinbase, tx]), 1_700_000_000 + height)));
  };
  const paid = Array.from({ length: outputs }, () => ({ value: 1n, script: OP_TRUE }));
  const wide = forgeTx({ inputs: [{ txId: chain.tip.coinbase, index: 0, witness: [OP_TRUE] }], outputs: paid });
  const { id: txId } = decodeTx(wide);
  mine(wide);
  const inputs = Array.from({ length: outputs / 2 }, (_, index) => ({ txId, index, witness: [OP_TRUE] }));
  mine(forgeTx({ inputs, outputs: paid.slice(0, outputs / 2) }));

  const settings = { 'txs.store': 'embedded', 'utxo.balances': false };
  const store = await openStore({ data: join(temporary(), 'data'), network: 'bitcoin-regtest', settings });
  try {
    store.fold.apply(chain.best.map(({ raw, height }) => store.network.ledger.decode(raw, height)));
    const { engine } = store;
    const rows = { read: 0 };
    const [get, getMany] = [engine.get.bind(engine), engine.getMany.bind(engine)];
    const count = (column: string, keys: number): void => {
      if (column.startsWith('txs_')) rows.read += keys;
    };
    const counting: Pick<Reader, 'get' | 'getMany'> = {
      get: (column, key) => {
        count(column, 1);
        return get(column, key);
      },
      getMany: (column, keys) => {
        count(column, keys.length);
        return getMany(column, keys);
      },
    };
    Object.assign(engine, counting);
    const { faults, utxos } = store.verify(undefined, ['utxo', 'txs']);
    assert.deepEqual(faults, []);
    assert.ok(utxos > outputs);
    return rows.read;
  } finally {
    await store.close();
  }
}

test('verify reads the records of a transaction in proportion to its outputs', async (t) => {
  const [few, many] = [await rowsRead(FEW), await rowsRead(TIMES * FEW)];
  t.diagnostic(`${few} rows for ${FEW} outputs, ${many} for ${TIMES * FEW}`);
  assert.ok(many < 1.5 * TIMES * few, `${few}, ${many}`);
});
