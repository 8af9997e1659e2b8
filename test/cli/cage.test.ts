/**
 * `cage ...` on a store of the devnet: what each command says is what the chain
 * says, and a reader with nothing but the root believes what `prove` gives.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { cage } from '../../src/proofs/index.ts';
import { fromHex } from '../../src/util/bytes.ts';
import { document, failure, temporary, unspent } from './run.ts';

interface TokenJson {
  readonly policy: string;
  readonly token: string;
  readonly version: cage.CageVersion;
  readonly status: string;
  readonly root: string;
  readonly facts: number | null;
}

describe('unspent cage', () => {
  const data = join(temporary(), 'store');
  const ask = <T>(...args: string[]): Promise<T> => document<T>(['cage', ...args, '--data', data]);
  let tokens: readonly TokenJson[];

  before(async () => {
    const cages = ['--cage-enabled', 'true', '--cage-deployments', 'devnet', '--proofs-csmt', 'true'];
    await document(['sync', '--source', 'devnet:?blocks=250&seed=3&cages=1', '--data', data, ...cages]);
    ({ tokens } = await ask<{ tokens: TokenJson[] }>('tokens'));
  });

  test('tokens, one token, and the status agree', async () => {
    assert.ok(
      tokens.some(({ facts }) => facts !== null && facts > 0),
      'the chain has facts',
    );
    const { token } = await ask<{ token: TokenJson }>('token', tokens[0].token);
    assert.deepEqual(token, tokens[0]);
    const status = await ask<{ tokens: number; diverged: unknown[]; deployments: { policy: string }[] }>('status');
    assert.equal(status.tokens, tokens.length);
    assert.equal(status.diverged.length, tokens.filter((each) => each.status !== 'consistent').length);
    assert.ok(status.deployments.some(({ policy }) => policy === tokens[0].policy));
  });

  test('facts are all of them, and a proof of one is believed by whoever has the root', async () => {
    const { token, policy, version, facts } = tokens.find((each) => each.status === 'consistent' && each.facts! > 0)!;
    const listed = await ask<{ facts: { key: string; value: string }[]; count: number }>('facts', token);
    assert.deepEqual([listed.count, listed.facts.length], [facts, facts]);
    const { csmt } = await document<{ csmt: string }>(['root', '--data', data]);
    const deployment: cage.CageDeployment = { version, stateScriptHash: fromHex(policy), requestProgram: null };
    const trusted: cage.CageTrust = { root: fromHex(csmt), deployment, network: 'testnet' };
    const [{ key, value }] = listed.facts;
    const proof = await ask<{ value: string }>('prove', `${policy}${token}`, key);
    assert.equal(proof.value, value);
    assert.ok(cage.verifyFactAnswer(proof, trusted, fromHex(token), fromHex(key)).ok);
    const absent = await ask<object>('prove', token, 'not there', '--text');
    assert.ok(cage.verifyAbsenceAnswer(absent, trusted, fromHex(token), new TextEncoder().encode('not there')).ok);
  });

  test('requests have an operation and a phase', async () => {
    const found: { operation: { type: string }; phase: string }[] = [];
    for (const { token } of tokens) found.push(...(await ask<{ requests: typeof found }>('requests', token)).requests);
    const status = await ask<{ requests: number }>('status');
    assert.ok(found.length > 0 && found.length <= status.requests);
    for (const { operation, phase } of found) {
      assert.match(operation.type, /^(insert|delete|update)$/);
      assert.match(phase, /^(process|retract|reject|dishonest)$/);
    }
  });

  test('for people there is a line each; what is wrong is said', async () => {
    const shown = await unspent(['cage', 'tokens', '--data', data]);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, new RegExp(`^${tokens[0].token} {2}v2 {2}`, 'm'));
    assert.match(shown.stdout, /^\d+ tokens? at /m);
    await failure(['cage', 'token', 'ab'.repeat(32), '--data', data], 'NOT_FOUND', 1);
    await failure(['cage', 'prove', tokens[0].token, 'not hex', '--data', data], 'USAGE', 2);
  });
});
