/**
 * Answers about cages as a reader verifies them who knows the root and the
 * scripts: those of a live service, those of a chain made by chance, and every
 * one of these changed in every way.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cage, csmt, MemoryNodes, mpf } from '../../../src/proofs/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { CageAnswers, mpfProof, unspentIn } from '../../support/cage-answers.ts';
import { CageRig } from '../../support/cage-rig.ts';
import { CageTale } from '../../support/cage-story.ts';
import { STRANGE_SCRIPT, WORLD_CAGES, type WorldToken } from '../../support/cage-world.ts';
import { everyChange } from '../spoil.ts';
import { Dice, needsVectors, readVectors } from '../support.ts';

/** An answer, and what a reader takes it for: text of what it showed, or why it was refused. */
interface Question {
  readonly name: string;
  readonly answer: unknown;
  read(answer: unknown): string;
}

const plain = (value: unknown): string =>
  JSON.stringify(value, (_name, each: unknown) => (each instanceof Uint8Array ? toHex(each) : typeof each === 'bigint' ? `${each}` : each));

const REFUSED = 'refused';
const told = (verdict: { readonly ok: boolean; readonly why?: string }): string =>
  verdict.ok ? plain(verdict) : `${REFUSED}: ${verdict.why}`;

/** Tokens, requests and facts of a chain that was made by chance. */
function worldOf(seed: number): { readonly tale: CageTale; readonly answers: CageAnswers } {
  const tale = new CageTale(seed);
  const rich = (): number =>
    [...tale.world.state.tokens.values()].filter(({ facts, status }) => facts.size > 1 && status === 'consistent').length;
  for (let i = 0; i < 300 && (rich() < 3 || tale.world.state.tokens.size < 6); i++) tale.next();
  const rig = new CageRig(WORLD_CAGES);
  rig.fold.apply(tale.blocks.map(({ block }) => block));
  return { tale, answers: new CageAnswers(unspentIn(rig.engine)) };
}

function questionsAbout(token: WorldToken, answers: CageAnswers, requests: readonly string[]): Question[] {
  const { snapshot, root } = answers;
  const { deployment, facts, stateRef } = token;
  const id = fromHex(token.name);
  const trusted: cage.CageTrust = { root, deployment, network: 'testnet' };
  const state = answers.utxo(stateRef);
  const [present] = facts.keys();
  const fact = (key: string): object => ({ snapshot, fact: { mpf_proof: mpfProof(facts, key), state } });
  const list = [...facts].map(([key, value]) => ({ key, value }));
  const stateAddress = cage.scriptAddress(deployment.stateScriptHash, 'testnet');
  const ask = (name: string, answer: unknown, read: (answer: unknown) => string): Question => ({ name, answer, read });
  const questions = [
    ask('state', { snapshot, state }, (answer) => told(cage.verifyStateAnswer(answer, trusted, id))),
    ask('absence', fact('ffff'), (answer) => told(cage.verifyAbsenceAnswer(answer, trusted, id, fromHex('ffff')))),
    ask('facts', { snapshot, state, facts: list }, (answer) => told(cage.verifyFactsAnswer(answer, trusted, id))),
    ask('tokens', { snapshot, tokens: answers.set(stateAddress) }, (answer) => told(cage.verifyTokensAnswer(answer, trusted))),
  ];
  if (present !== undefined) {
    const read = (answer: unknown): string => told(cage.verifyFactAnswer(answer, trusted, id, fromHex(present)));
    questions.push(ask('fact', { ...fact(present), value: facts.get(present) }, read));
  }
  const script = deployment.version === 'v2' ? null : deployment.stateScriptHash;
  const where = script ?? requestScript(token);
  if (where !== null) {
    const set = { requests: requests.map((ref) => answers.utxo(ref)), request_set: answers.set(cage.scriptAddress(where, 'testnet')) };
    questions.push(ask('requests', { snapshot, ...set }, (answer) => told(cage.verifyRequestsAnswer(answer, trusted, id))));
  }
  return questions;
}

function requestScript(token: WorldToken): Uint8Array | null {
  return token.deployment.requestProgram === null ? null : fromHex(new CageTale(1).world.requestScriptOf(token));
}

