/**
 * Routes of the first MPFS service that build transactions, without signatures,
 * for cages of its version: a client signs them and hands them back to
 * `POST /transaction`. Keys and values are text, or `0x` and hex, as in its answers.
 */
import Type, { type TProperties, type TSchema } from 'typebox';
import type { CageOperation } from '../../../ledgers/cardano/cage/index.ts';
import type { UnsignedTx } from '../../../query/cardano/cage-tx/transactions.ts';
import { bootTx, endTx, requestTx, retractTx, updateTx } from '../../../query/cardano/cage-tx/transactions.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { FACT_BYTES_MAX, MPFS_REQUESTS_MAX } from '../../../util/limits.ts';
import { losslessBytes } from '../../../util/text.ts';
import type { App } from '../../http/typed.ts';
import { PROBLEM } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import { TOKEN_PATH } from './schemas.ts';

const V0 = ['v0'] as const;
const address = Type.String({ minLength: 1, maxLength: 256, description: 'Who pays and signs, in bech32 or hex.' });
const Unsigned = Type.Object({ unsignedTransaction: Type.String({ pattern: '^([0-9a-f]{2})+$', description: 'Its CBOR, in hex.' }) });
const ref = Type.String({ pattern: '^[0-9a-fA-F]{64}-\\d{1,10}$', description: 'A request, as `TXID-INDEX`.' });
/** As long as it may be in hex. */
const text = (description: string) => Type.String({ maxLength: 2 + 2 * FACT_BYTES_MAX, description });

function schemaOf<P extends TProperties>(summary: string, params: P, answer: TSchema = Unsigned) {
  return {
    tags: ['Cages'],
    summary: `v0: ${summary}`,
    description: 'Not signed. Needs the local socket of a node (n2c:PATH) to be followed, for protocol parameters.',
    params: Type.Object({ address, ...params }),
    response: { 200: { description: summary, content: { 'application/json': { schema: answer } } }, default: PROBLEM },
  };
}

export function registerV0Transactions(app: App, answers: MpfsAnswers): void {
  const token = TOKEN_PATH.properties;
  const booted = Type.Object({ ...Unsigned.properties, value: Type.String({ description: 'The token that it makes.' }) });
  app.get('/transaction/:address/boot-token', { schema: schemaOf('make a token', {}, booted) }, (request, reply) =>
    answers.build(reply, request.params.address, (ground, read) => {
      const { name, ...made } = bootTx(ground, read.deploymentOf('v0'), null);
      return { ...unsigned(made), value: toHex(name) };
    }),
  );
  app.get('/transaction/:address/end-token/:id', { schema: schemaOf('end a token', token) }, (request, reply) =>
    answers.build(reply, request.params.address, (ground, read) => unsigned(endTx(ground, read.token(request.params.id, V0)))),
  );
  const updated = Type.Object({ ...Unsigned.properties, mpfRoot: Type.String({ description: 'The root afterwards.' }) });
  const requests = Type.Union([ref, Type.Array(ref, { maxItems: MPFS_REQUESTS_MAX })], {
    description: 'Exactly these, or a conflict; without it all that can be applied.',
  });
  const update = {
    ...schemaOf('apply requests', token, updated),
    querystring: Type.Object({ request: Type.Optional(requests) }, { additionalProperties: false }),
  };
  app.get('/transaction/:address/update-token/:id', { schema: update }, (request, reply) =>
    answers.build(reply, request.params.address, (ground, read) => {
      const wanted = [request.query.request ?? []].flat().map(outpointOf);
      const made = updateTx(ground, read.token(request.params.id, V0), { wanted });
      if (made.taken.length === 0) throw new UnspentError('CAGE_CONFLICT', 'no request for the token can be applied now');
      return { ...unsigned(made), mpfRoot: made.root };
    }),
  );
  app.get(
    '/transaction/:address/retract-change/:request',
    { schema: schemaOf('take a request back', { request: ref }) },
    (request, reply) =>
      answers.build(reply, request.params.address, (ground) => unsigned(retractTx(ground, outpointOf(request.params.request)))),
  );
  registerRequests(app, answers);
}

function registerRequests(app: App, answers: MpfsAnswers): void {
  const [key, oldValue, newValue] = [text('The key.'), text('Its value.'), text('Its value afterwards.')];
  const asked = <P extends TProperties>(
    kind: CageOperation['type'],
    properties: P,
    operationOf: (body: Readonly<Record<string, string>>) => CageOperation,
  ): void => {
    const schema = {
      ...schemaOf(`ask for the ${kind} of a key`, TOKEN_PATH.properties),
      body: Type.Object({ key, ...properties }, { additionalProperties: false }),
    };
    app.post(`/transaction/:address/request-${kind}/:id`, { schema }, (request, reply) => {
      const body = request.body as Readonly<Record<string, string>>;
      const operation = operationOf(body);
      const bytes = losslessBytes(body['key']);
      return answers.build(reply, request.params.address, (ground, read) =>
        unsigned(requestTx(ground, read.token(request.params.id, V0), bytes, operation)),
      );
    });
  };
  asked('insert', { newValue }, (body) => ({ type: 'insert', value: losslessBytes(body['newValue']) }));
  asked('delete', { oldValue }, (body) => ({ type: 'delete', value: losslessBytes(body['oldValue']) }));
  asked('update', { oldValue, newValue }, (body) => ({
    type: 'update',
    before: losslessBytes(body['oldValue']),
    after: losslessBytes(body['newValue']),
  }));
}

/** `TXID-INDEX` as everything else writes it. */
function outpointOf(id: string): string {
  return id.toLowerCase().replace('-', '#');
}

function unsigned({ tx }: UnsignedTx): { readonly unsignedTransaction: string } {
  return { unsignedTransaction: toHex(tx) };
}
