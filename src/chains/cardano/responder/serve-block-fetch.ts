/**
 * The server's half of block-fetch: whole ranges as they lie, or none when the
 * chain does not have both ends. Waits whenever the client takes less than is
 * sent.
 */
import type { BlockFetchMessage, BlockFetchState } from '../../../sources/cardano/ouroboros/block-fetch.ts';
import type { Session } from '../../../sources/cardano/ouroboros/session.ts';
import type { RangeReader, ServedChain } from './chain.ts';

type BlockFetchSession = Session<BlockFetchMessage, BlockFetchState>;

/** Returns when the client is done; throws when the connection has ended. */
export async function serveBlockFetch(session: BlockFetchSession, chain: ServedChain): Promise<void> {
  const ranges = chain.ranges();
  try {
    for (;;) {
      const message = session.tryReceive() ?? (await session.receive());
      if (message.kind !== 'requestRange') return;
      const { from, to } = message;
      if (from !== null && to !== null && (await ranges.open(from, to))) await send(session, ranges);
      else session.send({ kind: 'noBlocks' });
    }
  } finally {
    ranges.close();
  }
}

async function send(session: BlockFetchSession, ranges: RangeReader): Promise<void> {
  session.send({ kind: 'startBatch' });
  for (;;) {
    let raw = ranges.next();
    if (raw instanceof Promise) raw = await raw;
    if (raw === null) break;
    session.send({ kind: 'block', raw });
    const full = session.drained();
    if (full !== undefined) await full;
  }
  session.send({ kind: 'batchDone' });
}
