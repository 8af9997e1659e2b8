/** The node that a cage context asks, if it was given one. */
import { needCardano } from '../../../families/cardano.ts';
import { LocalNode } from '../../../sources/cardano/ouroboros/local-node.ts';
import type { N2cClient } from '../../../sources/cardano/ouroboros/n2c-client.ts';
import type { OpenStore } from '../../../store/store.ts';
import { UnspentError } from '../../../util/errors.ts';

export class CageNode {
  private readonly node: LocalNode | null;

  constructor(store: OpenStore, url: string | undefined) {
    const { magic, byronEpochSlots } = needCardano(store.network, 'the cage protocol').parameters;
    this.node = url === undefined ? null : new LocalNode(url, { magic, byronEpochSlots });
  }

  /** Throws UNSUPPORTED without a node, and what the connection throws. */
  async client(what: string): Promise<N2cClient> {
    if (this.node === null) throw new UnspentError('UNSUPPORTED', `${what} is a node's to give: pass node: 'n2c:PATH' to openCage`);
    return this.node.client();
  }

  async close(): Promise<void> {
    await this.node?.close();
  }
}
