/**
 * What clients get to build transactions with, through the phases of a request:
 * proofs that lead from the root on chain to the one after, slots that the
 * scripts accept, and conflicts that say what stands in the way.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CageOperation } from '../../../src/ledgers/cardano/cage/index.ts';
import type { Point } from '../../../src/ledgers/ledger.ts';
import { cage, mpf } from '../../../src/proofs/index.ts';
import { fromHex, toHex, utf8 } from '../../../src/util/bytes.ts';
import { CageAnswers, unspentIn } from '../../support/cage-answers.ts';
import { CageBlocks, type DrawnTx, sortedRefs } from '../../support/cage-blocks.ts';
import { assertCageProblem, CageServed } from '../../support/cage-served.ts';
import { CageWorld, person, type TxDraft, WORLD_CAGES, type WorldToken } from '../../support/cage-world.ts';

const CAGE_V2 = WORLD_CAGES[2];
const WALLET = `60${person(9)}`;

interface UpdateFacts {
  readonly snapshot: object;
  readonly wallet: { readonly entries: readonly object[] };
  readonly state: object;
  readonly requests: readonly { readonly request: { readonly key: string } }[];
  readonly actions: readonly { readonly ref: string; readonly mpf_proof: string; readonly root: string }[];
  readonly left_out: readonly { readonly ref: string; readonly why: string }[];
  readonly new_root: string;
  readonly validity: { readonly invalid_before: number | null; readonly invalid_hereafter: number | null };
}

describe('facts to build transactions with', () => {
  const maker = new CageBlocks(3);
  let served: CageServed;
  let world: CageWorld;
  let tip: Point | null = null;
  let token: WorldToken;

  /** A block at a slot with what the deeds make. */
  function mine(slot: number, ...deeds: ((draft: TxDraft) => void)[]): void {
    const made = deeds.map((deed) => {
      const draft = world.draft();
      deed(draft);
      return world.finish(draft);
    });
    const block = maker.block(
      tip,
      slot,
      made.map(({ tx }) => tx),
      made.map(({ body }) => body),
    );
    tip = block;
    served.apply([block]);
  }
  const current = (): WorldToken => [...world.state.tokens.values()].find(({ name }) => name === token.name)!;
  const ask = (draft: TxDraft, key: string, operation: CageOperation): void => {
    world.ask(draft, {
      token: token.name,
      owner: person(4),
      key: toHex(utf8(key)),
      operation,
      bare: false,
      script: world.requestScriptOf(token),
    });
  };
  const refs = (): string[] => [...world.state.requests.keys()];

  before(async () => {
    served = await CageServed.open();
    const funds: DrawnTx = {
      inputs: [],
      outputs: Array.from({ length: 40 }, () => ({ address: `key:${person(9)}`, value: { lovelace: 5_000_000 } })),
    };
    const { body, id } = maker.encode(funds);
    world = new CageWorld(maker, id, 40);
    tip = maker.block(null, 1, [funds], [body]);
    served.apply([tip as Parameters<CageServed['apply']>[0][number]]);
    mine(5, (draft) => {
      token = world.boot(draft, CAGE_V2, person(1));
    });
    mine(10, (draft) => {
      ask(draft, 'a', { type: 'insert', value: utf8('1') });
      ask(draft, 'b', { type: 'insert', value: utf8('2') });
      ask(draft, 'gone', { type: 'delete', value: utf8('3') });
    });
  });
  after(() => served.close());

  test('boot: what can pay, and where the state goes', async () => {
    const said = (await served.post('/facts/boot', { address: WALLET })).json();
    const answers = new CageAnswers(unspentIn(served.engine));
    assert.deepEqual(said['wallet'], answers.set(fromHex(WALLET)));
    assert.equal(said['policy'], toHex(CAGE_V2.stateScriptHash));
  });

  test('a request: the value that the key has, with its proof', async () => {
    const body = { token: token.name, key: toHex(utf8('a')), value: '31', address: WALLET };
    const said = (await served.post('/facts/request/insert', body)).json<{
      fact: { value: null; mpf_proof: string };
      request_address: string;
    }>();
    assert.equal(said.fact.value, null);
    assert.equal(said.request_address, `70${world.requestScriptOf(token)}`);
    assert.ok(mpf.verifyAbsence(new Uint8Array(32), utf8('a'), mpf.decode(fromHex(said.fact.mpf_proof))).ok);
  });

  test('update: all that fit, in ledger order, each proof leading to the next root', async () => {
    const said = (await served.post('/facts/update', { token: token.name, address: WALLET })).json<UpdateFacts>();
    assert.equal(said.actions.length, 2);
    assert.deepEqual(
      said.actions.map(({ ref }) => ref),
      sortedRefs(said.actions.map(({ ref }) => ref)),
    );
    assert.match(said.left_out[0].why, /there is no such key/);
    const answers = new CageAnswers(unspentIn(served.engine));
    const trusted: cage.CageTrust = { root: answers.root, deployment: CAGE_V2, network: 'testnet' };
    assert.ok(cage.verifyStateAnswer(said, trusted, fromHex(token.name)).ok);
    let root: Uint8Array = fromHex(current().root);
    said.actions.forEach(({ ref, mpf_proof: proof, root: next }, i) => {
      const { key, operation } = world.state.requests.get(ref)!;
      assert.equal(said.requests[i].request.key, key);
      const made = mpf.rootAfterInsert(root, fromHex(key), (operation as { value: Uint8Array }).value, mpf.decode(fromHex(proof)));
      assert.ok(made.ok && toHex(made.root) === next);
      root = fromHex(next);
    });
    assert.equal(said.new_root, toHex(root));
    // Submitted at 1 s, applicable for 60 s: before slot 61, but the horizon is 30 slots ahead.
    assert.deepEqual(said.validity, { invalid_before: null, invalid_hereafter: 40 });
  });

  test('update: exactly the wanted ones, or a conflict', async () => {
    const [first, , gone] = refs();
    const only = (await served.post('/facts/update', { token: token.name, address: WALLET, requests: [first] })).json<UpdateFacts>();
    assert.deepEqual(
      only.actions.map(({ ref }) => ref),
      [first],
    );
    const body = { token: token.name, address: WALLET, requests: [first, gone] };
    assertCageProblem(await served.post('/facts/update', body), 'CAGE_CONFLICT', 409, /cannot be applied: the delete of .* no such key/);
    const unknown = `${'ab'.repeat(32)}#0`;
    assertCageProblem(await served.post('/facts/update', { ...body, requests: [unknown] }), 'CAGE_CONFLICT', 409, /there is no request/);
  });

  test('what is too early, and an end with requests pending, are conflicts that say so', async () => {
    const [first] = refs();
    const end = await served.post('/facts/end', { token: token.name, address: WALLET });
    assertCageProblem(end, 'CAGE_CONFLICT', 409, /3 requests for the token are pending/);
    const retract = await served.post('/facts/retract', { utxo: first, address: WALLET });
    assertCageProblem(retract, 'CAGE_CONFLICT', 409, /can be retracted from 1970-01-01T00:01:01/);
    const reject = { token: token.name, address: WALLET, requests: [first] };
    assertCageProblem(await served.post('/facts/reject', reject), 'CAGE_CONFLICT', 409, /in the phase 'process'/);
  });

  test('then retract, then reject, each with its slots', async () => {
    const [first] = refs();
    mine(70);
    const retract = (await served.post('/facts/retract', { utxo: first, address: WALLET })).json<UpdateFacts>();
    assert.deepEqual(retract.validity, { invalid_before: 61, invalid_hereafter: 100 });
    assert.equal((await served.post('/facts/update', { token: token.name, address: WALLET })).json<UpdateFacts>().actions.length, 0);
    mine(130);
    assertCageProblem(await served.post('/facts/retract', { utxo: first, address: WALLET }), 'CAGE_CONFLICT', 409, /which is over/);
    const reject = (await served.post('/facts/reject', { token: token.name, address: WALLET })).json<UpdateFacts>();
    assert.equal(reject.requests.length, 3);
    assert.deepEqual(reject.validity, { invalid_before: 121, invalid_hereafter: null });
  });

  test('a token without requests can end', async () => {
    mine(140, (draft) => world.modify(draft, current(), new Map(refs().map((ref) => [ref, 'reject'])), person(1)));
    const said = await served.post('/facts/end', { token: token.name, address: WALLET });
    assert.equal(said.status, 200, said.text);
    assertCageProblem(
      await served.post('/facts/retract', { utxo: `${'ab'.repeat(32)}#0`, address: WALLET }),
      'NOT_FOUND',
      404,
      /no request/,
    );
  });
});
