/**
 * A node that greets as others do and then says what a test wants it to: for
 * peers that obey the protocol and not its spirit. Loopback only.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { BitcoinNetwork } from '../../../src/ledgers/bitcoin/index.ts';
import { Link, ownVersion } from '../../../src/sources/bitcoin/p2p/link.ts';
import { type Message, SERVICE } from '../../../src/sources/bitcoin/p2p/messages.ts';
import { UnspentError } from '../../../src/util/errors.ts';

export type Answer = (message: Message, link: Link) => void | Promise<void>;

export class ScriptedNode {
  port = 0;
  connections = 0;
  private readonly server: Server;
  private readonly links = new Set<Link>();

  private constructor(network: BitcoinNetwork, startHeight: number, answer: Answer) {
    this.server = createServer((socket) => {
      this.connections++;
      socket.on('error', () => {});
      const link = new Link(socket, network.magic, 'the reader');
      this.links.add(link);
      socket.on('close', () => this.links.delete(link));
      // Its end is always an error; whoever reads from us says why.
      this.speak(link, startHeight, answer).catch(() => {});
    });
  }

  static async open(network: BitcoinNetwork, startHeight: number, answer: Answer): Promise<ScriptedNode> {
    const node = new ScriptedNode(network, startHeight, answer);
    node.server.listen(0, '127.0.0.1');
    await once(node.server, 'listening');
    node.port = (node.server.address() as AddressInfo).port;
    return node;
  }

  async close(): Promise<void> {
    for (const link of this.links) link.fail(new UnspentError('CLOSED', 'the test is over'));
    this.server.close();
    await once(this.server, 'close');
  }

  private async speak(link: Link, startHeight: number, answer: Answer): Promise<void> {
    for await (const message of link.messages()) {
      if (message.kind === 'version') {
        link.send(ownVersion(SERVICE.network | SERVICE.witness, startHeight));
        link.send({ kind: 'verack' });
      } else if (message.kind === 'ping') link.send({ kind: 'pong', nonce: message.nonce });
      else await answer(message, link);
    }
  }
}
