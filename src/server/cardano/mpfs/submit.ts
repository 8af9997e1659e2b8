/**
 * Submitting through the MPFS API: a transaction is handed to the node that is
 * followed, if it touches a cage. This server is no relay for anything else.
 */
import Type from 'typebox';
import { decodeCageDatum } from '../../../ledgers/cardano/cage/index.ts';
import { type DescribedOutput, describeOutput } from '../../../ledgers/cardano/describe.ts';
import { type DescribedTx, readWholeTx } from '../../../ledgers/cardano/transaction.ts';
import { outpointKey } from '../../../ledgers/outpoint.ts';
import { scriptHashOf } from '../../../projections/cardano/cage/watch.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { SUBMIT_HEX_MAX } from '../../../util/limits.ts';
import type { App } from '../../http/typed.ts';
import { hexBytes } from '../../native/keys.ts';
import { PROBLEM } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import { CageRead } from './read.ts';
import { Submitted } from './schemas.ts';

const TX = Type.String({ pattern: '^([0-9a-fA-F]{2})+$', maxLength: SUBMIT_HEX_MAX, description: 'A signed transaction in CBOR, as hex.' });

export function registerSubmit(app: App, answers: MpfsAnswers): void {
  const schema = {
    tags: ['Cages'],
    summary: 'Submit a transaction that touches a cage',
    body: Type.Object({ signedTxCbor: TX }, { additionalProperties: false }),
    response: { 200: { description: 'The node took it.', content: { 'application/json': { schema: Submitted } } }, default: PROBLEM },
  };
  app.post('/submit', { schema, bodyLimit: SUBMIT_HEX_MAX + 100 }, async (request, reply) => {
    const txId = toHex(await submitCageTx(answers, request.body.signedTxCbor));
    return reply
      .header('cache-control', 'no-store')
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ txId }));
  });
}

/** The id of the transaction. Throws USAGE when it touches no cage, TX_REFUSED in the node's words. */
export function submitCageTx(answers: MpfsAnswers, hex: string): Promise<Uint8Array> {
  const raw = hexBytes(hex);
  const tx = readTx(raw);
  const lease = answers.context.reads.lease();
  try {
    if (!touchesCage(new CageRead(lease.query, answers.network, answers.context), tx)) {
      throw new UnspentError('USAGE', `the transaction ${toHex(tx.id)} touches no cage that is followed here: submit it elsewhere`, {
        hash: toHex(tx.id),
      });
    }
  } finally {
    lease.release();
  }
  return answers.context.submit(raw);
}

function readTx(raw: Uint8Array): DescribedTx {
  try {
    return readWholeTx(raw);
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('USAGE', `this is no transaction: ${error.message}`, {}, error);
  }
}

/** It mints or burns a token, or spends or makes an output at a script of a cage, or one that is a request. */
function touchesCage({ cage, query }: CageRead, { inputs, outputs, mint }: DescribedTx): boolean {
  const policies = cage.deployments().map(({ stateScriptHash }) => stateScriptHash);
  const isPolicy = (hash: Uint8Array): boolean => policies.some((policy) => equalBytes(policy, hash));
  const isOfCage = ({ address, inlineDatum }: DescribedOutput): boolean => {
    const script = scriptHashOf(address);
    if (script === null) return false;
    if (isPolicy(script) || cage.isRequestScript(script)) return true;
    return inlineDatum !== null && decodeCageDatum(inlineDatum)?.type === 'request';
  };
  if (mint.some(({ policy }) => isPolicy(policy)) || outputs.some(isOfCage)) return true;
  const spent = query.outpoints(inputs.map(({ txId, index }) => outpointKey(txId, index)));
  return spent.some((found) => found !== null && isOfCage(describeOutput(found.output.raw)));
}
