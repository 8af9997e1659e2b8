/**
 * The thread in which scripts run: takes requests one after the other and
 * answers each with units or with why there are none. Started and, when a script
 * breaks the machine or takes too long, ended by `evaluator.ts`.
 */
import { parentPort } from 'node:worker_threads';
import { assert, isUnspentError } from '../../util/errors.ts';
import { type Failure, failureOf } from '../../util/failure.ts';
import { loadMachine } from './load-machine.ts';
import { type ScriptUnits, scriptFailed } from './outcome.ts';
import type { EvaluationRequest } from './request.ts';

export type WorkerAnswer =
  /** The machine is there, and the scripts run from now on. */
  | { readonly hasBegun: true }
  | { readonly units: readonly ScriptUnits[] }
  /** `isBroken`: the machine cannot be used again. */
  | { readonly failure: Failure; readonly isBroken: boolean };

const port = parentPort;
assert(port !== null, 'this runs in a thread of its own');
port.on('message', async (request: EvaluationRequest) => port.postMessage(await answerTo(request)));

async function answerTo(request: EvaluationRequest): Promise<WorkerAnswer> {
  try {
    const { runScripts } = await loadMachine();
    port?.postMessage({ hasBegun: true } satisfies WorkerAnswer);
    return { units: runScripts(request) };
  } catch (error) {
    if (isUnspentError(error)) return { failure: failureOf(error), isBroken: false };
    return { failure: failureOf(scriptFailed(null, `they break the machine: ${(error as Error).message}`)), isBroken: true };
  }
}
