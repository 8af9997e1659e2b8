/**
 * The connections of the HTTP server. On each, one request is worked on at a
 * time: those that were sent ahead wait, as many as may, and one more is told
 * BUSY and ends the connection. When there are as many connections as there may
 * be, the one that has been idle for longest makes room for the next; while
 * none is idle, a few more are accepted, and only asked after health. One that
 * speaks another protocol from now on counts on, and is never idle.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { HTTP_CONNECTIONS_RESERVE, HTTP_PIPELINED_ALL_MAX, HTTP_PIPELINED_MAX } from '../../util/limits.ts';

/** What becomes of a request as it comes in. `ignored`: nothing, its connection ends. */
export type Admission = 'begun' | 'waits' | 'refused' | 'ignored';

interface Connection {
  working: boolean;
  /** Requests behind the one that is worked on. */
  readonly waiting: (() => void)[];
  /** More came than may wait: nothing that comes behind them is answered. */
  refused: boolean;
  /** Requests that came and are not begun, in what the parser holds of them. */
  pipelined: number;
  /** Accepted beyond the bound. */
  isReserve: boolean;
}

export class Connections {
  private readonly max: number;
  private readonly connections = new Map<Socket, Connection>();
  /** Those without a request, the longest idle first. */
  private readonly idle = new Set<Socket>();
  private pipelined = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Requests that wait behind others of their connection. */
  get waiting(): number {
    return this.pipelined;
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.open(socket));
  }

  /** Whether it is one of them: an injected request has none. */
  has(socket: Socket): boolean {
    return this.connections.has(socket);
  }

  /** It speaks another protocol from here on, in which it may be waited for without a word. False: there is no room for that. */
  upgrade(socket: Socket): boolean {
    if (this.isReserve(socket)) return false;
    this.idle.delete(socket);
    return true;
  }

  /** Whether only health may be asked here. */
  isReserve(socket: Socket): boolean {
    return this.connections.size > this.max && this.connections.get(socket)?.isReserve === true;
  }

  /**
   * A request came in. `begin` is called when the requests before it on this connection are answered; `answered` must
   * then be called once.
   */
  take(socket: Socket, begin: () => void): Admission {
    const connection = this.connections.get(socket);
    // An injected request has no connection.
    if (connection === undefined || !connection.working) {
      if (connection !== undefined) connection.working = true;
      this.idle.delete(socket);
      begin();
      return 'begun';
    }
    connection.pipelined++;
    this.pipelined++;
    if (this.pipelined > HTTP_PIPELINED_ALL_MAX) {
      socket.destroy();
      return 'ignored';
    }
    if (connection.refused) return 'ignored';
    if (connection.waiting.length < HTTP_PIPELINED_MAX) {
      connection.waiting.push(begin);
      return 'waits';
    }
    connection.refused = true;
    return 'refused';
  }

  /** The request that was begun last is answered. */
  answered(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined || socket.destroyed) return;
    const next = connection.waiting.shift();
    connection.working = next !== undefined;
    if (next === undefined) {
      if (!connection.refused) this.idle.add(socket);
      return;
    }
    connection.pipelined--;
    this.pipelined--;
    next();
  }

  private open(socket: Socket): void {
    if (this.connections.size >= this.max) this.closeIdle();
    if (this.connections.size >= this.max + HTTP_CONNECTIONS_RESERVE) {
      socket.destroy();
      return;
    }
    const isReserve = this.connections.size >= this.max;
    const connection = { working: false, waiting: [], refused: false, pipelined: 0, isReserve };
    this.connections.set(socket, connection);
    this.idle.add(socket);
    socket.once('close', () => {
      this.connections.delete(socket);
      this.idle.delete(socket);
      this.pipelined -= connection.pipelined;
    });
  }

  /** The one that has been idle for longest, if any is. */
  private closeIdle(): void {
    for (const socket of this.idle) {
      // Counted out at once: that the system has closed it is known later.
      this.connections.delete(socket);
      this.idle.delete(socket);
      socket.destroy();
      return;
    }
  }
}
