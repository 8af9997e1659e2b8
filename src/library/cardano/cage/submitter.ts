/** Hands signed transactions to a node over its local socket. */
import { describeTx } from '../../../ledgers/cardano/transaction.ts';
import { toHex } from '../../../util/bytes.ts';
import { Cursor } from '../../../util/cbor.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import type { CageNode } from './node.ts';

/** Hands signed transactions to a node. */
export class CageSubmitter {
  readonly #node: CageNode;

  /** @internal */
  constructor(node: CageNode) {
    this.#node = node;
  }

  /**
   * Hands a signed transaction to the node's mempool; resolves with its id. It is on the chain when
   * `indexer.waitForTx` says so. Throws USAGE (no transaction), TX_REFUSED with the ledger's reason as CBOR,
   * UNSUPPORTED (no node), SOURCE_UNREACHABLE, PROTOCOL.
   */
  async submit(tx: Uint8Array): Promise<string> {
    const id = toHex(txIdOf(tx));
    const client = await this.#node.client('submission');
    const era = await client.ask({ at: 'volatileTip' }, (ledger) => ledger.currentEra());
    const answer = await client.submit(tx, era);
    if (answer.accepted) return id;
    const reason = toHex(answer.reason);
    throw new UnspentError('TX_REFUSED', `the node did not take transaction ${id}: ${reason}`, { tx: id, reason });
  }
}

function txIdOf(tx: Uint8Array): Uint8Array {
  try {
    const c = new Cursor(tx);
    c.array();
    const start = c.at;
    c.skip();
    return describeTx(tx, start, c.at, true).id;
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('USAGE', `these bytes are no transaction: ${error.message}`, {}, error);
  }
}
