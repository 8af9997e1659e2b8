/**
 * Handing transactions to the node that is followed: one as hex, or several as
 * a JSON array. We hand on one at a time, so that a package in which a child
 * pays for a parent that would not get in alone is refused at the parent.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { decodeTx, formatId } from '../../../ledgers/bitcoin/index.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { ESPLORA_BODY_BYTES_MAX, SUBMIT_PACKAGE_MS } from '../../../util/limits.ts';
import type { EsploraAnswers } from './answer.ts';
import { wrong } from './parse.ts';

/** What a node takes as one package. */
const PACKAGE_TXS_MAX = 25;
const SATOSHI_PER_COIN = 1e8;

interface Submitted {
  readonly raw: Uint8Array;
  readonly id: Uint8Array;
  readonly witnessId: Uint8Array;
  readonly virtualSize: number;
}

export function registerSubmit(app: FastifyInstance, answers: EsploraAnswers): void {
  const options = { bodyLimit: ESPLORA_BODY_BYTES_MAX };
  app.post('/tx', options, async (request, reply) => {
    const hex = bodyOf(request).trim();
    if (!isHex(hex) || hex === '') throw wrong('Invalid hex string');
    const { raw } = readTx(hex, answers, 'transaction');
    const id = await answers.state.context.submit(raw);
    return reply.header('cache-control', 'no-store').header('content-type', 'text/plain; charset=utf-8').send(formatId(id));
  });
  app.post('/txs/package', options, async (request, reply) => {
    const unable = ['maxfeerate', 'maxburnamount'].find((name) => name in (request.query as object));
    if (unable !== undefined) throw new UnspentError('UNSUPPORTED', `${unable} cannot be checked here`, { field: unable });
    const txs = packageOf(bodyOf(request)).map((hex, i) => readTx(hex, answers, `item ${i}`));
    const result = await submitEach(txs, answers);
    return reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(result));
  });
}

function bodyOf(request: FastifyRequest): string {
  return typeof request.body === 'string' ? request.body : '';
}

function readTx(hex: string, { network }: EsploraAnswers, what: string): Submitted {
  const raw = fromHex(hex);
  try {
    const tx = decodeTx(raw, network.mweb);
    return { raw, id: tx.id, witnessId: tx.witnessId, virtualSize: Math.ceil(tx.weight / 4) };
  } catch (cause) {
    if (!isUnspentError(cause, 'BLOCK_INVALID')) throw cause;
    throw wrong(`${what}: TX decode failed: ${cause.message}`);
  }
}

function packageOf(body: string): string[] {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch {
    throw wrong('the body is not JSON');
  }
  if (!Array.isArray(given) || given.length === 0) throw wrong('the body is not an array of transactions');
  if (given.length > PACKAGE_TXS_MAX) throw wrong(`Exceeded maximum of ${PACKAGE_TXS_MAX} transactions`);
  return given.map((item: unknown, i) => {
    if (typeof item !== 'string' || item === '' || !isHex(item)) throw wrong(`Invalid transaction hex for item ${i}`);
    return item;
  });
}

/** In the order given, until one is refused or the time for the package is over; what stands behind that one is not tried. The shape is that of a node's `submitpackage`. */
async function submitEach(txs: readonly Submitted[], { state, mempool }: EsploraAnswers): Promise<object> {
  const results: Record<string, object> = {};
  let failed = false;
  const deadline = performance.now() + SUBMIT_PACKAGE_MS;
  for (const { raw, id, witnessId, virtualSize } of txs) {
    failed ||= performance.now() > deadline;
    const error: string | null = failed ? 'package-not-validated' : await refusal(state.context.submit(raw));
    failed ||= error !== null;
    // A node tells the fee too; it is known here once the mempool has told of the transaction.
    const fee = mempool.get(id)?.fee ?? null;
    const fees = fee === null ? {} : { fees: { base: Number(fee) / SATOSHI_PER_COIN } };
    results[formatId(witnessId)] = error === null ? { txid: formatId(id), vsize: virtualSize, ...fees } : { txid: formatId(id), error };
  }
  return { package_msg: failed ? 'transaction failed' : 'success', 'tx-results': results, 'replaced-transactions': [] };
}

/** The node's own words; null: it took the transaction. */
async function refusal(answer: Promise<Uint8Array>): Promise<string | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (!isUnspentError(error, 'TX_REFUSED')) throw error;
    return error.message;
  }
}
