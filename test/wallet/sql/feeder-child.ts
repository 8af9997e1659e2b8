/**
 * One of several processes that feed a database from a chain of empty blocks but
 * for one payment in each: `feeder-child.ts URL BLOCKS`. Ends after the last.
 */

import { type FeedEvent, type FeedSource, WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { blockAt, idOf, NOW, outpointOf, scriptOf } from '../support/world.ts';

/** Whom the block of that height pays. */
export function payeeAt(height: number): Uint8Array {
  return scriptOf(90, height);
}

/** Positions are heights. */
function chainOf(blocks: number): FeedSource {
  return {
    newest: async () => ({ block: null, position: '0' }),
    async *events(after) {
      for (let height = Number(after) + 1; height <= blocks; height++) yield eventAt(height);
    },
  };
}

function eventAt(height: number): FeedEvent {
  const outputs = [{ script: payeeAt(height), amount: 1n }];
  const tx = { id: idOf(`pay ${height}`), raw: new Uint8Array(1), inputs: [outpointOf(`x${height}:0`)], outputs, isCoinbase: false };
  return { kind: 'connected', block: blockAt(height), txs: [tx], position: `${height}` };
}

if (import.meta.main) {
  const [url, blocks] = process.argv.slice(2);
  const store = await openWalletStore(url, { isDurable: false });
  await new WalletFeed(store, { feed: 'chain', now: () => NOW }).follow(chainOf(Number(blocks)), new AbortController().signal);
  await store.close();
}
