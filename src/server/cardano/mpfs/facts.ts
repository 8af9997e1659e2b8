/**
 * What a client needs to build a transaction of the MPFS protocol by itself: the
 * outputs it will spend with their proofs, proofs of the trie in the order in
 * which the scripts apply them, and the slots between which it is valid. All of
 * it from one snapshot; where the cage does not allow it, CAGE_CONFLICT says why.
 *
 * Protocol parameters are what the node says, where one is followed that says it;
 * nothing proves them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TProperties } from 'typebox';
import { boundsFor, commonBounds, type RequestPhase, slotsWithin } from '../../../ledgers/cardano/cage/index.ts';
import { outpointText } from '../../../ledgers/outpoint.ts';
import { mpf } from '../../../proofs/index.ts';
import type { CageToken, PendingRequest } from '../../../query/cardano/cage.ts';
import { chooseRequests, needNoRequests, requestAt } from '../../../query/cardano/cage-tx/request-choice.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { MPFS_REQUESTS_MAX } from '../../../util/limits.ts';
import type { App } from '../../http/typed.ts';
import { hexBytes } from '../../native/keys.ts';
import { PROBLEM } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import type { CageRead } from './read.ts';
import { Facts, HEX_ADDRESS } from './schemas.ts';
import { requestJson } from './tokens.ts';

const hex = (description: string) => Type.String({ pattern: '^([0-9a-fA-F]{2})*$', description });
const address = HEX_ADDRESS;
const token = Type.String({
  pattern: '^([0-9a-fA-F]{2}){1,60}$',
  description: 'A token: its asset name in hex, or policy and name joined.',
});
const refs = Type.Optional(
  Type.Array(Type.String({ description: '`TXID#INDEX`.' }), {
    maxItems: MPFS_REQUESTS_MAX,
    description: 'Exactly these, or none; left out or empty: all that can be.',
  }),
);
const key = hex('The key.');

function schemaOf<P extends TProperties>(summary: string, properties: P) {
  return {
    tags: ['Cages'],
    summary,
    body: Type.Object(properties, { additionalProperties: false }),
    response: {
      200: { description: summary, content: { 'application/json': { schema: Facts } } },
      default: PROBLEM,
    },
  };
}

export function registerFactRoutes(app: App, answers: MpfsAnswers): void {
  app.post('/facts/boot', { schema: schemaOf('What it takes to make a token', { address }) }, (request, reply) => {
    return giveFacts(answers, request, reply, (read) => {
      const { stateScriptHash } = read.deployment();
      const where = toHex(read.scriptAddress(stateScriptHash));
      return { ...paid(read, request.body.address), policy: toHex(stateScriptHash), state_address: where };
    });
  });
  const values = { token, key, value: hex('Its value.'), address };
  const asked = (kind: 'insert' | 'delete'): void => {
    app.post(`/facts/request/${kind}`, { schema: schemaOf(`What it takes to request the ${kind} of a key`, values) }, (request, reply) => {
      return giveFacts(answers, request, reply, (read) => requestFacts(read, request.body));
    });
  };
  asked('insert');
  asked('delete');
  const updated = { token, key, old_value: hex('Its value.'), new_value: hex('Its new value.'), address };
  app.post('/facts/request/update', { schema: schemaOf('What it takes to request the update of a key', updated) }, (request, reply) => {
    return giveFacts(answers, request, reply, (read) => requestFacts(read, request.body));
  });
  registerOwner(app, answers);
  const retracted = { utxo: Type.String({ description: 'The request, as `TXID#INDEX`.' }), address };
  app.post('/facts/retract', { schema: schemaOf('What it takes to retract a request', retracted) }, (request, reply) => {
    return giveFacts(answers, request, reply, (read) => retractFacts(read, request.body.utxo, request.body.address));
  });
}

/** What the owner of a token does. */
function registerOwner(app: App, answers: MpfsAnswers): void {
  app.post(
    '/facts/update',
    { schema: schemaOf('What it takes to apply requests', { token, address, requests: refs }) },
    (request, reply) => {
      const { body } = request;
      return giveFacts(answers, request, reply, (read) => updateFacts(read, read.token(body.token), body.address, body.requests ?? []));
    },
  );
  app.post(
    '/facts/reject',
    { schema: schemaOf('What it takes to reject requests', { token, address, requests: refs }) },
    (request, reply) => {
      const { body } = request;
      return giveFacts(answers, request, reply, (read) => rejectFacts(read, read.token(body.token), body.address, body.requests ?? []));
    },
  );
  app.post('/facts/end', { schema: schemaOf('What it takes to end a token', { token, address }) }, (request, reply) => {
    const { body } = request;
    return giveFacts(answers, request, reply, (read) => {
      const found = read.token(body.token);
      needNoRequests(read.cage, found, read.nowMs);
      return { ...paid(read, body.address), state: read.state(found) };
    });
  });
}

