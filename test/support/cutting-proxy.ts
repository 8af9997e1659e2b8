/**
 * A way to a database that breaks when it is told to: the next request that is
 * meant goes through, and instead of its answer the connection ends. What was
 * asked for has happened by then; whoever asked cannot know.
 */
import { once } from 'node:events';
import { createConnection, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';

/** `first`: what the client said when it came. */
type IsMeant = (request: Buffer, first: Buffer) => boolean;

export class CuttingProxy {
  /** Answers that did not arrive. */
  cuts = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly isMeant: IsMeant;
  private isArmed = false;

  private constructor(to: NetConnectOpts, isMeant: IsMeant) {
    this.isMeant = isMeant;
    this.server = createServer((client) => this.join(client, createConnection(to)));
  }

  static async open(to: NetConnectOpts, isMeant: IsMeant): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(to, isMeant);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as { readonly port: number }).port;
  }

  /** From now on the next request that is meant has no answer. */
  arm(): void {
    this.isArmed = true;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, server: Socket): void {
    let [first, isCutting]: [Buffer | null, boolean] = [null, false];
    const end = (): void => {
      for (const socket of [client, server]) {
        socket.destroy();
        this.sockets.delete(socket);
      }
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (request) => {
      first ??= request;
      if (this.isArmed && this.isMeant(request, first)) {
        this.isArmed = false;
        isCutting = true;
      }
      server.write(request);
    });
    server.on('data', (answer) => {
      if (!isCutting) return void client.write(answer);
      this.cuts++;
      end();
    });
  }
}
