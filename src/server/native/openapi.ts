/**
 * The OpenAPI document, made of the very schemas that check requests, and the
 * words that every route shares: what an answer looks like, which headers it
 * has, how it fails.
 */
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { VERSION } from '../../util/version.ts';
import { COMPONENTS, ref } from './schemas.ts';

export const API = '/api/v1';

const POINT_HEADERS = {
  'x-block-height': { type: 'integer', description: 'Height of the block the answer is at; no such header before the first block.' },
  'x-block-slot': { type: 'integer', description: 'Its slot.' },
  'x-block-hash': { type: 'string', description: 'Its hash.' },
};
const READ_HEADERS = { ...POINT_HEADERS, etag: { type: 'string', description: 'For If-None-Match.' } };
const PAGE_HEADERS = {
  ...READ_HEADERS,
  'x-next-after': { type: 'string', description: 'The cursor of the next page; no such header on the last.' },
  link: { type: 'string', description: 'The URL of the next page, rel="next".' },
  'x-history-from': {
    type: 'integer',
    description:
      'Of a list of transactions: it begins at this height, because the history was switched on there; no such header where it has all.',
  },
};

export const PROBLEM = {
  description: 'A problem document (RFC 9457).',
  content: { 'application/problem+json': { schema: ref('Problem') } },
};

export type Tag = 'Outputs' | 'Balances' | 'Datums and scripts' | 'Blocks' | 'Proofs' | 'Cages' | 'Transactions' | 'Server';

export interface Described {
  /** Of a read in JSON. */
  readonly json?: TSchema;
  /** Of a read of rows, in JSON or CBOR. */
  readonly rows?: TSchema;
  readonly paged?: boolean;
  readonly description?: string;
}

/** Says of a request with a body that it only reads: the reference has a form for it. */
export const ONLY_READS = { 'x-reads': true } as const;

/** What the document says of a route, besides what its requests are checked against. */
export function described(tag: Tag, summary: string, { json, rows, paged = false, description }: Described): object {
  const schema = rows ?? json;
  const cbor =
    rows === undefined
      ? {}
      : { 'application/cbor': { schema: Type.Any({ description: 'Interchange records; a list is an array of them.' }) } };
  return {
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    response: {
      200: {
        description: summary,
        headers: paged ? PAGE_HEADERS : READ_HEADERS,
        content: { 'application/json': { schema }, ...cbor },
      },
      304: { type: 'null', description: 'The answer the client has is still right.' },
    },
  };
}

/** What the document says of a route that streams a JSON document a line. */
export function describedLines(tag: Tag, summary: string, line: TSchema, description: string): object {
  const content = { 'application/jsonl': { schema: line } };
  return { tags: [tag], summary, description, response: { 200: { description: summary, headers: POINT_HEADERS, content } } };
}

/** What the document says of a route that answers with its own document and status. */
export function describedStatus(summary: string, schema: TSchema, description: string, statuses: readonly number[] = [200]): object {
  const answers = statuses.map((status) => [
    status,
    { description: status === 200 ? summary : `${summary}: no`, headers: POINT_HEADERS, content: { 'application/json': { schema } } },
  ]);
  return { tags: ['Server'], summary, description, response: Object.fromEntries(answers) };
}

const INTRODUCTION = `Unspent outputs of the chain, at one point of it: every answer names its block in the headers
\`x-block-height\`, \`x-block-slot\` and \`x-block-hash\`. Bytes are hex, amounts are decimal strings, absent fields are left out.
Failures are problem documents with a code. \`If-None-Match\` with the \`ETag\` of an answer costs next to nothing while no block came.`;

export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  for (const [name, schema] of Object.entries(COMPONENTS)) app.addSchema({ ...schema, $id: name });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Unspent',
        version: VERSION,
        description: INTRODUCTION.replaceAll('\n', ' '),
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: ['Outputs', 'Balances', 'Datums and scripts', 'Blocks', 'Proofs', 'Cages', 'Transactions', 'Wallets', 'Server'].map((name) => ({
        name,
      })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'Where server.token is set.' },
          walletToken: { type: 'http', scheme: 'bearer', description: 'wallet.token, or that of the file wallets.token beside the store.' },
        },
      },
    },
    convertConstToEnum: false,
    transform: withProblems,
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => (typeof json['$id'] === 'string' ? json['$id'] : `part${i}`) },
  });
}

/** Every route can fail, also one whose own description does not say so. */
function withProblems({ schema, url }: { schema: FastifySchema | undefined; url: string }): { schema: FastifySchema; url: string } {
  return { schema: { ...schema, response: { default: PROBLEM, ...(schema?.response ?? {}) } }, url };
}

/** Served as it is: it never changes while the server runs. */
export function registerDocument(app: FastifyInstance): void {
  let text: string | undefined;
  app.get(`${API}/openapi.json`, { schema: { hide: true } }, (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    reply.header('content-type', 'application/json; charset=utf-8').header('cache-control', 'no-cache').send(text);
  });
}
