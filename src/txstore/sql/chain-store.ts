/**
 * The transaction store in a database of its own, fed by our chain. What a block
 * does to records, and how far the database is in the events of the chain, are
 * one transaction: a crash on either side loses nothing and repeats nothing.
 *
 * The rules are those of the embedded store (chain/connect.ts). They ask for
 * records as they go; here all that they can ask for is read before.
 */
import { sql } from 'kysely';
import { FeedPositions } from '../../sql/feed-position.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { BlockName, FedRecords, RecordsAt, RemovalGuard, SyncMove } from '../chain/chain-records.ts';
import type { ChainBlock, ChainTx } from '../chain/chain-txs.ts';
import { connectBlock, disconnectBlock, forgetOld, receiveTxs, type UndoneTxs } from '../chain/connect.ts';
import { OldUnmined } from '../chain/old-unmined.ts';
import type { Removal, RemovalResult } from '../prune-store.ts';
import type { TxStoreSettings } from '../store.ts';
import { notedBlobs, strikeBlobs } from './blob-notes.ts';
import { readDescendants } from './families.ts';
import { loadProgress } from './progress.ts';
import { wholeRecords } from './reads.ts';
import { TXS_FEED } from './schema.ts';
import { SqlTxStore } from './store.ts';
import type { TxStoreDatabase, TxStoreTables, TxStoreTransaction } from './tables.ts';
import type { SqlUnit } from './unit.ts';

export interface FedRecordsOptions {
  /** One name for one chain. */
  readonly feed: string;
  readonly guard: RemovalGuard;
}

const feeds = new FeedPositions<TxStoreTables>(TXS_FEED);

export class SqlChainTxStore extends SqlTxStore implements FedRecords {
  readonly #feed: string;
  readonly #guard: RemovalGuard;
  readonly #oldUnmined = new OldUnmined(this);

  /** The database has the schema (open.ts). Throws CONFIG. */
  constructor(database: TxStoreDatabase, settings: TxStoreSettings, { feed, guard }: FedRecordsOptions) {
    // The guard keeps the chain from going back further than the window, so that no deeper reorganisation is accepted.
    super(database, settings, { depthMax: settings.window });
    this.#feed = feed;
    this.#guard = guard;
  }

