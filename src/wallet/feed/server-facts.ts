/**
 * Whether a server can feed wallets of a network: asked before anything else is,
 * so that a wrong address, a wrong network and a server that is too old are said
 * as such, and not as whatever fails first.
 */
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { type ServerAddress, ServerClient } from './server-client.ts';

/** What a server says of itself. */
export interface ServerFacts {
  readonly version: string;
  readonly network: string;
  readonly ready: boolean;
  /** Its newest block; null: it has none. */
  readonly tip: { readonly height: number } | null;
  /** What it answers in. */
  readonly shapes: readonly string[];
}

/** By what wallets elsewhere are fed, besides the events that every server tells. */
const NEEDED = ['esplora', 'mempool-stream', 'script-history'];

/** Throws UNAUTHORIZED, UNSUPPORTED where the address is not one of our servers, and as `ServerClient`. */
export async function readServerFacts(address: ServerAddress, signal: AbortSignal): Promise<ServerFacts> {
  const none = (cause: unknown): UnspentError =>
    new UnspentError('UNSUPPORTED', `what answers at ${address.url} is not a server of unspent: give the address of its page`, {}, cause);
  try {
    const facts = await new ServerClient(address).json<Partial<ServerFacts>>('/api/v1/status', signal);
    if (typeof facts.network !== 'string' || !Array.isArray(facts.shapes)) throw none(undefined);
    return { version: 'unknown', ready: false, tip: null, ...facts, network: facts.network, shapes: facts.shapes };
  } catch (error) {
    if (isUnspentError(error, 'NOT_FOUND') || isUnspentError(error, 'PROTOCOL')) throw none(error);
    if (!isUnspentError(error, 'UNAUTHORIZED')) throw error;
    throw new UnspentError(
      'UNAUTHORIZED',
      `${address.url} asks for its token (server.token there): name a file (--server-token-file), or set UNSPENT_WALLET_SERVER_TOKEN`,
      {},
      error,
    );
  }
}

/** Throws NETWORK_WRONG, UNSUPPORTED for a server of a version that cannot feed wallets elsewhere, and as `readServerFacts`. */
export async function checkServer(
  { network }: { readonly network: { readonly name: string } },
  address: ServerAddress,
  signal: AbortSignal,
): Promise<ServerFacts> {
  const facts = await readServerFacts(address, signal);
  if (facts.network !== network.name) {
    throw new UnspentError('NETWORK_WRONG', `the wallets are of ${network.name}, and ${address.url} follows ${facts.network}`);
  }
  const missing = NEEDED.filter((shape) => !facts.shapes.includes(shape));
  if (missing.length === 0) return facts;
  const message = `${address.url} is unspent ${facts.version}, which does not answer what wallets elsewhere ask (${missing.join(', ')}): upgrade it`;
  throw new UnspentError('UNSUPPORTED', message, { version: facts.version, missing });
}