/** Answers with facts and the node's protocol parameters, which are asked for first: everything of the chain is then read at once. */
async function giveFacts(
  answers: MpfsAnswers,
  request: FastifyRequest,
  reply: FastifyReply,
  produce: (read: CageRead) => object,
): Promise<FastifyReply> {
  const parameters = await answers.parameters();
  answers.give(request, reply, (read) => ({ ...produce(read), protocol_parameters: parameters }));
  return reply;
}

/** What every answer begins with: the block, and the outputs that can pay. */
function paid(read: CageRead, from: string): object {
  return { snapshot: read.snapshot(), wallet: read.allAt(hexBytes(from)) };
}

function requestFacts(read: CageRead, body: { readonly token: string; readonly key: string; readonly address: string }): object {
  const found = read.token(body.token);
  const { fact, proof } = read.cage.proof(found, hexBytes(body.key));
  return {
    ...paid(read, body.address),
    state: read.state(found),
    request_address: toHex(read.requestAddress(found)),
    fact: { value: fact === null ? null : toHex(fact.value), mpf_proof: toHex(mpf.encode(proof)) },
  };
}

function updateFacts(read: CageRead, found: CageToken, from: string, wanted: readonly string[]): object {
  const chosen = choose(read, found, wanted, ['process', 'dishonest', null]);
  const trial = read
    .trial(found)
    .applyRequests(chosen.map((each) => ({ ref: outpointText(each), key: each.request.key, operation: each.request.operation })));
  if (wanted.length > 0 && trial.refused.length > 0) {
    throw new UnspentError('CAGE_CONFLICT', `the request ${trial.refused[0].ref} cannot be applied: ${trial.refused[0].why}`);
  }
  const applied = chosen.filter((each) => trial.applied.some(({ ref }) => ref === outpointText(each)));
  return {
    ...paid(read, from),
    state: read.state(found),
    requests: inOrder(
      read,
      found,
      applied,
      trial.applied.map(({ ref }) => ref),
    ),
    actions: trial.applied.map(({ ref, proof, root }) => ({ ref, mpf_proof: toHex(proof), root })),
    left_out: trial.refused,
    new_root: trial.root,
    validity: validity(read, found, 'apply', applied),
  };
}

function rejectFacts(read: CageRead, found: CageToken, from: string, wanted: readonly string[]): object {
  if (found.state.terms === null)
    throw new UnspentError('CAGE_CONFLICT', 'a cage of v0 has no phases: requests are not rejected, but retracted');
  const chosen = choose(read, found, wanted, ['reject', 'dishonest']);
  return {
    ...paid(read, from),
    state: read.state(found),
    requests: inOrder(read, found, chosen, chosen.map(outpointText)),
    validity: validity(read, found, 'reject', chosen),
  };
}

function retractFacts(read: CageRead, ref: string, from: string): object {
  const { request, token } = requestAt(read.query, ref, read.nowMs);
  if (token === null) throw new UnspentError('NOT_FOUND', `the token of the request ${ref} is not there, or no longer`);
  const { from: first, before } = boundsFor('retract', request.request, token.state.terms, request.phase);
  if (first !== null && before !== null && request.phase !== 'retract') {
    const when = request.phase === 'reject' ? `until ${timeText(before)}, which is over` : `from ${timeText(first)} to ${timeText(before)}`;
    throw new UnspentError('CAGE_CONFLICT', `the request can be retracted ${when}`);
  }
  return {
    ...paid(read, from),
    state: read.state(token),
    request: { ...read.output(request), request: requestJson(read, token, request.request) },
    validity: validity(read, token, 'retract', [request]),
  };
}

/** The slots between which all of these can be put to the use; null: no bound is needed. */
function validity(read: CageRead, token: CageToken, use: 'apply' | 'retract' | 'reject', requests: readonly PendingRequest[]): object {
  const bounds = commonBounds(requests.map(({ request, phase }) => boundsFor(use, request, token.state.terms, phase)));
  const slot = read.query.head?.slot ?? 0;
  const { from, until } = slotsWithin(read.network, bounds, { headSlot: slot, nowSlot: slot });
  return { invalid_before: from, invalid_hereafter: until };
}

function timeText(ms: bigint): string {
  const time = new Date(Number(ms));
  return Number.isNaN(time.getTime()) ? `${ms} ms` : time.toISOString();
}

/** Those that are wanted, or as many as can be taken and one answer may have. */
function choose(read: CageRead, found: CageToken, wanted: readonly string[], phases: readonly (RequestPhase | null)[]): PendingRequest[] {
  return chooseRequests(read.cage, found, read.nowMs, { phases, wanted }).slice(0, MPFS_REQUESTS_MAX);
}

/** Outputs of requests with their proofs, in the order of these names. */
function inOrder(read: CageRead, found: CageToken, requests: readonly PendingRequest[], order: readonly string[]): object[] {
  return order.map((ref) => {
    const each = requests.find((other) => outpointText(other) === ref)!;
    return { ...read.output(each), request: requestJson(read, found, each.request) };
  });
}