  syncPosition(): Promise<string | null> {
    return this.database.readOne((tx) => feeds.read(tx, this.#feed));
  }

  async connect(blocks: readonly ChainBlock[], move: SyncMove): Promise<void> {
    await this.write(0, async (unit, tx) => {
      await this.#move(tx, move);
      await readForChain(
        unit,
        blocks.flatMap(({ txs }) => txs),
      );
      for (const block of blocks) connectBlock(unit, block);
    });
  }

  async disconnect(height: number, move: SyncMove): Promise<void> {
    await this.write(0, async (unit, tx) => {
      await this.#move(tx, move);
      const { prunedHeight } = await loadProgress(tx, 'shared');
      const blocks = await blocksWithTxs(tx, height);
      const txIds = blocks.flatMap((block) => block.txIds);
      await unit.read(txIds);
      // What spends of a coinbase goes with it.
      const coinbases = unit.present(txIds).filter(({ state }) => state.isCoinbase);
      await readDescendants(
        unit,
        coinbases.map(({ txId }) => txId),
      );
      for (const block of blocks) disconnectBlock(unit, block, prunedHeight, this.settings.window);
    });
  }

  async #move(tx: TxStoreTransaction, move: SyncMove): Promise<void> {
    if (move.after === null) await this.#checkEmpty(tx);
    if (await feeds.move(tx, { ...move, feed: this.#feed })) return;
    throw new UnspentError('FEED_MOVED', `another process has fed the records from '${this.#feed}' meanwhile`, { feed: this.#feed });
  }

  /** Records of another chain, or from another way of feeding, would be taken for ours. */
  async #checkEmpty({ db }: TxStoreTransaction): Promise<void> {
    const { rows } = await sql`SELECT 1 AS found FROM tx LIMIT 1`.execute(db);
    if (rows.length > 0)
      throw new UnspentError(
        'CONFIG',
        `the transaction database has records that are not of '${this.#feed}': one database is for one store`,
      );
  }

  async blocksAbove(height: number): Promise<readonly BlockName[]> {
    const { rows } = await this.database.readOne(({ db }) =>
      sql<{ hash: Uint8Array; height: number }>`SELECT DISTINCT block_hash AS hash, block_height AS height FROM tx_block
        WHERE block_height > ${height} AND is_on_best_chain = 1 ORDER BY block_height DESC`.execute(db),
    );
    return rows;
  }

  async receive(txs: readonly ChainTx[], height: number): Promise<number> {
    return this.write(height, async (unit) => {
      await readForChain(unit, txs);
      return receiveTxs(unit, txs);
    });
  }

  async giveUp(cutoff: number, isWaited: (txId: Uint8Array) => boolean, height: number): Promise<number> {
    const txIds = await this.#oldUnmined.next(cutoff, isWaited);
    if (txIds.length === 0) return 0;
    return this.write(height, async (unit) => {
      await readDescendants(unit, txIds);
      return forgetOld(unit, txIds);
    });
  }

  override async removeParents(removal: Removal): Promise<RemovalResult> {
    const txIds = removal.parents.map(({ parent }) => parent.txId);
    if (txIds.length > 0 && !this.#guard.mayRemove(removal.height))
      return { deleted: [], changed: txIds, tombstonesWritten: 0, parentsMissing: 0 };
    return super.removeParents(removal);
  }

  protected override get notesBlobs(): boolean {
    return this.#guard.hasBlobs;
  }

  blobsLeft(limit: number): Promise<readonly Uint8Array[]> {
    return this.database.readOne((tx) => notedBlobs(tx, limit));
  }

  async blobsDeleted(txIds: readonly Uint8Array[]): Promise<void> {
    await this.database.writeOne((tx) => strikeBlobs(tx, txIds));
  }

  async readAt(txIds: readonly Uint8Array[]): Promise<RecordsAt> {
    return this.database.read(async (tx) => ({
      records: await wholeRecords(tx, txIds),
      position: await feeds.read(tx, this.#feed),
    }));
  }
}

/** The transactions, what they spend, and whoever holds that, with all that would fall with it. */
async function readForChain(unit: SqlUnit, txs: readonly ChainTx[]): Promise<void> {
  const inputs = txs.flatMap(({ tx }) => tx.inputs);
  const txIds = txs.map(({ tx }) => tx.txId);
  await unit.read([...txIds, ...inputs.map(({ txId }) => txId)]);
  await unit.readInputs(unit.present(txIds));
  await unit.readSlots(inputs);
  await unit.readTombstones(txs.flatMap(({ tx, spends }) => spends.map(({ txId }) => ({ parent: txId, child: tx.txId }))));
  const holders = txs.flatMap(({ tx, spends }) =>
    spends.flatMap(({ txId, index }) => {
      const parent = unit.find(txId);
      const holder = parent === undefined ? undefined : unit.slot(parent, index)?.spender?.txId;
      return holder === undefined || equalBytes(holder, tx.txId) ? [] : [holder];
    }),
  );
  await readDescendants(unit, holders);
}

/** Of the best chain above the height, newest first, each with its transactions in its order. */
async function blocksWithTxs({ db }: TxStoreTransaction, height: number): Promise<UndoneTxs[]> {
  const { rows } = await sql<{ tx_hash: Uint8Array; block_hash: Uint8Array; block_height: number }>`
    SELECT tx_hash, block_hash, block_height FROM tx_block
    WHERE block_height > ${height} AND is_on_best_chain = 1 ORDER BY block_height DESC, block_index`.execute(db);
  return [...Map.groupBy(rows, ({ block_hash }) => toHex(block_hash)).values()].map((block) => ({
    hash: block[0].block_hash,
    height: block[0].block_height,
    txIds: block.map(({ tx_hash }) => tx_hash),
  }));
}
