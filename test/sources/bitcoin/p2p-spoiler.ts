/**
 * Stands between a source and a node and spoils what the node says, message by
 * message: the way to a bad peer that knows the protocol well.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { concatBytes } from '../../../src/util/bytes.ts';

const HEAD_BYTES = 24;

/** Given a message as it stands on the wire, and how many came before it; null: it is never sent. */
export type Spoil = (command: string, frame: Uint8Array, nth: number) => Uint8Array | null;

export class Spoiler {
  port = 0;
  private readonly spoil: Spoil;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(upstream: number, spoil: Spoil) {
    this.spoil = spoil;
    this.server = createServer((client) => this.join(client, connect(upstream, '127.0.0.1')));
  }

  static async before({ port }: { readonly port: number }, spoil: Spoil): Promise<Spoiler> {
    const spoiler = new Spoiler(port, spoil);
    spoiler.server.listen(0, '127.0.0.1');
    await once(spoiler.server, 'listening');
    spoiler.port = (spoiler.server.address() as AddressInfo).port;
    return spoiler;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, node: Socket): void {
    for (const socket of [client, node]) {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        node.destroy();
      });
    }
    client.pipe(node);
    let rest: Uint8Array = new Uint8Array(0);
    let nth = 0;
    node.on('data', (chunk) => {
      rest = concatBytes(rest, chunk);
      for (let end = frameEnd(rest); end !== null; end = frameEnd(rest)) {
        const spoilt = this.spoil(commandOf(rest), rest.slice(0, end), nth++);
        rest = rest.subarray(end);
        if (spoilt !== null) client.write(spoilt);
      }
      // What the reader does not take stays with the node, or nobody could say how much the reader holds.
      if (client.writableNeedDrain) {
        node.pause();
        client.once('drain', () => node.resume());
      }
    });
  }
}

function frameEnd(bytes: Uint8Array): number | null {
  if (bytes.length < HEAD_BYTES) return null;
  const end = HEAD_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(16, true);
  return bytes.length < end ? null : end;
}

function commandOf(frame: Uint8Array): string {
  return String.fromCharCode(...frame.subarray(4, 16)).replaceAll('\0', '');
}
