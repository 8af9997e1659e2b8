/** Where a node is: `p2p://host:port`, or several of one chain with commas between them. Without a port it is the network's. */
import { UnspentError } from '../../../util/errors.ts';

export interface NodeAddress {
  readonly url: string;
  readonly connect: { readonly host: string; readonly port: number };
}

const PLACE = /^(?:\[([0-9a-fA-F:.]+)\]|([^/:@[\]]+))(?::(\d{1,5}))?$/;

/** Throws USAGE. */
export function parseNodes(urls: readonly string[], defaultPort: number): NodeAddress[] {
  const nodes = urls.flatMap((url) => parseUrl(url, defaultPort));
  if (nodes.length === 0) throw new UnspentError('USAGE', 'no address of a node was given');
  return nodes;
}

function parseUrl(url: string, defaultPort: number): NodeAddress[] {
  const places = /^p2p:\/\/([^/]+)\/?$/.exec(url)?.[1].split(',') ?? [''];
  return places.map((place) => {
    const match = PLACE.exec(place);
    const port = Number(match?.[3] ?? defaultPort);
    if (match === null || port < 1 || port > 65_535) {
      throw new UnspentError('USAGE', `'${url}' is not a node's address: p2p://host:port[,host:port]`, { url });
    }
    return { url: `p2p://${place}`, connect: { host: match[1] ?? match[2], port } };
  });
}
