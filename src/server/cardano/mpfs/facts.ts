/**
 * What a client needs to build a transaction of the MPFS protocol by itself: the
 * outputs it will spend with their proofs, proofs of the trie in the order in
 * which the scripts apply them, and the slots between which it is valid. All of
 * it from one snapshot; where the cage does not allow it, CAGE_CONFLICT says why.
 *
 * Protocol parameters are the node's and are not among it.
 */
import Type, { type TProperties } from 'typebox';
import type { RequestPhase } from '../../../ledgers/cardano/cage/index.ts';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { mpf } from '../../../proofs/index.ts';
import type { CageToken, PendingRequest } from '../../../query/cardano/cage.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { MPFS_REQUESTS_MAX } from '../../../util/limits.ts';
import type { App } from '../../http/typed.ts';
import { hexBytes } from '../../native/keys.ts';
import { PROBLEM } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import type { CageRead } from './read.ts';
import { requestJson } from './tokens.ts';
import { type TimeBounds, validity } from './validity.ts';

const hex = (description: string) => Type.String({ pattern: '^([0-9a-fA-F]{2})*$', description });
const address = Type.String({ pattern: '^([0-9a-fA-F]{2}){29,128}$', description: 'The address that pays, in hex.' });
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
      200: { description: summary, content: { 'application/json': { schema: Type.Object({}, { additionalProperties: true }) } } },
      default: PROBLEM,
    },
  };
}

export function registerFactRoutes(app: App, answers: MpfsAnswers): void {
  app.post('/facts/boot', { schema: schemaOf('What it takes to make a token', { address }) }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const { stateScriptHash } = read.deployment();
      const where = toHex(read.scriptAddress(stateScriptHash));
      return { ...paid(read, request.body.address), policy: toHex(stateScriptHash), state_address: where };
    });
  });
  const values = { token, key, value: hex('Its value.'), address };
  const asked = (kind: 'insert' | 'delete'): void => {
    app.post(`/facts/request/${kind}`, { schema: schemaOf(`What it takes to request the ${kind} of a key`, values) }, (request, reply) => {
      answers.give(request, reply, (read) => requestFacts(read, request.body));
    });
  };
  asked('insert');
  asked('delete');
  const updated = { token, key, old_value: hex('Its value.'), new_value: hex('Its new value.'), address };
  app.post('/facts/request/update', { schema: schemaOf('What it takes to request the update of a key', updated) }, (request, reply) => {
    answers.give(request, reply, (read) => requestFacts(read, request.body));
  });
  registerOwner(app, answers);
  const retracted = { utxo: Type.String({ description: 'The request, as `TXID#INDEX`.' }), address };
  app.post('/facts/retract', { schema: schemaOf('What it takes to retract a request', retracted) }, (request, reply) => {
    answers.give(request, reply, (read) => retractFacts(read, request.body.utxo, request.body.address));
  });
}

/** What the owner of a token does. */
function registerOwner(app: App, answers: MpfsAnswers): void {
  app.post(
    '/facts/update',
    { schema: schemaOf('What it takes to apply requests', { token, address, requests: refs }) },
    (request, reply) => {
      const { body } = request;
      answers.give(request, reply, (read) => updateFacts(read, read.token(body.token), body.address, body.requests ?? []));
    },
  );
  app.post(
    '/facts/reject',
    { schema: schemaOf('What it takes to reject requests', { token, address, requests: refs }) },
    (request, reply) => {
      const { body } = request;
      answers.give(request, reply, (read) => rejectFacts(read, read.token(body.token), body.address, body.requests ?? []));
    },
  );
  app.post('/facts/end', { schema: schemaOf('What it takes to end a token', { token, address }) }, (request, reply) => {
    const { body } = request;
    answers.give(request, reply, (read) => {
      const found = read.token(body.token);
      const pending = [...requestsOf(read, found)].length;
      if (pending > 0) {
        const message = `${pending} requests for the token are pending: apply, reject or let them be retracted first, or they are stuck`;
        throw new UnspentError('CAGE_CONFLICT', message, { limit: pending });
      }
      return { ...paid(read, body.address), state: read.state(found) };
    });
  });
}

/** What every answer begins with: the block, and the outputs that can pay. */
function paid(read: CageRead, from: string): object {
  return { snapshot: read.snapshot(), wallet: read.allAt(hexBytes(from)) };
}

/** Requests for a token that its owner sees, and nobody else's: those that are known to lie elsewhere are left out. */
function* requestsOf(read: CageRead, found: CageToken): Iterable<PendingRequest> {
  for (const each of read.cage.requests(found, read.nowMs)) {
    if (each.canonical !== false && (each.request.terms === null) === (found.version === 'v0')) yield each;
  }
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
  const { terms } = found.state;
  const chosen = choose(read, found, wanted, ['process', 'dishonest', null]);
  const trial = read
    .trial(found)
    .applyRequests(chosen.map((each) => ({ ref: refOf(each), key: each.request.key, operation: each.request.operation })));
  if (wanted.length > 0 && trial.refused.length > 0) {
    throw new UnspentError('CAGE_CONFLICT', `the request ${trial.refused[0].ref} cannot be applied: ${trial.refused[0].why}`);
  }
  const applied = chosen.filter((each) => trial.applied.some(({ ref }) => ref === refOf(each)));
  const before = terms === null ? null : earliest(applied.map(({ request }) => request.terms!.submittedAt + terms.processTime));
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
    validity: validity(read.network, read.query.head, { from: null, before }),
  };
}

