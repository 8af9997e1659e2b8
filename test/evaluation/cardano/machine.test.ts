/**
 * Scripts of hand-made transactions, in each language and for each purpose that
 * the programs know, run in our machine and in a second one that shares nothing
 * with it: both come to the same units, and refuse the same.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COST_MODELS } from '../../../src/chains/cardano/devnet/cost-models.ts';
import { LiveDevnet } from '../../../src/chains/cardano/devnet/live.ts';
import { encodeConwayParameters } from '../../../src/chains/cardano/devnet/parameters.ts';
import { fails, matches, type PlutusLanguage, succeeds } from '../../../src/chains/cardano/devnet/programs.ts';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { loadMachine } from '../../../src/evaluation/cardano/load-machine.ts';
import type { ScriptUnits } from '../../../src/evaluation/cardano/outcome.ts';
import { type EvaluationRequest, evaluationRequest } from '../../../src/evaluation/cardano/request.ts';
import { decodeProtocolParameters } from '../../../src/ledgers/cardano/protocol-parameters.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { integer, outputOf, policyOf, runInScalus, type ScriptTxParts, scriptAddress, scriptTx } from '../../support/script-tx.ts';

const parameters = decodeProtocolParameters(encodeConwayParameters());
const { network } = new LiveDevnet({ seed: 1 });
const { runScripts } = await loadMachine();
const coin = outputOf(9);
const NOTHING = { outpoints: (keys: readonly Uint8Array[]) => keys.map(() => null) };

function requestOf(parts: ScriptTxParts): EvaluationRequest {
  const additional = [...parts.inputs, ...(parts.references ?? [])];
  return evaluationRequest(NOTHING, scriptTx(parts), { parameters, network, additional });
}

const text = ({ purpose, index, units }: ScriptUnits): string => `${purpose}:${index} ${units.memory} ${units.steps}`;

/** The units that both machines come to. */
function unitsOf(parts: ScriptTxParts): string[] {
  const request = requestOf(parts);
  const units = runScripts(request).map(text).sort();
  assert.deepEqual(runInScalus(request), units);
  return units;
}

/** Why our machine refuses, once the other has refused, too. */
function refusalOf(parts: ScriptTxParts): { readonly message: string; readonly meta: Readonly<Record<string, unknown>> } {
  const request = requestOf(parts);
  assert.throws(() => runInScalus(request));
  try {
    runScripts(request);
  } catch (error) {
    assert.ok(isUnspentError(error, 'SCRIPT_FAILED'), String(error));
    return error;
  }
  assert.fail('the scripts did not fail');
}

function spending(language: PlutusLanguage, redeemer: number, form: 'inline' | 'hash' | 'reference'): ScriptTxParts {
  const program = matches(language);
  const datum = integer(5);
  const locked = outputOf(1, { address: scriptAddress(program), ...(form === 'hash' ? { datumHash: blake2b256(datum) } : { datum }) });
  return {
    inputs: [locked, coin],
    ...(form === 'reference' ? { references: [outputOf(2, { script: program })] } : { scripts: [program] }),
    ...(form === 'hash' ? { datums: [datum] } : {}),
    redeemers: [[0, 0, integer(redeemer)]],
    validity: [100, 7300],
  };
}

describe('scripts', () => {
  for (const language of [1, 2, 3] as const) {
    const forms = language === 1 ? (['hash'] as const) : (['inline', 'hash', 'reference'] as const);
    for (const form of forms) {
      it(`of Plutus V${language} let an output go for its datum: ${form}`, () => {
        const units = language === 3 ? 'spend:0 7114 3476264' : 'spend:0 2402 1478692';
        assert.deepEqual(unitsOf(spending(language, 5, form)), [units]);
        const { message, meta } = refusalOf(spending(language, 6, form));
        assert.equal(meta['purpose'], 'spend');
        assert.equal(meta['index'], 0);
        assert.match(message, /^the script of spend 0 fails: /);
      });
    }

    it(`of Plutus V${language} mint and withdraw, several at once`, () => {
      const [one, two] = [succeeds(language, Uint8Array.of(1)), succeeds(language, Uint8Array.of(2))];
      const both = [one, two].sort((a, b) => Buffer.compare(a.hash, b.hash));
      const units = unitsOf({
        inputs: [coin],
        mint: both,
        withdrawals: [one],
        scripts: both,
        redeemers: [
          [1, 0, integer(0)],
          [1, 1, integer(0)],
          [3, 0, integer(0)],
        ],
      });
      assert.deepEqual(
        units.map((line) => line.split(' ')[0]),
        ['mint:0', 'mint:1', 'withdraw:0'],
      );
    });

    it(`of Plutus V${language} fail where they are written to: the one that fails is named`, () => {
      const failing = fails(language);
      const programs = [succeeds(language), failing].sort((a, b) => Buffer.compare(a.hash, b.hash));
      const { meta } = refusalOf({
        inputs: [coin],
        mint: programs,
        scripts: programs,
        redeemers: [
          [1, 0, integer(0)],
          [1, 1, integer(0)],
        ],
      });
      assert.deepEqual([meta['purpose'], meta['index']], ['mint', programs.indexOf(failing)]);
    });
  }

  it('end when the units of a transaction are used up', () => {
    const omega = policyOf('0011' + '00100011000000000001000000000001' + '00100011000000000001000000000001');
    const parts: ScriptTxParts = { inputs: [coin], mint: [omega], scripts: [omega], redeemers: [[1, 0, integer(0)]] };
    assert.throws(() => runScripts(requestOf(parts)), /mint 0 fails: execution went over budget/);
  });

  it('are missing: a transaction that does not bring its script cannot be run', () => {
    const { scripts: _, ...without } = spending(2, 5, 'inline');
    assert.match(refusalOf(without).message, /^the scripts cannot be run: missing required script/);
  });
});

describe('a request for an evaluation', () => {
  it('names every output that is not unspent', () => {
    const tx = scriptTx(spending(2, 5, 'reference'));
    assert.throws(
      () => evaluationRequest(NOTHING, tx, { parameters, network, additional: [coin] }),
      (error) => {
        assert.ok(isUnspentError(error, 'OUTPUT_UNKNOWN'));
        assert.deepEqual(error.meta['outputs'], [`${'01'.repeat(32)}#0`, `${'02'.repeat(32)}#0`]);
        return true;
      },
    );
  });

  it('is refused for bytes that are no transaction', () => {
    assert.throws(
      () => evaluationRequest(NOTHING, Uint8Array.of(0x84, 1), { parameters, network }),
      (error) => isUnspentError(error, 'USAGE'),
    );
  });

  it('has the cost models that the ledger says', () => {
    assert.deepEqual(requestOf(spending(3, 5, 'inline')).costModels, COST_MODELS);
  });
});
