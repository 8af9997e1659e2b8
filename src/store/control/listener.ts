/**
 * The control socket of a store, in the process that has it open: other
 * processes of the same user have their commands run here, because only one
 * process can open a store. It never keeps the process alive, and never makes
 * opening a store fail.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { OwnedEngine } from '../../engine/open.ts';
import { UnspentError } from '../../util/errors.ts';
import { failureOf } from '../../util/failure.ts';
import { CONTROL_COMMANDS_MAX, CONTROL_CONNECTIONS_MAX, CONTROL_GREETING_MS, WATCH_WAITING_BYTES_MAX } from '../../util/limits.ts';
import { VERSION } from '../../util/version.ts';
import { LiveMeter } from '../live/meter.ts';
import { storeProjections } from '../projections.ts';
import type { OpenStore } from '../store.ts';
import { CommandThread, type StoreParcel, servedAt } from './command-thread.ts';
import {
  asRequest,
  asWatchRequest,
  type CommandOutput,
  type CommandRequest,
  type Greeting,
  LineReader,
  lineOf,
  type WatchRequest,
} from './protocol.ts';
import { closeSocketToOthers, makeSocketPlace, removeSocketPlace } from './socket-place.ts';

/** Begins to listen for the commands of others; `holder` is what it calls itself. Returns why it cannot, if so: the store is open all the same. */
export async function listenForCommands(store: OpenStore, holder: string): Promise<string | null> {
  // Named pipes of Windows have no owner in this sense.
  if (process.platform === 'win32') return null;
  const listener = new ControlListener(store, holder);
  try {
    await listener.open();
    return null;
  } catch (error) {
    listener.abandon();
    return (error as Error).message;
  }
}

class ControlListener {
  private readonly store: OpenStore;
  readonly holder: string;
  readonly since = new Date().toISOString();
  private readonly server: Server;
  private readonly connections = new Set<Socket>();
  private readonly threads = new Set<CommandThread>();
  private isClosing = false;
  /** From the opening on, so that the first watcher is told of what was before it. */
  private meter: LiveMeter | null = null;

  constructor(store: OpenStore, holder: string) {
    this.store = store;
    this.holder = holder;
    // Whoever sends the end of its half has cancelled, and is still told how the command ended.
    this.server = createServer({ allowHalfOpen: true }, (socket) => this.greet(socket));
    this.server.maxConnections = CONTROL_CONNECTIONS_MAX;
    this.server.unref();
  }

  async open(): Promise<void> {
    const path = makeSocketPlace(this.store.data);
    await new Promise<void>((resolve, reject) => {
      // Also later: a connection that cannot be taken is not the store's trouble.
      this.server.on('error', reject);
      this.server.listen(path, resolve);
    });
    closeSocketToOthers(path);
    this.store.readers.add(this);
    this.meter = new LiveMeter(this.store, this);
  }

  /** What it has made so far is removed with the next opening. */
  abandon(): void {
    this.server.close();
  }

