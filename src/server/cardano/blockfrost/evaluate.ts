/**
 * `/utils/txs/evaluate`: what the scripts of a transaction use, in the form that
 * Ogmios 5 had and Blockfrost passes on. Scripts that fail are an answer too,
 * with status 200, because clients look for `EvaluationResult` in it; what keeps
 * them from being run at all is a failure as any other.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ScriptPurpose, ScriptUnits } from '../../../evaluation/cardano/outcome.ts';
import type { NamedOutput } from '../../../evaluation/cardano/request.ts';
import { isUnspentError, type UnspentError } from '../../../util/errors.ts';
import { EVALUATION_BODY_BYTES_MAX } from '../../../util/limits.ts';
import type { TxEvaluation } from '../evaluation/tx-evaluation.ts';
import type { BlockfrostAnswers } from './answer.ts';
import { txBytes } from './submit.ts';
import { readUtxoSet } from './utxo-set.ts';

/** As clients name what a script runs for; those of Yaci have another name for a withdrawal. */
const PURPOSES: Readonly<Record<ScriptPurpose, string>> = {
  spend: 'spend',
  mint: 'mint',
  publish: 'certificate',
  withdraw: 'withdrawal',
  vote: 'vote',
  propose: 'propose',
};

export function registerEvaluate(app: FastifyInstance, answers: BlockfrostAnswers, evaluation: TxEvaluation): void {
  const options = { bodyLimit: EVALUATION_BODY_BYTES_MAX };
  const result = async ({ task }: FastifyRequest, tx: Uint8Array, additional: readonly NamedOutput[]): Promise<object> => {
    try {
      const { scripts } = await evaluation.evaluate(tx, additional, () => task.isCancelled);
      return { EvaluationResult: unitsJson(scripts, answers) };
    } catch (error) {
      if (!isUnspentError(error, 'SCRIPT_FAILED') && !isUnspentError(error, 'OUTPUT_UNKNOWN')) throw error;
      return { EvaluationFailure: failureJson(error, answers) };
    }
  };
  // Blockfrost's own clients take any success, that of Mesh wants 200, that of Yaci 202.
  const status = answers.isYaci ? 202 : 200;
  app.post('/utils/txs/evaluate', options, async (request, reply) => {
    return answers.send(reply, ogmiosReply(await result(request, txBytes(request.body), [])), status);
  });
  app.post('/utils/txs/evaluate/utxos', options, async (request, reply) => {
    const { cbor, additional } = readUtxoSet(request.body);
    return answers.send(reply, ogmiosReply(await result(request, txBytes(cbor), additional)), status);
  });
}

function ogmiosReply(result: object): object {
  return { type: 'jsonwsp/response', version: '1.0', servicename: 'ogmios', methodname: 'EvaluateTx', result, reflection: null };
}

function unitsJson(scripts: readonly ScriptUnits[], answers: BlockfrostAnswers): object {
  return Object.fromEntries(
    scripts.map(({ purpose, index, units }) => [
      nameOf(purpose, index, answers),
      { memory: Number(units.memory), steps: Number(units.steps) },
    ]),
  );
}

/** The script that fails, where it is known. */
function failureJson({ meta, message }: UnspentError, answers: BlockfrostAnswers): object {
  const { purpose, index } = meta as { readonly purpose?: ScriptPurpose; readonly index?: number };
  if (purpose === undefined || index === undefined) return { CannotCreateEvaluationContext: { reason: message } };
  return { ScriptFailures: { [nameOf(purpose, index, answers)]: [{ validatorFailed: { error: message, traces: [] } }] } };
}

function nameOf(purpose: ScriptPurpose, index: number, { isYaci }: BlockfrostAnswers): string {
  return `${isYaci && purpose === 'withdraw' ? 'reward' : PURPOSES[purpose]}:${index}`;
}
