/**
 * The records of transactions in a database of their own (`txs.store`), for the
 * thread that answers: opened with the first question, and only read. The thread
 * of the fold feeds it.
 */
import { findFedRecord } from '../../store/fed-record.ts';
import type { FedRecords } from '../../txstore/chain/chain-records.ts';
import { txsSettings } from '../../txstore/chain/entry.ts';
import { openFedRecords } from '../../txstore/open.ts';
import type { TxRecord } from '../../txstore/records.ts';
import type { ServerContext } from '../context.ts';

export class RecordDatabase {
  readonly #context: ServerContext;
  #opening: Promise<FedRecords> | undefined;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  /** Throws PRUNED, NOT_FOUND, NOT_YET, and what the database throws. */
  async find(txId: Uint8Array): Promise<TxRecord> {
    const { network, config, reads } = this.#context;
    return findFedRecord(
      {
        records: await this.#records(),
        dialect: network.dialect,
        windows: config.utxo,
        read(body) {
          const lease = reads.lease();
          try {
            return body(lease.query);
          } finally {
            lease.release();
          }
        },
      },
      txId,
    );
  }

  async close(): Promise<void> {
    const records = await this.#opening?.catch(() => undefined);
    await records?.close();
  }

  /** One that could not be opened is tried again with the next question. */
  #records(): Promise<FedRecords> {
    const { config, network } = this.#context;
    // Nothing is deleted from here.
    const guard = { mayRemove: () => false, hasBlobs: false };
    this.#opening ??= openFedRecords(config.txs.store, txsSettings(config.txs), { feed: network.name, guard }).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }
}
