/**
 * The reference: an OpenAPI 3.1 document that is sound, complete and true, a
 * page made of it that a person can read, and docs that list the same routes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ERROR_CODES } from '../../../src/util/errors.ts';
import { Served } from '../../support/served.ts';

interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Record<string, { readonly schema: object }> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** What the project says there is, below /api/v1. */
const PROMISED = [
  'GET /addresses/{address}/utxos',
  'GET /addresses/{address}/balance',
  'GET /addresses/{address}/utxos/{asset}',
  'GET /credentials/{credential}/utxos',
  'GET /stake/{stake}/utxos',
  'GET /stake/{stake}/balance',
  'GET /assets/{unit}/utxos',
  'GET /policies/{policy}/utxos',
  'GET /scripts/{hash}/utxos',
  'GET /datums/{hash}/utxos',
  'GET /utxos/{tx}/{index}',
  'POST /utxos',
  'GET /txs/{tx}/utxos',
  'GET /txs/{tx}',
  'GET /addresses/{address}/txs',
  'GET /credentials/{credential}/txs',
  'GET /stake/{stake}/txs',
  'GET /datums/{hash}',
  'GET /scripts/{hash}',
  'GET /blocks/latest',
  'GET /blocks/{block}',
  'GET /roots',
  'GET /utxo/mmr/root',
  'GET /utxo/mmr/proof/{tx}/{index}',
  'GET /utxo/mmr/leaf-index/{tx}/{index}',
  'GET /csmt/root',
  'GET /csmt/utxo/{tx}/{index}/proof',
  'GET /csmt/addresses/{address}/proof',
  'GET /csmt/absence',
  'GET /status',
  'GET /status/engine',
  'GET /events',
  'GET /health',
  'GET /ready',
  'GET /metrics',
];

describe('the OpenAPI document', () => {
  let served: Served;
  let document: Document;
  const operations = (): { route: string; operation: Operation }[] =>
    Object.entries(document.paths).flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
    );

  before(async () => {
    served = await Served.open({ blocks: 3 });
    document = (await served.get('/openapi.json')).json<Document>();
  });
  after(() => served.close());

  test('has every route that is promised', () => {
    assert.equal(document.openapi, '3.1.0');
    const routes = operations().map(({ route }) => route);
    for (const route of PROMISED) assert.ok(routes.includes(route.replace(' ', ' /api/v1')), `${route} is not there`);
    for (const route of ['GET /health', 'GET /ready']) assert.ok(routes.includes(route), `${route} at the root`);
  });

  test('is what the router really has', () => {
    const routes = operations().map(({ route }) => route.split(' '));
    for (const [method, path] of routes) {
      const url = path.replace(/\{([^}]+)\}/g, ':$1');
      assert.ok(served.app.hasRoute({ method: method as 'GET', url }), `${method} ${url}`);
    }
    assert.equal(served.app.hasRoute({ method: 'GET', url: '/api/v1/nothing' }), false);
  });

  test('says of each what it takes, gives and how it fails', () => {
    for (const { route, operation } of operations()) {
      assert.ok(operation.summary.length > 3 && operation.tags.length === 1, route);
      assert.ok('default' in operation.responses && ('200' in operation.responses || '201' in operation.responses), route);
      const inPath = [...route.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      const parameters = operation.parameters ?? [];
      assert.deepEqual(
        parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
        inPath,
        route,
      );
      for (const { name, description } of parameters) assert.ok(description !== undefined && description !== '', `${name} of ${route}`);
    }
  });

  test('holds sound schemas, and every reference leads somewhere', () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema({ ...document, $id: 'doc:' });
    for (const { route, operation } of operations()) {
      const contents = Object.values(operation.responses).flatMap(({ content = {} }) => Object.values(content));
      const schemas = [...contents, ...(operation.parameters ?? []), ...Object.values(operation.requestBody?.content ?? {})];
      for (const { schema } of schemas) {
        const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"doc:#/components')) as object;
        assert.doesNotThrow(() => ajv.compile(local), route);
      }
    }
    for (const [, name] of JSON.stringify(document).matchAll(/#\/components\/schemas\/([A-Za-z0-9-]+)/g))
      assert.ok(name in document.components.schemas, name);
  });

  test('makes a page: every route, every document, every code', async () => {
    const page = await served.get('//docs/api');
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    for (const { route } of operations()) assert.ok(page.text.includes(`<code>${route.split(' ')[1]}</code>`), route);
    for (const name of Object.keys(document.components.schemas)) assert.ok(page.text.includes(`id="schema-${name}"`), name);
    for (const code of [...Object.keys(ERROR_CODES), 'INTERNAL']) assert.ok(page.text.includes(`id="error-${code}"`), code);
    for (const [, id] of page.text.matchAll(/href="#([^"]+)"/g)) assert.ok(page.text.includes(`id="${id}"`), `#${id} leads nowhere`);
    const [, sheet] = /href="(\/page\/[^"]+\/reference\.css)"/.exec(page.text) ?? [];
    const style = await served.get(`/${sheet}`);
    assert.equal(style.headers['content-type'], 'text/css; charset=utf-8');
    assert.match(style.text, /var\(--accent\)/);
  });

  test('docs/reference/http.md lists the same routes', () => {
    const text = readFileSync(new URL('../../../docs/reference/http.md', import.meta.url), 'utf8');
    // Wallets have a table of their own, of paths below theirs.
    const [own, ofWallets] = text.split('### Wallets');
    const isOfWallets = ({ route }: { readonly route: string }): boolean => route.includes(' /api/v1/wallets/');
    for (const { route } of operations().filter(isOfWallets)) {
      const path = route.slice(route.indexOf('/wallets/') + '/wallets'.length);
      assert.ok(ofWallets.includes(` ${path}\``) || ofWallets.includes(` ${path}?`), route);
    }
    const listed = [...own.matchAll(/^\| `(GET|POST) (\S+)` \| (.+) \|$/gm)].map(
      ([, method, path, summary]) => `${method} ${path} ${summary}`,
    );
    const others = operations().filter((operation) => !isOfWallets(operation));
    const wanted = others.map(({ route, operation }) => `${route} ${operation.summary}`);
    assert.deepEqual(listed.toSorted(), wanted.toSorted());
  });
});
