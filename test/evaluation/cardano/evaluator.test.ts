/**
 * The thread in which scripts run: it answers, and what breaks it or takes too
 * long costs that one transaction and nobody else's.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { LiveDevnet } from '../../../src/chains/cardano/devnet/live.ts';
import { encodeConwayParameters } from '../../../src/chains/cardano/devnet/parameters.ts';
import { fails, type PlutusProgram, succeeds } from '../../../src/chains/cardano/devnet/programs.ts';
import { Evaluator } from '../../../src/evaluation/cardano/evaluator.ts';
import { loadMachine } from '../../../src/evaluation/cardano/load-machine.ts';
import { type EvaluationRequest, evaluationRequest } from '../../../src/evaluation/cardano/request.ts';
import { decodeProtocolParameters } from '../../../src/ledgers/cardano/protocol-parameters.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { EVALUATIONS_MAX } from '../../../src/util/limits.ts';
import { integer, outputOf, policyOf, scriptTx } from '../../support/script-tx.ts';

const parameters = decodeProtocolParameters(encodeConwayParameters());
const { network } = new LiveDevnet({ seed: 1 });
const coin = outputOf(9);
const NOTHING = { outpoints: (keys: readonly Uint8Array[]) => keys.map(() => null) };
/** Force and delay, nested deeper than the machine's stack: it traps. */
const BREAKS = policyOf(`${'01010001'.repeat(8000)}0100100110`);
/** A function applied to itself, which applies what it is given to itself. */
const ENDLESS = policyOf(`0011${'00100011000000000001000000000001'.repeat(2)}`);

function minting(policy: PlutusProgram): EvaluationRequest {
  const tx = scriptTx({ inputs: [coin], mint: [policy], scripts: [policy], redeemers: [[1, 0, integer(0)]] });
  return evaluationRequest(NOTHING, tx, { parameters, network, additional: [coin] });
}

const isFailure = (pattern: RegExp) => (error: unknown) => isUnspentError(error, 'SCRIPT_FAILED') && pattern.test(error.message);

describe('an evaluator', () => {
  const evaluator = new Evaluator();
  after(() => evaluator.close());

  it('says what scripts use, and which one fails', async () => {
    assert.deepEqual(await evaluator.evaluate(minting(succeeds(3))), [
      { purpose: 'mint', index: 0, units: { memory: 800n, steps: 112_100n } },
    ]);
    await assert.rejects(evaluator.evaluate(minting(fails(3))), isFailure(/^the script of mint 0 fails: /));
  });

  it('goes on behind a script that breaks the machine', async () => {
    const all = [succeeds(2), BREAKS, succeeds(2)].map((policy) => evaluator.evaluate(minting(policy)));
    const [before, broken, behind] = await Promise.allSettled(all);
    assert.equal(before.status, 'fulfilled');
    assert.ok(broken.status === 'rejected' && isFailure(/break the machine/)(broken.reason));
    assert.deepEqual(behind, before);
  });

  it('gives up those that wait when whoever asked is gone, and lets others take their place', async () => {
    let isGone = false;
    const all = Array.from({ length: EVALUATIONS_MAX + 1 }, () => evaluator.evaluate(minting(succeeds(2)), () => isGone));
    const settled = Promise.allSettled(all);
    isGone = true;
    assert.equal((await evaluator.evaluate(minting(succeeds(2)))).length, 1);
    const [begun, ...waited] = await settled;
    assert.equal(begun.status, 'fulfilled');
    assert.ok(waited.every((result) => result.status === 'rejected' && isUnspentError(result.reason, 'CLOSED')));
  });

  it('lets only so many wait', async () => {
    const all = Array.from({ length: EVALUATIONS_MAX + 2 }, () => evaluator.evaluate(minting(succeeds(2))));
    const results = await Promise.allSettled(all);
    const refused = results.filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 1);
    assert.ok(refused[0].status === 'rejected' && isUnspentError(refused[0].reason, 'BUSY'));
  });
});

describe('an evaluator with too little time', () => {
  it('ends the thread, and says so', async () => {
    const hurried = new Evaluator({ msMax: 50 });
    const endless = { ...minting(ENDLESS), unitsMax: { memory: 1n << 60n, steps: 1n << 60n } };
    await assert.rejects(hurried.evaluate(endless), isFailure(/take longer than 0.05 s/));
    await hurried.close();
    await assert.rejects(hurried.evaluate(minting(succeeds(2))), (error) => isUnspentError(error, 'CLOSED'));
  });

  it('tells those who wait when it is closed', async () => {
    const evaluator = new Evaluator();
    const results = Promise.allSettled([1, 2].map(() => evaluator.evaluate(minting(succeeds(2)))));
    await evaluator.close();
    for (const result of await results) assert.ok(result.status === 'rejected' && isUnspentError(result.reason, 'CLOSED'));
  });
});

describe('the machine', () => {
  it('is asked for by name where it is not installed', async () => {
    const missing = Object.assign(new Error("Cannot find package '@lucid-evolution/uplc' imported from here"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    await assert.rejects(
      loadMachine(() => Promise.reject(missing)),
      (error) => isUnspentError(error, 'UNSUPPORTED') && error.message.includes('npm install @lucid-evolution/uplc'),
    );
  });
});
