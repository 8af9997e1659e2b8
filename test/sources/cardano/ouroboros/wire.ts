/**
 * Two multiplexers with a real socket between them.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { Mux, type MuxOptions } from '../../../../src/sources/cardano/ouroboros/mux.ts';

export interface Pair {
  readonly client: Mux;
  readonly server: Mux;
  close(): Promise<void>;
}

export async function pair(options: MuxOptions = {}): Promise<Pair> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const accepted = once(listener, 'connection') as Promise<[Socket]>;
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  const [other] = await accepted;
  const client = new Mux(socket, { peer: 'server', ...options });
  const server = new Mux(other, { peer: 'client', ...options });
  return {
    client,
    server,
    async close() {
      await Promise.all([client.close(), server.close()]);
      listener.close();
      await once(listener, 'close');
    },
  };
}
