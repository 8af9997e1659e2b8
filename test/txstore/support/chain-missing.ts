/** F12 where blocks come and go: a record that one of them needs and that is missing is told with both ids, and nothing is changed. */
import assert from 'node:assert/strict';
import type { Engine } from '../../../src/engine/engine.ts';
import { SqlDatabase } from '../../../src/sql/database.ts';
import type { ChainBlock } from '../../../src/txstore/chain/chain-txs.ts';
import { connectBlock, disconnectBlock, loadBlocks } from '../../../src/txstore/chain/connect.ts';
import { EmbeddedTxStore } from '../../../src/txstore/embedded/index.ts';
import { SqlChainTxStore } from '../../../src/txstore/sql/chain-store.ts';
import type { TxStoreTables } from '../../../src/txstore/sql/tables.ts';
import type { TxStore } from '../../../src/txstore/store.ts';
import { toHex } from '../../../src/util/bytes.ts';
import type { UnspentError } from '../../../src/util/errors.ts';
import { ANYBODY, blockAt, idOf, outpointOf, SETTINGS } from './world.ts';

interface FedStore extends TxStore {
  take(block: ChainBlock): Promise<void>;
  /** Absent: it knows by its records which transactions a block has. */
  undo?(height: number, names: readonly string[]): Promise<void>;
}

class FedEmbedded extends EmbeddedTxStore implements FedStore {
  async take(block: ChainBlock): Promise<void> {
    this.write(block.height, (unit) => {
      loadBlocks(unit, [block]);
      connectBlock(unit, block);
    });
  }

  async undo(height: number, names: readonly string[]): Promise<void> {
    const block = { hash: blockAt(height).hash, height, txIds: names.map(idOf) };
    this.write(height, (unit) => disconnectBlock(unit, block, 0, this.settings.window));
  }
}

class FedSql extends SqlChainTxStore implements FedStore {
  #position: string | null = null;

  async take(block: ChainBlock): Promise<void> {
    const position = `block ${block.height}`;
    await this.connect([block], { after: this.#position, position });
    this.#position = position;
  }
}

/** On an engine that is empty. */
export function missingOnEngine(engine: Engine): Promise<void> {
  return missingIsTold(new FedEmbedded(engine, SETTINGS, { depthMax: SETTINGS.window }));
}

/** In an empty database with the schema. */
export async function missingInDatabase(url: string): Promise<void> {
  const database = await SqlDatabase.open<TxStoreTables>(url, 'transaction database', { isDurable: false });
  const guard = { mayRemove: () => true, hasBlobs: false };
  const store = new FedSql(database, SETTINGS, { feed: 'story', guard });
  try {
    await missingIsTold(store);
  } finally {
    await store.close();
  }
}

/** Of one transaction, which spends these. */
function blockOf(height: number, name: string, spends: readonly string[]): ChainBlock {
  const inputs = spends.map(outpointOf);
  const tx = { txId: idOf(name), inputs, outputs: [{ amount: 1n, script: ANYBODY }] };
  return { hash: blockAt(height).hash, height, txs: [{ tx, spends: inputs.map((input, vin) => ({ ...input, vin })) }] };
}

async function missingIsTold(store: FedStore): Promise<void> {
  const names = ['P', 'L', 'W', 'X', 'Y'];
  const told = async (call: () => Promise<void>, missing: string, neededBy: string | null): Promise<void> => {
    const before = await store.batchGet(names.map(idOf));
    await assert.rejects(call, ({ code, meta }: UnspentError) => {
      const needs = neededBy === null ? null : toHex(idOf(neededBy));
      assert.deepEqual([code, meta], ['STORE_DAMAGED', { missing: [toHex(idOf(missing))], neededBy: [needs] }]);
      return true;
    });
    assert.deepEqual(await store.batchGet(names.map(idOf)), before);
  };
  await store.take(blockOf(90, 'P', []));
  const [{ tx, spends }] = blockOf(0, 'L', ['P:0']).txs;
  await store.spend([{ txId: tx.txId, inputs: spends }], 91);
  await store.create([tx], 91);
  await told(() => store.take(blockOf(91, 'Y', ['X:0'])), 'X', 'Y');
  await store.delete([idOf('L')]);
  await told(() => store.take(blockOf(91, 'W', ['P:0'])), 'L', 'P');
  if (store.undo !== undefined) await told(() => store.undo!(90, ['X']), 'X', null);
}