  /** When it resolves, no command reads the store any more. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.store.readers.delete(this);
    this.server.close();
    this.meter?.close();
    // Before the commands stop, so that whoever waits for one hears why.
    for (const socket of this.connections) refuse(socket, closingError());
    for (const thread of this.threads) {
      thread.stop();
      // From here on the process waits for it.
      thread.ref();
    }
    await Promise.all([...this.threads].map((thread) => thread.ended));
    try {
      removeSocketPlace(this.store.data);
    } catch {
      // The store must be closed all the same; what is left is removed with the next opening.
    }
  }

  private greeting(): Greeting {
    return { unspent: VERSION, process: process.pid, since: this.since, holder: this.holder, url: servedAt(this.store) };
  }

  private greet(socket: Socket): void {
    socket.unref();
    this.connections.add(socket);
    socket.once('close', () => this.connections.delete(socket));
    // Of a peer that is gone: 'close' follows.
    socket.on('error', () => {});
    socket.write(lineOf(this.greeting()));
    const late = setTimeout(() => socket.destroy(), CONTROL_GREETING_MS);
    late.unref();
    socket.once('close', () => clearTimeout(late));
    const lines = new LineReader();
    let thread: CommandThread | null = null;
    let isWatched = false;
    socket.on('data', (bytes) => {
      try {
        for (const message of lines.take(bytes)) {
          if (thread !== null || isWatched) throw new UnspentError('PROTOCOL', 'a connection to a control socket is for one command');
          const watch = asWatchRequest(message);
          if (watch === null) thread = this.run(asRequest(message), socket);
          else {
            this.watch(watch, socket);
            isWatched = true;
          }
          clearTimeout(late);
        }
      } catch (error) {
        thread?.stop();
        refuse(socket, error);
      }
    });
    socket.once('end', () => {
      if (thread === null) socket.end();
      else thread.stop();
    });
    socket.once('close', () => thread?.stop());
  }

  /** In this thread: a sample is a few reads, and the fold is what it is about. Throws what is not possible. */
  private watch(request: WatchRequest, socket: Socket): void {
    this.checkAskable(request);
    const { meter } = this;
    const send = (): void => {
      if (meter === null || !socket.writable || socket.writableLength > WATCH_WAITING_BYTES_MAX) return;
      socket.write(lineOf({ sample: meter.sample() }));
    };
    const timer = setInterval(send, request.watchMs).unref();
    socket.once('close', () => clearInterval(timer));
    send();
  }

  private checkAskable({ unspent }: Pick<CommandRequest, 'unspent'>): void {
    if (this.isClosing) throw closingError();
    if (unspent !== VERSION)
      throw new UnspentError('STORE_LOCKED', `process ${process.pid} is unspent ${VERSION}, and cannot be asked by unspent ${unspent}`, {
        process: process.pid,
      });
  }

  /** Throws what is not possible. */
  private run(request: CommandRequest, socket: Socket): CommandThread {
    this.checkAskable(request);
    if (this.threads.size >= CONTROL_COMMANDS_MAX)
      throw new UnspentError('BUSY', `process ${process.pid} runs ${CONTROL_COMMANDS_MAX} commands for others already`);
    const thread: CommandThread = new CommandThread(this.store, parcelOf(this.store), request, (output, sent) =>
      send(socket, output, sent),
    );
    this.threads.add(thread);
    void thread.ended.then(() => this.threads.delete(thread));
    return thread;
  }
}

function closingError(): UnspentError {
  return new UnspentError('CLOSED', `process ${process.pid} is closing the store`);
}

function send(socket: Socket, output: CommandOutput, sent: () => void): void {
  if (!socket.writable) sent();
  else if ('exit' in output || 'failure' in output) socket.end(lineOf(output), sent);
  else socket.write(lineOf(output), sent);
}

function refuse(socket: Socket, error: unknown): void {
  if (socket.writable) socket.end(lineOf({ failure: failureOf(error) }));
  // What it may still send is of no interest.
  socket.resume();
}

function parcelOf({ engine, network, fold, config, data, publishing }: OpenStore): StoreParcel {
  const { handle } = engine as Partial<OwnedEngine>;
  const projections = fold.projections.map(({ name }) => name);
  const own = projections.filter((name) => !storeProjections().some((entry) => entry.name === name));
  if (handle === undefined || own.length > 0) {
    const what = handle === undefined ? 'an engine' : `projections (${own.join(', ')})`;
    throw new UnspentError('UNSUPPORTED', `process ${process.pid} has the store open with ${what} of its own: commands cannot read it`);
  }
  const { name, parameters } = network;
  return {
    handle,
    columns: engine.columns,
    data,
    network: { name, parameters },
    config,
    projections,
    fold: fold.options,
    publishing: publishing === null ? null : { report: publishing.report },
  };
}
