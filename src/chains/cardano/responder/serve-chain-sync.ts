/**
 * The server's half of chain-sync: answers where the chains meet, then walks
 * with the client, headers or whole blocks, and waits with it at the tip. Many
 * requests at once are answered in one go.
 */
import type { ChainSyncMessage, ChainSyncState } from '../../../sources/cardano/ouroboros/chain-sync.ts';
import { headerOfBlock, wrapBlock, wrapHeader } from '../../../sources/cardano/ouroboros/envelope.ts';
import { Gate } from '../../../sources/cardano/ouroboros/gate.ts';
import type { Wire } from '../../../sources/cardano/ouroboros/handshake.ts';
import type { WirePoint } from '../../../sources/cardano/ouroboros/point.ts';
import type { Session } from '../../../sources/cardano/ouroboros/session.ts';
import type { ChainReader, ServedChain, Step } from './chain.ts';

export type ChainSyncSession = Session<ChainSyncMessage, ChainSyncState>;

/** What it takes of a chain. */
export type WalkedChain = Pick<ServedChain, 'reader' | 'onChange' | 'tip'>;

/** How a block goes out: between nodes its header, to a local client all of it. */
export function contentOf(wire: Wire, raw: Uint8Array): Uint8Array {
  return wire === 'n2n' ? wrapHeader(headerOfBlock(raw)) : wrapBlock(raw);
}

/** Returns when the client is done; throws when the connection has ended. */
export async function serveChainSync(session: ChainSyncSession, chain: WalkedChain, wire: Wire): Promise<void> {
  const changed = new Gate();
  const stopListening = chain.onChange(() => changed.open());
  const { mux } = session.channel;
  void mux.closed.then(() => changed.open());
  const reader = chain.reader();
  try {
    for (;;) {
      const message = session.tryReceive() ?? (await session.receive());
      if (message.kind === 'done') return;
      if (message.kind === 'findIntersect') await meet(session, chain, reader, message.points);
      else {
        let step = reader.next();
        if (step instanceof Promise) step = await step;
        if (step.kind === 'tip') {
          session.send({ kind: 'awaitReply' });
          step = await nextChange(reader, changed, session);
        }
        answer(session, chain, wire, step);
      }
      const full = session.drained();
      if (full !== undefined) await full;
    }
  } finally {
    stopListening();
    reader.close();
  }
}

async function meet(session: ChainSyncSession, chain: WalkedChain, reader: ChainReader, points: readonly WirePoint[]): Promise<void> {
  for (const point of points) {
    if (!(await reader.seek(point))) continue;
    session.send({ kind: 'intersectFound', point, tip: chain.tip });
    return;
  }
  session.send({ kind: 'intersectNotFound', tip: chain.tip });
}

async function nextChange(reader: ChainReader, changed: Gate, session: ChainSyncSession): Promise<Step> {
  for (;;) {
    const step = await reader.next();
    if (step.kind !== 'tip') return step;
    await changed.wait();
    const { failure } = session.channel.mux;
    if (failure !== null) throw failure;
  }
}

function answer(session: ChainSyncSession, chain: WalkedChain, wire: Wire, step: Step): void {
  const { tip } = chain;
  if (step.kind === 'forward') session.send({ kind: 'rollForward', content: contentOf(wire, step.raw), tip });
  else if (step.kind === 'back') session.send({ kind: 'rollBackward', point: step.point, tip });
}
