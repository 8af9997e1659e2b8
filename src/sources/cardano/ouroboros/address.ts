/**
 * How a Cardano node is named: its public port, or its local socket.
 */
import { UnspentError } from '../../../util/errors.ts';
import type { Target } from '../../dial.ts';
import type { Wire } from './handshake.ts';

export interface Address extends Target {
  readonly wire: Wire;
}

/** `n2n://host:port` or `n2c:PATH`. Throws USAGE. */
export function parseAddress(url: string): Address {
  if (url.startsWith('n2c:')) {
    const path = url.slice('n2c:'.length);
    if (path === '') throw new UnspentError('USAGE', `'${url}' lacks the path of the node's socket: n2c:PATH`, { url });
    return { url, wire: 'n2c', connect: { path } };
  }
  const match = /^n2n:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^/:@[\]]+)):(\d{1,5})\/?$/.exec(url);
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65_535) {
    throw new UnspentError('USAGE', `'${url}' is not a node's address: n2n://host:port`, { url });
  }
  return { url, wire: 'n2n', connect: { host: match[1] ?? match[2], port } };
}