function rejectFacts(read: CageRead, found: CageToken, from: string, wanted: readonly string[]): object {
  const { terms } = found.state;
  if (terms === null) throw new UnspentError('CAGE_CONFLICT', 'a cage of v0 has no phases: requests are not rejected, but retracted');
  const chosen = choose(read, found, wanted, ['reject', 'dishonest']);
  const over = chosen
    .filter(({ phase }) => phase === 'reject')
    .map(({ request }) => request.terms!.submittedAt + terms.processTime + terms.retractTime);
  const early = chosen.filter(({ phase }) => phase === 'dishonest').map(({ request }) => request.terms!.submittedAt);
  return {
    ...paid(read, from),
    state: read.state(found),
    requests: inOrder(read, found, chosen, chosen.map(refOf)),
    validity: validity(read.network, read.query.head, { from: latest(over), before: earliest(early) }),
  };
}

function retractFacts(read: CageRead, ref: string, from: string): object {
  const { txId, index } = parseOutpoint(ref);
  const waiting = [...read.cage.allRequests()].find((each) => each.index === index && equalBytes(each.txId, txId));
  if (waiting === undefined) throw new UnspentError('NOT_FOUND', `there is no request ${ref}, or no longer`);
  const name = toHex(waiting.request.token);
  const found = read.token(name, waiting.request.terms === null ? ['v0'] : ['v2', 'v1']);
  const each = [...read.cage.requests(found, read.nowMs)].find((other) => refOf(other) === refOf(waiting))!;
  return {
    ...paid(read, from),
    state: read.state(found),
    request: { ...read.output(each), request: requestJson(read, found, each.request) },
    validity: validity(read.network, read.query.head, retractBounds(found, each)),
  };
}

function retractBounds({ state: { terms } }: CageToken, { request, phase }: PendingRequest): TimeBounds {
  if (terms === null || request.terms === null) return { from: null, before: null };
  const from = request.terms.submittedAt + terms.processTime;
  const before = from + terms.retractTime;
  if (phase === 'retract') return { from, before };
  const when = phase === 'reject' ? `until ${timeText(before)}, which is over` : `from ${timeText(from)} to ${timeText(before)}`;
  throw new UnspentError('CAGE_CONFLICT', `the request can be retracted ${when}`);
}

function timeText(ms: bigint): string {
  const time = new Date(Number(ms));
  return Number.isNaN(time.getTime()) ? `${ms} ms` : time.toISOString();
}

/** Those that are wanted and may be, or all that may be. Throws CAGE_CONFLICT when a wanted one is not among them. */
function choose(read: CageRead, found: CageToken, wanted: readonly string[], phases: readonly (RequestPhase | null)[]): PendingRequest[] {
  const pending = [...requestsOf(read, found)];
  const { terms } = found.state;
  const may = (each: PendingRequest): boolean => phases.includes(each.phase) && each.request.terms?.tip === terms?.tip;
  if (wanted.length === 0) return pending.filter(may).slice(0, MPFS_REQUESTS_MAX);
  return wanted.map((ref) => {
    const { txId, index } = parseOutpoint(ref);
    const each = pending.find((other) => other.index === index && equalBytes(other.txId, txId));
    if (each === undefined) throw new UnspentError('CAGE_CONFLICT', `there is no request ${ref} for the token, or no longer`);
    if (may(each)) return each;
    const why = phases.includes(each.phase) ? 'its tip is not that of the token' : `it is in the phase '${each.phase}'`;
    throw new UnspentError('CAGE_CONFLICT', `the request ${ref} cannot be taken: ${why}`);
  });
}

/** Outputs of requests with their proofs, in the order of these names. */
function inOrder(read: CageRead, found: CageToken, requests: readonly PendingRequest[], order: readonly string[]): object[] {
  return order.map((ref) => {
    const each = requests.find((other) => refOf(other) === ref)!;
    return { ...read.output(each), request: requestJson(read, found, each.request) };
  });
}

function refOf({ txId, index }: Pick<PendingRequest, 'txId' | 'index'>): string {
  return `${toHex(txId)}#${index}`;
}

function earliest(times: readonly bigint[]): bigint | null {
  return times.reduce<bigint | null>((best, time) => (best === null || time < best ? time : best), null);
}

function latest(times: readonly bigint[]): bigint | null {
  return times.reduce<bigint | null>((best, time) => (best === null || time > best ? time : best), null);
}
