/**
 * The address of a node's RPC, `rpc://user:password@host:port` or
 * `rpc://host:port?cookie=PATH`, over TLS with `rpcs://`, and how to show oneself
 * there. What is shown of it, in names and messages, never has the password.
 */
import { join } from 'node:path';
import { readRegularLater } from '../../../files/regular.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { SECRET_FILE_BYTES_MAX } from '../../../util/limits.ts';
import { usualFolder } from '../node-folder.ts';

export interface RpcAddress {
  /** Without user and password. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Null: plain HTTP. `cert`: a file with the certificates to trust, as PEM; null: those that the system trusts. */
  readonly tls: { readonly cert: string | null } | null;
  /** `cookie`: a file that the node writes anew at each start. */
  readonly access: { readonly kind: 'password'; readonly pair: string } | { readonly kind: 'cookie'; readonly path: string };
}

const FORMS = 'rpc://USER:PASSWORD@HOST:PORT or rpc://HOST:PORT?cookie=PATH, over TLS rpcs:// (with cert=FILE)';
const SCHEMES = ['rpc:', 'rpcs:'];

/** Throws USAGE. */
export function parseRpcAddress(url: string, network: BitcoinNetwork): RpcAddress {
  const parts = URL.canParse(url) ? new URL(url) : null;
  if (parts === null || !SCHEMES.includes(parts.protocol) || parts.hostname === '' || !/^\/?$/.test(parts.pathname) || parts.hash !== '') {
    // The URL is not repeated: it may have a password in it.
    throw new UnspentError('USAGE', `that is not the address of a node's RPC: ${FORMS} (in a password write /, @, : and the like as %XX)`);
  }
  const { protocol, hostname, searchParams } = parts;
  const isTls = protocol === 'rpcs:';
  const port = parts.port === '' ? network.rpcPort : Number(parts.port);
  const name = `${protocol}//${hostname}:${port}`;
  const settings = isTls ? ['cookie', 'cert'] : ['cookie'];
  for (const key of searchParams.keys()) {
    if (settings.includes(key)) continue;
    const why = key === 'cert' ? 'a certificate is for TLS: write rpcs://' : `unknown setting '${key}'; there is ${settings.join(', ')}`;
    throw new UnspentError('USAGE', `${name}: ${why}`, { key });
  }
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const tls = isTls ? { cert: searchParams.get('cert') } : null;
  return { name, host, port, tls, access: accessOf(parts, searchParams.get('cookie'), name, network) };
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
    return new TextDecoder().decode(await readRegularLater(path, { bytesMax: SECRET_FILE_BYTES_MAX, links: 'follow' })).trim();
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = missing ? 'is not there (is the node running?)' : `cannot be read: ${(error as Error).message}`;
    throw new UnspentError('SOURCE_UNREACHABLE', `${name}: the node's cookie file ${path} ${why}; give ${FORMS}`, { path }, error);
  }
}

/** The certificates to trust; undefined: those that the system trusts. Throws SOURCE_UNREACHABLE when the file cannot be read. */
export async function trusted({ name, tls }: RpcAddress): Promise<Buffer | undefined> {
  const path = tls?.cert ?? null;
  if (path === null) return undefined;
  try {
    return Buffer.from(await readRegularLater(path, { bytesMax: SECRET_FILE_BYTES_MAX, links: 'follow' }));
  } catch (error) {
    const message = `${name}: the certificate ${path} cannot be read: ${(error as Error).message}`;
    throw new UnspentError('SOURCE_UNREACHABLE', message, { path }, error);
  }
}
