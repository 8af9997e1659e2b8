/**
 * The Electrum protocol, 1.4 to 1.6, over the same store and mempool as the
 * HTTP server: what `blockchain.*` and `mempool.*` ask is answered from there,
 * and who subscribes hears of every change.
 */
import type { Server } from 'node:net';
import { ELECTRUM_IDLE_MS, ELECTRUM_STALLED_MS } from '../../../util/limits.ts';
import type { ServerContext } from '../../context.ts';
import type { WireShape } from '../../shapes.ts';
import { Backend, type ElectrumPorts, type Log } from './backend.ts';
import { headerMethods } from './header-methods.ts';
import { checkElectrumBind, Listener, tcpServer, tlsServer, webSocketServer } from './listeners.ts';
import type { Methods } from './method.ts';
import { RPC, RpcError } from './rpc.ts';
import { scriptMethods } from './script-methods.ts';
import { serverMethods } from './server-methods.ts';
import { Session } from './session.ts';
import { Subscriptions } from './subscriptions.ts';
import { txMethods } from './tx-methods.ts';
import type { Wire } from './wire.ts';

/** How long a session may say nothing, or take nothing, and how often that is looked at. Milliseconds. */
export interface SessionTimeouts {
  readonly idleMs: number;
  readonly stalledMs: number;
  readonly sweepMs: number;
}

const PATIENCE: SessionTimeouts = { idleMs: ELECTRUM_IDLE_MS, stalledMs: ELECTRUM_STALLED_MS, sweepMs: 15_000 };

/** Its ports are named `tcp`, `tls` and `ws`; in the settings 0 means none. */
export const electrum: WireShape = {
  name: 'electrum',
  listener: {
    ports: ({ electrum: { port, tlsPort, wsPort } }) => ({ tcp: port || undefined, tls: tlsPort || undefined, ws: wsPort || undefined }),
    open: (context, ports, _app, log) => openElectrum(context, ports, log),
  },
};

export interface ElectrumServer {
  /** Those it listens on. */
  readonly ports: ElectrumPorts;
  /** When it resolves, nothing of it reads any more. */
  close(): Promise<void>;
}

/**
 * ElectrumPorts: undefined for none, 0 for any that is free. Throws CONFIG for settings
 * that are not safe or not enough, IO where the system does not let it listen.
 */
export async function openElectrum(context: ServerContext, ports: ElectrumPorts, log: Log, patience = PATIENCE): Promise<ElectrumServer> {
  checkElectrumBind(context.config.electrum);
  const backend = new Backend(context, log);
  const subscriptions = new Subscriptions(backend);
  const hall = new Hall(backend, subscriptions, patience);
  const listeners: Listener[] = [];
  const close = async (): Promise<void> => {
    subscriptions.close();
    hall.close();
    await Promise.all(listeners.map((listener) => listener.close()));
    await backend.settled();
  };
  try {
    backend.ports = await listenAll(context, ports, listeners, (wire) => hall.open(wire));
  } catch (error) {
    await close();
    throw error;
  }
  return { ports: backend.ports, close };
}

async function listenAll(
  { config }: ServerContext,
  ports: ElectrumPorts,
  listeners: Listener[],
  open: (wire: Wire) => Session,
): Promise<ElectrumPorts> {
  const { electrum } = config;
  const add = async (server: Server, port: number, setting: string): Promise<number> => {
    const listener = await Listener.open(server, electrum, port, setting);
    listeners.push(listener);
    return listener.port;
  };
  const { tcp, tls, ws } = ports;
  return {
    ...(tcp === undefined ? {} : { tcp: await add(tcpServer(open), tcp, 'electrum.port') }),
    ...(tls === undefined ? {} : { tls: await add(tlsServer(electrum, open), tls, 'electrum.tlsPort') }),
    ...(ws === undefined ? {} : { ws: await add(webSocketServer(electrum, open), ws, 'electrum.wsPort') }),
  };
}

/** All sessions, whichever way they came in. */
class Hall {
  private readonly backend: Backend;
  private readonly subscriptions: Subscriptions;
  private readonly methods: Methods;
  private readonly sessions = new Set<Session>();
  private readonly patience: SessionTimeouts;
  private readonly sweeper: NodeJS.Timeout;

  constructor(backend: Backend, subscriptions: Subscriptions, patience: SessionTimeouts) {
    this.backend = backend;
    this.subscriptions = subscriptions;
    this.methods = {
      ...serverMethods(backend),
      ...headerMethods(backend, subscriptions),
      ...scriptMethods(backend, subscriptions),
      ...txMethods(backend),
    };
    this.patience = patience;
    this.sweeper = setInterval(() => this.sweep(), patience.sweepMs);
    this.sweeper.unref();
  }

  open(wire: Wire): Session {
    const session = new Session(wire, this.backend, this.methods, (gone) => this.leave(gone));
    const { sessionsMax } = this.backend.context.config.electrum;
    const isFull = this.sessions.size >= sessionsMax;
    this.sessions.add(session);
    if (isFull) session.refuse(new RpcError(RPC.badRequest, `the server has ${sessionsMax} sessions, as many as it may have`));
    return session;
  }

  close(): void {
    clearInterval(this.sweeper);
    for (const session of this.sessions) session.destroy();
  }

  private leave(session: Session): void {
    this.sessions.delete(session);
    this.subscriptions.leave(session);
  }

  private sweep(): void {
    const { idleMs, stalledMs } = this.patience;
    const now = performance.now();
    for (const session of this.sessions) {
      if (session.stalledMs !== null && now - session.stalledMs > stalledMs) session.destroy();
      else if (now - session.heardMs > idleMs) session.end();
    }
  }
}