/** Refs of the requests for a token at the address where they belong. */
function requestsOf(tale: CageTale, token: WorldToken): string[] {
  const { state } = tale.world;
  const script = tale.world.requestScriptOf(token);
  if (script === STRANGE_SCRIPT) return [];
  const bare = token.deployment.version === 'v0';
  return [...state.requests]
    .filter(([, request]) => request.token === token.name && request.script === script && request.bare === bare)
    .map(([ref]) => ref);
}

describe('answers about cages', () => {
  const { tale, answers } = worldOf(5);
  const tokens = [...tale.world.state.tokens.values()].filter(({ status }) => status === 'consistent');
  const questions = tokens.flatMap((token) => questionsAbout(token, answers, requestsOf(tale, token)));

  test('that are true are believed, and say what the maker of the chain knows', () => {
    assert.ok(tokens.length >= 4 && new Set(questions.map(({ name }) => name)).size === 6, 'the chain has tokens, facts and requests');
    for (const { name, answer, read } of questions) assert.ok(!read(answer).startsWith(REFUSED), `${name}: ${read(answer)}`);
    for (const deployment of WORLD_CAGES) {
      const set = answers.set(cage.scriptAddress(deployment.stateScriptHash, 'testnet'));
      const trusted: cage.CageTrust = { root: answers.root, deployment, network: 'testnet' };
      const verdict = cage.verifyTokensAnswer({ snapshot: answers.snapshot, tokens: set }, trusted);
      assert.ok(verdict.ok);
      const known = [...tale.world.state.tokens.values()].filter((token) => token.deployment === deployment);
      assert.deepEqual(
        verdict.tokens.map(({ token, state }) => `${toHex(token)} ${toHex(state.root)}`).sort(),
        known.map(({ name, root }) => `${name} ${root}`).sort(),
      );
    }
    for (const token of tokens) {
      const wanted = requestsOf(tale, token).sort();
      const asked = questionsAbout(token, answers, wanted).find(({ name }) => name === 'requests');
      if (asked === undefined) continue;
      const { requests } = JSON.parse(asked.read(asked.answer)) as { requests: { txId: string; index: number }[] };
      assert.deepEqual(requests.map(({ txId, index }) => `${txId}#${index}`).sort(), wanted);
    }
  });

  test('that are true of one token, key, cage or network are not believed of another', () => {
    const [one, other] = tokens.filter(({ facts }) => facts.size > 0);
    const trusted: cage.CageTrust = { root: answers.root, deployment: one.deployment, network: 'testnet' };
    const id = fromHex(one.name);
    const { snapshot } = answers;
    const [[key, value]] = one.facts;
    const state = answers.utxo(one.stateRef);
    const answer = { snapshot, value, fact: { mpf_proof: mpfProof(one.facts, key), state } };
    const refused = (verdict: cage.Verified<object>, why: RegExp): void => {
      assert.ok(!verdict.ok, 'it is believed');
      assert.match(verdict.why, why);
    };
    assert.ok(cage.verifyFactAnswer(answer, trusted, id, fromHex(key)).ok);
    refused(cage.verifyFactAnswer(answer, trusted, fromHex(other.name), fromHex(key)), /holds another token/);
    refused(cage.verifyFactAnswer(answer, trusted, id, fromHex(`${key}00`)), /another root/);
    refused(cage.verifyFactAnswer(answer, { ...trusted, root: new Uint8Array(32) }, id, fromHex(key)), /another root/);
    refused(cage.verifyAbsenceAnswer(answer, trusted, id, fromHex(key)), /./);
    const foreign = WORLD_CAGES.find((deployment) => deployment !== one.deployment)!;
    refused(cage.verifyFactAnswer(answer, { ...trusted, deployment: foreign }, id, fromHex(key)), /no state of this cage/);
    const stateless = { snapshot, state: answers.utxo(`${tale.world.fundsTx}#1499`) };
    refused(cage.verifyStateAnswer(stateless, trusted, id), /no state of this cage/);
    const set = answers.set(cage.scriptAddress(one.deployment.stateScriptHash, 'testnet'));
    refused(cage.verifyTokensAnswer({ snapshot, tokens: set }, { ...trusted, network: 'mainnet' }), /another address/);
    const less = { ...set, entries: set.entries.slice(1) };
    refused(cage.verifyTokensAnswer({ snapshot, tokens: less }, trusted), /./);
    refused(cage.verifyFactsAnswer({ snapshot, state, facts: [] }, trusted, id), /has another root/);
    const twice = [...one.facts].flatMap(([name, each]) => [
      { key: name, value: each },
      { key: name, value: each },
    ]);
    refused(cage.verifyFactsAnswer({ snapshot, state, facts: twice }, trusted, id), /listed twice/);
    const programless = { ...trusted, deployment: WORLD_CAGES[3] };
    refused(cage.verifyRequests(programless, id, { entries: [], proof: { type: 'witness', merges: [], steps: [] } }), /request program/);
  });

  test('that are changed in any field are no answers, refused, or mean the same', () => {
    const dice = new Dice();
    const counts = { notOne: 0, refused: 0, same: 0 };
    const byName = new Map(questions.map((question) => [question.name, question]));
    assert.equal(byName.size, 6);
    for (const { name, answer, read } of byName.values()) {
      const truth = read(answer);
      for (const changed of [...everyChange(answer), ...Array.from({ length: 150 }, () => flip(answer, dice))]) {
        let said: string;
        try {
          said = read(changed);
        } catch (error) {
          assert.ok(isUnspentError(error, 'USAGE'), String(error));
          counts.notOne++;
          continue;
        }
        if (said.startsWith(REFUSED)) counts.refused++;
        else {
          assert.equal(normal(said), normal(truth), `${name} changed to ${plain(changed).slice(0, 300)}`);
          counts.same++;
        }
      }
    }
    assert.ok(counts.notOne > 100 && counts.refused > 300, plain(counts));
  });
});

