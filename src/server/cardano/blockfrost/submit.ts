/**
 * Handing a transaction to the node that is followed. Clients send its bytes or
 * its hex, whatever they call it: some type hex as CBOR. A transaction of
 * Cardano begins with a byte that is no hex digit, so the two cannot be mixed up.
 */
import type { FastifyInstance } from 'fastify';
import { readWholeTx } from '../../../ledgers/cardano/transaction.ts';
import { hexOf } from '../../../query/dialect.ts';
import { fromHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { SUBMIT_HEX_MAX } from '../../../util/limits.ts';
import type { BlockfrostAnswers } from './answer.ts';

export function registerSubmit(app: FastifyInstance, answers: BlockfrostAnswers): void {
  // Bodies of every type are bytes here: what they are, they tell themselves.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const options = { bodyLimit: SUBMIT_HEX_MAX };
  app.post('/tx/submit', options, async (request, reply) => {
    const raw = txBytes(request.body);
    // Clients of Blockfrost take any success; that of Yaci takes 202 and no other.
    return answers.send(reply, hexOf(await answers.context.submit(raw)), answers.isYaci ? 202 : 200);
  });
}

/** Throws USAGE for what is no transaction. */
export function txBytes(body: unknown): Uint8Array {
  const given = body instanceof Uint8Array ? body : new Uint8Array(0);
  const text = Buffer.from(given).toString('latin1').trim();
  const raw = text !== '' && text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text) ? fromHex(text) : given;
  try {
    readWholeTx(raw);
    return raw;
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('USAGE', `this is no transaction: ${error.message}`, { field: 'body' }, error);
  }
}
