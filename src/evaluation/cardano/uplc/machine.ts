/**
 * Runs the scripts of a transaction with the machine of `@lucid-evolution/uplc`,
 * which is Aiken's, compiled to WebAssembly (docs/adr/0053). It works out the
 * context of each script itself and stops at the first that fails, and at the
 * latest when the units that a transaction may use are used up.
 */
import { eval_phase_two_raw } from '@lucid-evolution/uplc';
import type { ExecutionUnits } from '../../../ledgers/cardano/protocol-parameters.ts';
import { Cursor } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { SCRIPT_PURPOSES, type ScriptName, type ScriptUnits, scriptFailed } from '../outcome.ts';
import type { EvaluationRequest } from '../request.ts';

/** How the machine's messages name what a script runs for, in the order of `SCRIPT_PURPOSES`. */
const MACHINE_PURPOSES = ['Spend', 'Mint', 'Cert', 'Reward', 'Vote', 'Propose'];

/** Throws SCRIPT_FAILED. Any other error leaves the machine in a state that it cannot be used in again. */
export function runScripts({ tx, outputs, costModels, unitsMax, clock }: EvaluationRequest): ScriptUnits[] {
  try {
    const redeemers = eval_phase_two_raw(
      tx,
      outputs.map(({ txId, index }) => new CborWriter(48).array(2).bytes(txId).uint(index).take()),
      outputs.map(({ output }) => output),
      encodeCostModels(costModels),
      unitsMax.steps,
      unitsMax.memory,
      BigInt(clock.ms),
      BigInt(clock.slot),
      clock.slotMs,
    );
    return redeemers.map(readRedeemer);
  } catch (error) {
    // What the machine finds wrong it throws as text; what breaks it is an error of WebAssembly.
    if (typeof error !== 'string') throw error;
    throw refusal(error);
  }
}

function encodeCostModels(costModels: EvaluationRequest['costModels']): Uint8Array {
  const w = new CborWriter(4096).map(costModels.size);
  for (const [language, model] of costModels) {
    w.uint(language).array(model.length);
    for (const cost of model) w.int(cost);
  }
  return w.take();
}

/** `[purpose, index, data, [memory, steps]]`. */
function readRedeemer(redeemer: Uint8Array): ScriptUnits {
  const c = new Cursor(redeemer);
  const fields = c.tuple(4, 'a redeemer');
  const [purpose, index] = [SCRIPT_PURPOSES[c.uint()], c.uint()];
  c.skip();
  const pair = c.tuple(2, 'execution units');
  const units: ExecutionUnits = { memory: c.bigUint(), steps: c.bigUint() };
  c.close(pair);
  c.close(fields);
  return { purpose, index, units };
}

/** `... Spend[0] why`, with what it traced below. */
function refusal(text: string): Error {
  const [, what, index, why] = /\b([A-Z][a-z]+)\[(\d+)\]\s+(.*)$/s.exec(text) ?? [];
  const purpose = MACHINE_PURPOSES.indexOf(what ?? '');
  const script: ScriptName | null = purpose < 0 ? null : { purpose: SCRIPT_PURPOSES[purpose], index: Number(index) };
  return scriptFailed(script, (script === null ? text : why).replaceAll(/\s*\n\s*/g, '; ').trim());
}