/** Lists may come in any order. */
function normal(said: string): string {
  const sorted = (value: unknown): unknown => (Array.isArray(value) ? value.map((each) => JSON.stringify(each)).sort() : value);
  return JSON.stringify(JSON.parse(said), (_name, value: unknown) => sorted(value));
}

/** One digit of one of the longer texts in an answer becomes another. */
function flip(answer: unknown, dice: Dice): unknown {
  const text = plain(answer);
  const places = [...text.matchAll(/"[0-9a-f]{16,}"/g)];
  const place = dice.pick(places);
  const at = place.index + 1 + dice.below(place[0].length - 2);
  const digit = ((Number.parseInt(text[at], 16) + 1 + dice.below(15)) % 16).toString(16);
  return JSON.parse(text.slice(0, at) + digit + text.slice(at + 1));
}

interface Captured {
  readonly txId: string;
  readonly txIx: number;
  readonly txOut: string;
}
interface CaptureSet {
  readonly root: string;
  readonly addressHex: string;
  readonly entries: readonly Captured[];
  readonly completenessProof: string;
}
interface Captures {
  readonly inclusion: readonly (Captured & { readonly name: string; readonly root: string; readonly proof: string })[];
  readonly completeness: readonly CaptureSet[];
}
interface Preprod {
  readonly tokenWithFacts: {
    readonly txIn: { readonly tx_id: string; readonly tx_ix: number };
    readonly txOut: string;
    readonly facts: readonly { readonly key: string; readonly value: string }[];
    readonly factProof: { readonly keyHex: string; readonly valueHex: string; readonly mpfProofCbor: string };
  };
}

