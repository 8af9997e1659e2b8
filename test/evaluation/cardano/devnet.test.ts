/**
 * What the devnet does with scripts, held against machines that run them: its
 * valid transactions succeed within the units that they declare, its invalid
 * ones fail, in ours and in a second machine alike, and a foreign library
 * understands its scripts and comes to the same hash of script data.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as csl from '@emurgo/cardano-serialization-lib-nodejs';
import { COST_MODELS } from '../../../src/chains/cardano/devnet/cost-models.ts';
import { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import type { ModelUtxo } from '../../../src/chains/cardano/devnet/model.ts';
import { encodeConwayParameters } from '../../../src/chains/cardano/devnet/parameters.ts';
import { loadMachine } from '../../../src/evaluation/cardano/load-machine.ts';
import { evaluationRequest } from '../../../src/evaluation/cardano/request.ts';
import { describeOutput, readScriptRef } from '../../../src/ledgers/cardano/describe.ts';
import { networkFromGenesis } from '../../../src/ledgers/cardano/networks.ts';
import { decodeProtocolParameters } from '../../../src/ledgers/cardano/protocol-parameters.ts';
import { outpointIndex, outpointTxId } from '../../../src/ledgers/outpoint.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { Cursor } from '../../../src/util/cbor.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { runInScalus } from '../../support/script-tx.ts';

const BLOCKS = 150;
const DECLARED = { memory: 20_000n, steps: 10_000_000n };

// The second machine does not read maps and lists of open length.
const chain = new DevnetChain({ seed: 5, scripts: true, features: { indefinite: 0 } });
for (let i = 0; i < BLOCKS; i++) chain.mine();
const everything = new Map<string, ModelUtxo>(chain.utxosAt(0));
for (const { txs } of chain.blocks) for (const { creates } of txs) for (const utxo of creates) everything.set(utxo.key, utxo);

/** `[body, witnesses, valid, null]` of each transaction that runs scripts, which those have whose witnesses name redeemers. */
function* scriptTxs(): Generator<{ readonly tx: Uint8Array; readonly valid: boolean }> {
  for (const { raw, txs } of chain.blocks) {
    const c = new Cursor(raw);
    c.array();
    c.uint();
    c.array();
    c.skip();
    const [bodies, witnesses] = [items(c), items(c)];
    for (const [i, { valid }] of txs.entries()) {
      const parsed = csl.TransactionWitnessSet.from_bytes(witnesses[i]);
      if (parsed.redeemers() === undefined) continue;
      yield { tx: new CborWriter(4096).array(4).raw(bodies[i]).raw(witnesses[i]).bool(valid).null().take(), valid };
    }
  }
}

function items(c: Cursor): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let i = 0, count = c.array(); c.more(count, i); i++) {
    const start = c.at;
    c.skip();
    found.push(c.bytes.subarray(start, c.at));
  }
  return found;
}

describe('scripts of the devnet', () => {
  it('succeed where their transaction is valid, and fail where it is not', async () => {
    const { runScripts } = await loadMachine();
    const network = networkFromGenesis('devnet', chain.genesisByron, chain.genesisShelley);
    const parameters = decodeProtocolParameters(encodeConwayParameters());
    const ground = {
      outpoints: (keys: readonly Uint8Array[]) =>
        keys.map((key) => ({ spent: null, output: { raw: everything.get(`${toHex(outpointTxId(key))}#${outpointIndex(key)}`)!.output } })),
    };
    const seen = { valid: 0, invalid: 0 };
    for (const { tx, valid } of scriptTxs()) {
      seen[valid ? 'valid' : 'invalid']++;
      const request = evaluationRequest(ground, tx, { parameters, network });
      if (!valid) {
        assert.throws(
          () => runScripts(request),
          (error) => isUnspentError(error, 'SCRIPT_FAILED') && error.meta['purpose'] === 'spend',
        );
        assert.throws(() => runInScalus(request));
        continue;
      }
      const units = runScripts(request);
      assert.equal(units.length, 1);
      const [{ purpose, index, units: used }] = units;
      assert.ok(used.memory <= DECLARED.memory && used.steps <= DECLARED.steps);
      assert.deepEqual(runInScalus(request), [`${purpose}:${index} ${used.memory} ${used.steps}`]);
    }
    assert.ok(seen.valid > 20 && seen.invalid > 3, JSON.stringify(seen));
    for (const deed of ['publish', 'lock', 'unlock', 'fail', 'mint']) assert.ok(chain.scriptCounts.get(deed)! > 0, deed);
  });

  it('are bound to their transaction by the hash that a foreign library computes', () => {
    for (const { tx: bytes } of scriptTxs()) {
      const tx = csl.Transaction.from_bytes(bytes);
      const witnesses = tx.witness_set();
      // Which language it is, the library is told: there is one in each transaction.
      const candidates = [0, 1, 2].map((language) =>
        csl.hash_script_data(witnesses.redeemers()!, costModelOf(language), witnesses.plutus_data()).to_hex(),
      );
      assert.ok(candidates.includes(tx.body().script_data_hash()!.to_hex()), tx.body().to_hex());
    }
  });

  it('can be parsed, those of reference outputs too', () => {
    let found = 0;
    for (const { output } of everything.values()) {
      const { scriptRef } = describeOutput(output);
      if (scriptRef === null) continue;
      const { kind, script } = readScriptRef(scriptRef);
      if (kind === 0) continue;
      found++;
      // A witness holds a byte string in which there is the byte string of the program.
      const inner = new Cursor(csl.PlutusScript.from_bytes(new CborWriter(script.length + 8).bytes(script).take()).bytes());
      assert.equal(inner.byteString()[0], 1, 'programs are of version 1');
    }
    assert.ok(found > 5);
  });
});

function costModelOf(language: number): csl.Costmdls {
  const model = csl.CostModel.new();
  COST_MODELS.get(language)!.forEach((cost, i) => {
    model.set(i, csl.Int.from_str(cost.toString()));
  });
  const models = csl.Costmdls.new();
  models.insert([csl.Language.new_plutus_v1, csl.Language.new_plutus_v2, csl.Language.new_plutus_v3][language](), model);
  return models;
}
