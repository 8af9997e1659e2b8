/** Hands a transaction to a server that speaks Esplora, as ours does, which hands it to a node. */
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { SUBMIT_MS_MAX } from '../../../util/limits.ts';

/** What a server says at most that we repeat. */
const WORDS_MAX = 300;

/** Throws TX_REFUSED with the words of the node, SOURCE_UNREACHABLE. */
export function submitTo(server: string): (raw: Uint8Array) => Promise<void> {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new UnspentError('USAGE', `--server is the URL of a server, such as http://127.0.0.1:8437, not '${server.slice(0, 80)}'`);
  }
  const url = new URL('api/tx', server.endsWith('/') ? server : `${server}/`);
  return async (raw) => {
    const answer = await post(url, toHex(raw));
    if (answer.ok) return;
    const words = (await answer.text()).slice(0, WORDS_MAX);
    const code = answer.status < 500 ? 'TX_REFUSED' : 'SOURCE_UNREACHABLE';
    throw new UnspentError(code, `${url.host} did not take the transaction: ${words}`);
  };
}

async function post(url: URL, body: string): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/plain' },
      signal: AbortSignal.timeout(SUBMIT_MS_MAX),
    });
  } catch (cause) {
    const message = `${url.host} did not answer; it may have taken the transaction`;
    throw new UnspentError('SOURCE_UNREACHABLE', message, {}, cause);
  }
}