describe('captures of a live service', needsVectors, () => {
  const captures = needsVectors.skip === false ? readVectors<Captures>('csmt-utxo-preprod.json') : null;
  const preprod = needsVectors.skip === false ? readVectors<Preprod>('cage-preprod.json') : null;
  const [v0, , v2] = cage.PUBLIC_CAGES;
  const answerOf = ({ root, entries, completenessProof }: CaptureSet): { readonly snapshot: object; readonly set: object } => ({
    snapshot: { utxo_root: root, chainpoint: { slot: 1, block_id: '' } },
    set: {
      entries: entries.map(({ txId, txIx, txOut }) => ({ ref: { tx_id: txId, tx_ix: txIx }, txout_cbor: txOut })),
      completeness_proof: completenessProof,
    },
  });

  test('states of v0 and v2 are shown by their inclusion proofs', () => {
    for (const [name, deployment] of [
      ['cage v0 state utxo', v0],
      ['cage v2 state utxo', v2],
    ] as const) {
      const { root, proof, txId, txIx, txOut } = captures!.inclusion.find((each) => each.name === name)!;
      const trusted: cage.CageTrust = { root: fromHex(root), deployment, network: 'testnet' };
      const utxo = { tx_in: { tx_id: txId, tx_ix: txIx }, tx_out: txOut, utxo_proof: proof };
      const state = { utxo };
      const token = fromHex(/a15820([0-9a-f]{64})01/.exec(txOut)![1]);
      const verdict = cage.verifyStateAnswer({ snapshot: { utxo_root: root }, state }, trusted, token);
      assert.ok(verdict.ok && (verdict.state.terms === null) === (deployment === v0), told(verdict));
    }
  });

  test('the list of tokens is complete, and one of them has the facts that were listed', () => {
    const [states] = captures!.completeness;
    const trusted: cage.CageTrust = { root: fromHex(states.root), deployment: v2, network: 'testnet' };
    const { snapshot, set } = answerOf(states);
    const verdict = cage.verifyTokensAnswer({ snapshot, tokens: set }, trusted);
    assert.ok(verdict.ok, told(verdict));
    assert.equal(verdict.tokens.length, 2);
    const { facts, factProof, txIn, txOut } = preprod!.tokenWithFacts;
    // The capture of its output has no inclusion proof, so it stands alone in a tree here.
    const entry = { txId: fromHex(txIn.tx_id), index: txIn.tx_ix, txOut: fromHex(txOut) };
    const owner = csmt.ownerOfAddress(fromHex(states.addressHex));
    const nodes = new MemoryNodes();
    const { root } = csmt.update(nodes, nodes, [csmt.utxoLeaf(owner, entry)]);
    const state = { entry, proof: csmt.proveInclusion(nodes, csmt.utxoKey(owner, entry))! };
    const token = fromHex(/a15820([0-9a-f]{64})01/.exec(txOut)![1]);
    const alone = { ...trusted, root };
    const listed = facts.map(({ key, value }) => ({ key: fromHex(key), value: fromHex(value) }));
    assert.deepEqual(cage.verifyFacts(alone, token, state, listed), { ok: true });
    assert.ok(!cage.verifyFacts(alone, token, state, listed.slice(1)).ok);
    const fact = { key: fromHex(factProof.keyHex), value: fromHex(factProof.valueHex) };
    assert.deepEqual(cage.verifyFact(alone, token, state, fact, mpf.decode(fromHex(factProof.mpfProofCbor))), { ok: true });
  });

  test('the list of requests is complete', () => {
    const [, requests] = captures!.completeness;
    const { snapshot, set } = answerOf(requests);
    const token = fromHex(/d8799f5820([0-9a-f]{64})ff/.exec(requests.entries[0].txOut)![1]);
    const requestScript = fromHex(requests.addressHex.slice(2));
    const trusted: cage.CageTrust = { root: fromHex(requests.root), deployment: v2, network: 'testnet', requestScript };
    const { entries, proof } = {
      entries: requests.entries.map(({ txId, txIx, txOut }) => ({ txId: fromHex(txId), index: txIx, txOut: fromHex(txOut) })),
      proof: csmt.decodeCompleteness(fromHex(requests.completenessProof)),
    };
    const verdict = cage.verifyRequests(trusted, token, { entries, proof });
    assert.ok(verdict.ok && verdict.requests.length === 6 && verdict.others.length === 0, told(verdict));
    assert.ok(!cage.verifyRequests(trusted, token, { entries: entries.slice(1), proof }).ok);
    assert.throws(() => cage.verifyRequestsAnswer({ snapshot, request_set: set }, trusted, token), /has no requests/);
  });
});
