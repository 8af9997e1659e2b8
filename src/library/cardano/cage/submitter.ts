/** Hands signed transactions to a node over its local socket. */
import { NodeLedger } from '../../../sources/cardano/ouroboros/ledger-feed.ts';
import { toHex } from '../../../util/bytes.ts';
import type { CageNode } from './node.ts';

/** Hands signed transactions to a node. */
export class CageSubmitter {
  readonly #ledger: NodeLedger;

  /** @internal */
  constructor(node: CageNode) {
    this.#ledger = new NodeLedger(() => node.client('submission'));
  }

  /**
   * Hands a signed transaction to the node's mempool; resolves with its id. It is on the chain when
   * `indexer.waitForTx` says so. Throws USAGE (no transaction), TX_REFUSED with the ledger's reason as CBOR,
   * UNSUPPORTED (no node), SOURCE_UNREACHABLE, PROTOCOL.
   */
  async submit(tx: Uint8Array): Promise<string> {
    return toHex(await this.#ledger.submit(tx));
  }
}
