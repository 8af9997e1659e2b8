/**
 * What a builder of transactions asks for: unspent outputs, from our store, and
 * protocol parameters, from a node. Scripts are not evaluated: a node offers
 * that to no client (docs/reference/cage.md).
 */
import { decodeProtocolParameters, type ProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import type { UtxoJson } from '../../../query/render.ts';
import { NodeLedger } from '../../../sources/cardano/ouroboros/ledger-feed.ts';
import type { Store } from '../../store.ts';
import type { CageNode } from './node.ts';

/** Unspent outputs from the store, protocol parameters from a node. */
export class CageProvider {
  readonly #store: Store;
  readonly #ledger: NodeLedger;

  /** @internal */
  constructor(store: Store, node: CageNode) {
    this.#store = store;
    this.#ledger = new NodeLedger(() => node.client('protocol parameters'));
  }

  /** All unspent outputs of an address at the newest block, in the order they came to the chain. Throws USAGE. */
  utxos(address: string): readonly UtxoJson[] {
    using view = this.#store.view();
    return [...view.eachUtxo(address)];
  }

  /** What the node's ledger asks of transactions now. Throws UNSUPPORTED (no node, or an era before Conway), SOURCE_UNREACHABLE, PROTOCOL. */
  async parameters(): Promise<ProtocolParameters> {
    return decodeProtocolParameters((await this.#ledger.answers()).parameters);
  }
}
