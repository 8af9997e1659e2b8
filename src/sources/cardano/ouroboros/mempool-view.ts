/**
 * A node's mempool at one moment: a snapshot that does not change while it is
 * looked at.
 */
import type { WrappedTx, WrappedTxId } from './envelope.ts';
import type { MempoolMeasure, MempoolSizes, TxMonitorMessage, TxMonitorState } from './local-tx-monitor.ts';
import { violation } from './protocol.ts';
import type { Session } from './session.ts';

type MonitorSession = Session<TxMonitorMessage, TxMonitorState>;
type Reply<K extends TxMonitorMessage['kind']> = Extract<TxMonitorMessage, { readonly kind: K }>;

export class MempoolView {
  /** The one that a block with these transactions would have: the slot behind that of the node's newest block. */
  readonly slot: number;
  private readonly session: MonitorSession;

  /** Acquires a snapshot, lets `body` look, and releases it. */
  static async of<T>(session: MonitorSession, body: (mempool: MempoolView) => Promise<T>): Promise<T> {
    const { slot } = await ask(session, { kind: 'acquire' }, 'acquired');
    try {
      return await body(new MempoolView(session, slot));
    } finally {
      if (session.channel.mux.failure === null) session.send({ kind: 'release' });
    }
  }

  private constructor(session: MonitorSession, slot: number) {
    this.session = session;
    this.slot = slot;
  }

  /** Every transaction in it, in order, up to so many bytes. A snapshot is walked once. */
  async txs(bytesMax = Number.POSITIVE_INFINITY): Promise<WrappedTx[]> {
    const txs: WrappedTx[] = [];
    for (let bytes = 0; ; ) {
      const { tx } = await ask(this.session, { kind: 'nextTx' }, 'replyNextTx');
      if (tx === null) return txs;
      bytes += tx.tx.length;
      if (bytes > bytesMax) return txs;
      txs.push(tx);
    }
  }

  /** The next snapshot, as soon as it is another one; this one cannot be looked at any more. */
  async changed(): Promise<MempoolView> {
    const { slot } = await ask(this.session, { kind: 'acquire' }, 'acquired');
    return new MempoolView(this.session, slot);
  }

  async has(id: WrappedTxId): Promise<boolean> {
    return (await ask(this.session, { kind: 'hasTx', id }, 'replyHasTx')).has;
  }

  async sizes(): Promise<MempoolSizes> {
    return (await ask(this.session, { kind: 'getSizes' }, 'replyGetSizes')).sizes;
  }

  /** From N2C version 20 on. */
  async measures(): Promise<readonly MempoolMeasure[]> {
    return (await ask(this.session, { kind: 'getMeasures' }, 'replyGetMeasures')).measures;
  }
}

async function ask<K extends TxMonitorMessage['kind']>(session: MonitorSession, question: TxMonitorMessage, kind: K): Promise<Reply<K>> {
  session.send(question);
  const answer = await session.receive();
  if (answer.kind !== kind) throw violation(`'${answer.kind}' where '${kind}' was due`);
  return answer as Reply<K>;
}
