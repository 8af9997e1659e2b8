/**
 * The address of a node's RPC, `rpc://user:password@host:port` or
 * `rpc://host:port?cookie=PATH`, and how to show oneself there. What is shown
 * of it, in names and messages, never has the password.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { usualFolder } from '../node-folder.ts';

export interface RpcAddress {
  /** Without user and password. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** `cookie`: a file that the node writes anew at each start. */
  readonly access: { readonly kind: 'password'; readonly pair: string } | { readonly kind: 'cookie'; readonly path: string };
}

const FORMS = 'rpc://USER:PASSWORD@HOST:PORT or rpc://HOST:PORT?cookie=PATH';

/** Throws USAGE. */
export function parseRpcAddress(url: string, network: BitcoinNetwork): RpcAddress {
  const parts = URL.canParse(url) ? new URL(url) : null;
  if (parts === null || parts.protocol !== 'rpc:' || parts.hostname === '' || !/^\/?$/.test(parts.pathname) || parts.hash !== '') {
    // The URL is not repeated: it may have a password in it.
    throw new UnspentError('USAGE', `that is not the address of a node's RPC: ${FORMS} (in a password write /, @, : and the like as %XX)`);
  }
  const { hostname, searchParams } = parts;
  const port = parts.port === '' ? network.rpcPort : Number(parts.port);
  const name = `rpc://${hostname}:${port}`;
  for (const key of searchParams.keys()) {
    if (key !== 'cookie') throw new UnspentError('USAGE', `${name}: unknown setting '${key}'; there is cookie=PATH`, { key });
  }
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { name, host, port, access: accessOf(parts, searchParams.get('cookie'), name, network) };
}

function accessOf({ username, password }: URL, cookie: string | null, name: string, network: BitcoinNetwork): RpcAddress['access'] {
  if (username === '' && password === '') return { kind: 'cookie', path: cookie ?? join(usualFolder(network), '.cookie') };
  if (cookie !== null) throw new UnspentError('USAGE', `${name}: a password or a cookie file, not both: ${FORMS}`);
  try {
    return { kind: 'password', pair: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` };
  } catch (error) {
    throw new UnspentError('USAGE', `${name}: a % in the user or password that is not part of %XX: write it as %25`, {}, error);
  }
}

/** The value of the Authorization header. Throws SOURCE_UNREACHABLE when the cookie cannot be read. */
export async function authorization({ name, access }: RpcAddress): Promise<string> {
  const pair = access.kind === 'password' ? access.pair : await readCookie(name, access.path);
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

async function readCookie(name: string, path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = missing ? 'is not there (is the node running?)' : `cannot be read: ${(error as Error).message}`;
    throw new UnspentError('SOURCE_UNREACHABLE', `${name}: the node's cookie file ${path} ${why}; give ${FORMS}`, { path }, error);
  }
}
