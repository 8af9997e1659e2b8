/**
 * The MPFS API over chains made by chance: every answer is the one that is made
 * of plain lists of outputs and facts, and a reader who knows only the root and
 * the scripts believes it, before and after a rollback.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { cage } from '../../../src/proofs/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { CageAnswers, mpfProof, unspentIn } from '../../support/cage-answers.ts';
import { encodeTx } from '../../support/cage-blocks.ts';
import { assertCageProblem, CageServed } from '../../support/cage-served.ts';
import { CageTale } from '../../support/cage-story.ts';
import { person, STRANGE_SCRIPT, tokenIdText, WORLD_CAGES, type WorldToken } from '../../support/cage-world.ts';

const joined = (token: WorldToken): string => tokenIdText(token.deployment, token.name).replace('.', '');

describe('the MPFS API', () => {
  const tale = new CageTale(11);
  let served: CageServed;

  before(async () => {
    served = await CageServed.open();
    const rich = (): WorldToken[] => [...tale.world.state.tokens.values()].filter(({ facts }) => facts.size > 1);
    while (tale.blocks.length < 400 && (rich().length < 4 || tale.world.state.tokens.size < 7)) tale.next();
    served.apply(tale.blocks.map(({ block }) => block));
  });
  after(() => served.close());

  const tokens = (): WorldToken[] => [...tale.world.state.tokens.values()];
  const model = (): CageAnswers => new CageAnswers(unspentIn(served.engine));

  /** Everything there is to ask, against the model and against the verifier. */
  async function assertAnswers(): Promise<void> {
    const answers = model();
    const { slot, hash } = tale.tip;
    const snapshot = { ...answers.snapshot, chainpoint: { slot, block_id: toHex(hash) } };
    for (const deployment of WORLD_CAGES) {
      const policy = toHex(deployment.stateScriptHash);
      const said = (await served.get(`/tokens?policy=${policy}`)).json();
      assert.deepEqual(said, { snapshot, tokens: answers.set(cage.scriptAddress(deployment.stateScriptHash, 'testnet')) });
      const verdict = cage.verifyTokensAnswer(said, { root: answers.root, deployment, network: 'testnet' });
      assert.ok(verdict.ok);
      const known = tokens().filter((token) => token.deployment === deployment);
      assert.deepEqual(verdict.tokens.map(({ token }) => toHex(token)).sort(), known.map(({ name }) => name).sort());
    }
    for (const token of tokens()) await assertToken(token, answers, snapshot);
  }

  async function assertToken(token: WorldToken, answers: CageAnswers, snapshot: object): Promise<void> {
    const id = joined(token);
    const name = fromHex(token.name);
    const trusted: cage.CageTrust = { root: answers.root, deployment: token.deployment, network: 'testnet' };
    const state = answers.utxo(token.stateRef);
    assert.deepEqual((await served.get(`/tokens/${id}`)).json(), { snapshot, state });
    assert.equal((await served.get(`/tokens/${id}/root`)).json(), token.root);
    await assertRequests(token, answers, trusted);
    if (token.status !== 'consistent') {
      for (const path of ['facts', 'facts/00', 'proofs/00'])
        assertCageProblem(await served.get(`/tokens/${id}/${path}`), 'TRIE_DIVERGED', 409, /token/);
      return;
    }
    const facts = (await served.get(`/tokens/${id}/facts`)).json();
    const sorted = [...token.facts].map(([key, value]) => ({ key, value })).sort((a, b) => (a.key < b.key ? -1 : 1));
    assert.deepEqual(facts, { snapshot, state, facts: sorted });
    assert.ok(cage.verifyFactsAnswer(facts, trusted, name).ok);
    for (const [key, value] of token.facts) {
      const fact = (await served.get(`/tokens/${id}/facts/${key}`)).json();
      if (key === '') continue;
      assert.deepEqual(fact, { snapshot, value, fact: { mpf_proof: mpfProof(token.facts, key), state } });
      assert.ok(cage.verifyFactAnswer(fact, trusted, name, fromHex(key)).ok);
    }
    const absent = (await served.get(`/tokens/${id}/proofs/fe01`)).json();
    assert.ok(cage.verifyAbsenceAnswer(absent, trusted, name, fromHex('fe01')).ok);
    assertCageProblem(await served.get(`/tokens/${id}/facts/fe01`), 'NOT_FOUND', 404, /has no key fe01/);
  }

  async function assertRequests(token: WorldToken, answers: CageAnswers, trusted: cage.CageTrust): Promise<void> {
    const script = tale.world.requestScriptOf(token);
    const answer = await served.get(`/tokens/${joined(token)}/requests`);
    if (script === STRANGE_SCRIPT) {
      assertCageProblem(answer, 'UNSUPPORTED', 501, /cage\.deployments/);
      return;
    }
    const said = answer.json<{ requests: { utxo: object }[]; request_set: object }>();
    assert.deepEqual(said.request_set, answers.set(cage.scriptAddress(fromHex(script), 'testnet')));
    const verdict = cage.verifyRequestsAnswer(said, trusted, fromHex(token.name));
    assert.ok(verdict.ok, verdict.ok ? '' : verdict.why);
    const bare = token.deployment.version === 'v0';
    const wanted = [...tale.world.state.requests].filter(
      ([, each]) => each.token === token.name && each.script === script && each.bare === bare,
    );
    assert.deepEqual(verdict.requests.map(({ txId, index }) => `${toHex(txId)}#${index}`).sort(), wanted.map(([ref]) => ref).sort());
  }

  test('answers what the chain says, and a reader with the root alone believes it', async () => {
    assert.ok(tokens().length >= 7);
    await assertAnswers();
    const [token] = tokens().filter(({ deployment }) => deployment === WORLD_CAGES[2]);
    if (token !== undefined) assert.equal((await served.get(`/tokens/${token.name}/root`)).json(), token.root);
  });

  test('the same after a rollback, and for blocks that came instead', async () => {
    const depth = 5;
    tale.back(depth);
    served.fold.rollback(tale.tip);
    served.reads.moved();
    await assertAnswers();
    for (let i = 0; i < 8; i++) served.apply([tale.next().block]);
    await assertAnswers();
  });

  test('a client that has the answer is told so', async () => {
    const first = await served.get('/tokens');
    assert.equal(first.headers['x-block-hash'], toHex(tale.tip.hash));
    const again = await served.get('/tokens', { 'if-none-match': first.headers['etag']! });
    assert.equal(again.status, 304);
  });

  test('outputs, their proofs, the root and the status are of the same block', async () => {
    const answers = model();
    const root = toHex(answers.root!);
    assert.equal((await served.get('/utxo/root')).json(), root);
    const status = (await served.get('/status')).json();
    assert.deepEqual(status['checkpoint_block_id'], toHex(tale.tip.hash));
    assert.equal(status['utxo_root'], root);
    const [{ stateRef }] = tokens();
    const { utxo } = answers.utxo(stateRef);
    const path = `/utxo/${stateRef.replace('#', '/')}`;
    assert.equal((await served.get(path)).json(), utxo.tx_out);
    assert.deepEqual((await served.get(`${path}/proof`)).json()['utxo'], utxo);
    assertCageProblem(await served.get(`/utxo/${'00'.repeat(32)}/0`), 'NOT_FOUND', 404, /never was/);
  });

  test('a key that is asked for and not applied yet is 404, and says that it is pending', async () => {
    const pending = [...tale.world.state.requests].find(([, { token, operation, key, script, bare }]) => {
      const known = tokens().find(
        ({ name, status, deployment }) => name === token && status === 'consistent' && (deployment.version === 'v0') === bare,
      );
      return operation.type === 'insert' && script !== null && key !== '' && known?.facts.has(key) === false;
    });
    assert.ok(pending, 'the chain has such a request');
    const [ref, { token, key }] = pending;
    const answer = await served.get(`/tokens/${joined(tokens().find(({ name }) => name === token)!)}/facts/${key}`);
    assertCageProblem(answer, 'NOT_FOUND', 404, /is pending until the owner of the token applies it/);
    assert.ok(ref.length > 64);
  });

  test('what is no token, or no longer one, is said', async () => {
    assertCageProblem(await served.get(`/tokens/${'ab'.repeat(32)}`), 'NOT_FOUND', 404, /there is no token/);
    assertCageProblem(await served.get('/tokens/xyz'), 'USAGE', 400, /./);
    assertCageProblem(await served.get(`/tokens?policy=${'ff'.repeat(28)}`), 'NOT_FOUND', 404, /no cage with the policy/);
  });

  test('only what touches a cage is submitted', async () => {
    const { random } = tale.world.maker;
    const txOf = (outputs: Parameters<typeof encodeTx>[0]['outputs'], inputs: string[]): string => {
      const w = new CborWriter(65_536).array(4).raw(encodeTx({ inputs, outputs }, random));
      return toHex(w.map(0).raw(Uint8Array.of(0xf5, 0xf6)).take());
    };
    const fund = `${tale.world.fundsTx}#1499`;
    const plain = [{ address: `key:${person(9)}`, value: { lovelace: 1_000_000 } }];
    const other = await served.post('/submit', { signedTxCbor: txOf(plain, [fund]) });
    assertCageProblem(other, 'USAGE', 400, /touches no cage/);
    assertCageProblem(await served.post('/submit', { signedTxCbor: '00' }), 'USAGE', 400, /no transaction/);
    assert.equal(served.submitted.length, 0);
    const spends = txOf(plain, [tokens()[0].stateRef]);
    assert.deepEqual((await served.post('/submit', { signedTxCbor: spends })).json(), { txId: '07'.repeat(32) });
    const pays = txOf([{ address: `script:${toHex(WORLD_CAGES[0].stateScriptHash)}`, value: { lovelace: 1_000_000 } }], [fund]);
    assert.equal((await served.post('/v0/transaction', { signedTransaction: pays })).json()['txHash'], '07'.repeat(32));
    assert.deepEqual(
      served.submitted.map((raw) => toHex(raw)),
      [spends, pays],
    );
  });

  test('a transaction is waited for until it is in a block, or the time is over', async () => {
    const waiting = served.get(`/tx/${'cd'.repeat(32)}?timeout=0`);
    assertCageProblem(await waiting, 'TX_NOT_SEEN', 408, /in no block yet/);
    const { height } = tale.tip;
    const wait = served.get('/v0/wait/1');
    let answered = false;
    const said = wait.finally(() => {
      answered = true;
    });
    // The first block that comes after the question was heard answers it.
    while (!answered) {
      served.apply([tale.next(1).block]);
      await setImmediate();
    }
    const waited = (await said).json<{ height: number }>().height;
    assert.ok(waited > height && waited <= tale.tip.height);
    const [{ stateRef }] = tokens();
    const [tx] = stateRef.split('#');
    assert.equal((await served.get(`/tx/${tx}`)).json()['tx_id'], tx);
    assert.equal((await served.get(`/v0/transaction?txHash=${tx}`)).json()['txHash'], tx);
  });

  test('v0: tokens, requests and facts, with text where bytes are text', async () => {
    const known = tokens().filter(({ deployment }) => deployment.version === 'v0');
    const { tokens: listed } = (await served.get('/v0/tokens')).json<{ tokens: { tokenId: string; current: object }[] }>();
    const current = ({ owner, root, stateRef }: WorldToken): object => ({
      state: { owner, root },
      outputRefId: stateRef.replace('#', '-'),
    });
    assert.deepEqual(
      listed.map(({ tokenId, current: said }) => [tokenId, said]).sort(),
      known.map((token) => [token.name, current(token)]).sort(),
    );
    for (const token of known) {
      const said = (await served.get(`/v0/token/${token.name}`)).json<{ requests: unknown[] }>();
      const wanted = [...tale.world.state.requests].filter(([, each]) => each.token === token.name && each.bare && each.script !== null);
      assert.equal(said.requests.length, wanted.length);
      if (token.status === 'incomplete') continue;
      const facts = (await served.get(`/v0/token/${token.name}/facts`)).json<Record<string, { value: string }>>();
      const bytes = (text: string): string => (text.startsWith('0x') ? text.slice(2) : Buffer.from(text).toString('hex'));
      assert.deepEqual(
        Object.entries(facts)
          .map(([key, { value }]) => [bytes(key), bytes(value)])
          .sort(),
        [...token.facts].sort(),
      );
    }
    const { policyId } = (await served.get('/v0/config')).json();
    assert.equal(policyId, toHex(WORLD_CAGES[0].stateScriptHash));
    assertCageProblem(await served.get(`/v0/token/${'ab'.repeat(32)}`), 'NOT_FOUND', 404, /no token/);
  });
});

test('without the tree over the unspent set there are no proofs, and the setting is named', async () => {
  const served = await CageServed.open({ csmt: false });
  const tale = new CageTale(11);
  for (let i = 0; i < 12; i++) tale.next();
  served.apply(tale.blocks.map(({ block }) => block));
  for (const path of ['/tokens', '/status', '/utxo/root']) assertCageProblem(await served.get(path), 'UNSUPPORTED', 501, /proofs\.csmt/);
  assert.equal((await served.get('/v0/tokens')).status, 200);
  await served.close();
});
