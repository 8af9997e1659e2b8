/**
 * Tokens, facts and requests of the MPFS API, each with what proves it: the
 * state output by inclusion, lists of outputs by completeness, facts by the root
 * in the state's datum. Facts are streamed, however many there are.
 */
import Type from 'typebox';
import { requestPhase } from '../../../ledgers/cardano/cage/index.ts';
import { outpointText } from '../../../ledgers/outpoint.ts';
import { mpf } from '../../../proofs/index.ts';
import { type CageFact, type CageToken, needConsistentTrie } from '../../../query/cardano/cage.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { App } from '../../http/typed.ts';
import { hexBytes } from '../../native/keys.ts';
import { described } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import { type CageRead, operationJson } from './read.ts';
import {
  FactAnswer,
  FactsAnswer,
  KEY_PATH,
  ProofAnswer,
  RequestsAnswer,
  RootAnswer,
  TOKEN_PATH,
  TokenAnswer,
  TokensAnswer,
} from './schemas.ts';

export function registerTokens(app: App, answers: MpfsAnswers): void {
  const tokens = {
    ...described('Cages', 'All tokens of a cage', { json: TokensAnswer }),
    querystring: Type.Object(
      {
        policy: Type.Optional(
          Type.String({ pattern: '^[0-9a-f]{56}$', description: 'Its policy. Default: of the newest version that is followed.' }),
        ),
      },
      { additionalProperties: false },
    ),
  };
  app.get('/tokens', { schema: tokens }, (request, reply) => {
    const { policy } = request.query;
    answers.give(request, reply, (read) => {
      const { stateScriptHash } = read.deployment(policy);
      return { snapshot: read.snapshot(), tokens: read.allAt(read.scriptAddress(stateScriptHash)) };
    });
  });

  const token = { ...described('Cages', 'The state of a token', { json: TokenAnswer }), params: TOKEN_PATH };
  app.get('/tokens/:id', { schema: token }, (request, reply) => {
    answers.give(request, reply, (read) => ({ snapshot: read.snapshot(), state: read.state(read.token(request.params.id)) }));
  });

  const root = { ...described('Cages', "The root of a token's trie", { json: RootAnswer }), params: TOKEN_PATH };
  app.get('/tokens/:id/root', { schema: root }, (request, reply) => {
    answers.give(request, reply, (read) => toHex(read.token(request.params.id).state.root));
  });
  registerFacts(app, answers);
  registerRequests(app, answers);
}

function registerFacts(app: App, answers: MpfsAnswers): void {
  const facts = { ...described('Cages', 'All facts of a token', { json: FactsAnswer }), params: TOKEN_PATH };
  app.get('/tokens/:id/facts', { schema: facts }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const found = read.token(request.params.id);
      needConsistentTrie(found);
      const head = JSON.stringify({ snapshot: read.snapshot(), state: read.state(found) });
      const frame = { open: `${head.slice(0, -1)},"facts":[`, close: ']}' };
      return answers.rows(request, read.cage.facts(found), factJson, frame);
    });
  });

  const fact = { ...described('Cages', 'A fact of a token', { json: FactAnswer }), params: KEY_PATH };
  app.get('/tokens/:id/facts/:key', { schema: fact }, (request, reply) => {
    const key = hexBytes(request.params.key);
    answers.give(request, reply, (read) => {
      const found = read.token(request.params.id);
      const proven = read.cage.proof(found, key);
      if (proven.fact === null) throw noFact(read, found, key);
      return { snapshot: read.snapshot(), value: toHex(proven.fact.value), fact: proofJson(read, found, proven.proof) };
    });
  });

  const proof = { ...described('Cages', 'Proof that a key is there, or is not', { json: ProofAnswer }), params: KEY_PATH };
  app.get('/tokens/:id/proofs/:key', { schema: proof }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const found = read.token(request.params.id);
      const proven = read.cage.proof(found, hexBytes(request.params.key));
      return { snapshot: read.snapshot(), fact: proofJson(read, found, proven.proof) };
    });
  });
}

function factJson({ key, value }: CageFact): string {
  return `{"key":"${toHex(key)}","value":"${toHex(value)}"}`;
}

function proofJson(read: CageRead, token: CageToken, proof: mpf.Proof): object {
  return { mpf_proof: toHex(mpf.encode(proof)), state: read.state(token) };
}

/** A request that was just made is no fact yet, which is what most who ask for one want to know. */
function noFact(read: CageRead, token: CageToken, key: Uint8Array): UnspentError {
  const name = toHex(key);
  for (const { request, ...place } of read.cage.requests(token, read.nowMs)) {
    if (request.operation.type !== 'insert' || !equalBytes(request.key, key)) continue;
    const message = `the key ${name} has no value yet: the request ${outpointText(place)} is pending until the owner of the token applies it`;
    return new UnspentError('NOT_FOUND', message, { key: name });
  }
  return new UnspentError('NOT_FOUND', `the token ${toHex(token.id.name)} has no key ${name}`, { key: name });
}

function registerRequests(app: App, answers: MpfsAnswers): void {
  const schema = {
    ...described('Cages', 'All requests for a token', {
      json: RequestsAnswer,
      description: 'Those at the address where they belong. Their phase is told at the time of the newest block.',
    }),
    params: TOKEN_PATH,
  };
  app.get('/tokens/:id/requests', { schema }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const token = read.token(request.params.id);
      const set = read.allAt(read.requestAddress(token));
      const requests = set.entries.flatMap(({ ref, txout_cbor: txOut }) => {
        const found = read.requestFor(token, txOut);
        if (found === null) return [];
        return [{ ...read.output({ txId: hexBytes(ref.tx_id), index: ref.tx_ix }), request: requestJson(read, token, found) }];
      });
      return { snapshot: read.snapshot(), requests, request_set: set };
    });
  });
}

/** A request in words, with its phase at the time of the newest block. */
export function requestJson(read: CageRead, token: CageToken, request: ReturnType<CageRead['requestFor']> & object): object {
  const { owner, key, operation, terms } = request;
  return {
    owner: toHex(owner),
    key: toHex(key),
    operation: operationJson(operation),
    ...(terms === null ? {} : { tip: `${terms.tip}`, submitted_at: `${terms.submittedAt}` }),
    phase: requestPhase(request, token.state.terms, read.nowMs),
  };
}
