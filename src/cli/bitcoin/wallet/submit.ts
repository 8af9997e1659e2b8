/** Hands a transaction to a server that speaks Esplora, as ours does, which hands it to a node. */
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { SUBMIT_MS_MAX } from '../../../util/limits.ts';
import { beginningOf } from '../../../util/response-text.ts';

const HOW_TOKEN = '--server-token-file FILE, or on this machine UNSPENT_SERVER_TOKEN';

/** What a server says at most that we repeat. */
const WORDS_MAX = 300;

/** How Esplora says that the node does not take it. */
const REFUSED = 400;
const UNAUTHORIZED = 401;

/**
 * `token`: the server's `server.token`. Throws TX_REFUSED with the words of the node, and for whatever else goes wrong
 * UNAUTHORIZED or SOURCE_UNREACHABLE: then nobody has said that the transaction is bad.
 */
export function submitTo(server: string, token?: string): (raw: Uint8Array) => Promise<void> {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new UnspentError('USAGE', `--server is the URL of a server, such as http://127.0.0.1:8437, not '${server.slice(0, 80)}'`);
  }
  const url = new URL('api/tx', server.endsWith('/') ? server : `${server}/`);
  return async (raw) => {
    const { status, text } = await post(url, toHex(raw), token);
    const words = text.slice(0, WORDS_MAX);
    if (status === REFUSED) throw new UnspentError('TX_REFUSED', `${url.host} did not take the transaction: ${words}`);
    if (status === UNAUTHORIZED) throw new UnspentError('UNAUTHORIZED', `${url.host} asks for its token: ${HOW_TOKEN}`);
    // Where a server does not speak Esplora, a page may come with any status.
    if (status === 200 && /^[0-9a-f]{64}\s*$/i.test(text)) return;
    throw new UnspentError('SOURCE_UNREACHABLE', `${url.host} did not say whether it took the transaction (HTTP ${status}): ${words}`);
  };
}

async function post(url: URL, body: string, token: string | undefined): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { 'content-type': 'text/plain', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  try {
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: AbortSignal.timeout(SUBMIT_MS_MAX) });
    return { status: answer.status, text: await beginningOf(answer, WORDS_MAX) };
  } catch (cause) {
    const message = `${url.host} did not answer; it may have taken the transaction`;
    throw new UnspentError('SOURCE_UNREACHABLE', message, {}, cause);
  }
}
