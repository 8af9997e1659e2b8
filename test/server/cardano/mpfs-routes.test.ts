/**
 * Every route that clients of the MPFS protocol call, of the current service and
 * of the first one, held against what the server has: none may be missing. And
 * what a server says that follows no node which could be asked.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { HTTPMethods } from 'fastify';
import { assertCageProblem, CageServed } from '../../support/cage-served.ts';
import { CageTale } from '../../support/cage-story.ts';

/** Calls as clients make them; names of parameters are ours. */
const CURRENT = `
GET /status
GET /eval-context
GET /tokens
GET /tokens/:id
GET /tokens/:id/root
GET /tokens/:id/facts
GET /tokens/:id/facts/:key
GET /tokens/:id/proofs/:key
GET /tokens/:id/requests
GET /utxo/root
GET /utxo/:tx/:index
GET /utxo/:tx/:index/proof
GET /tx/:tx
POST /facts/boot
POST /facts/request/insert
POST /facts/request/delete
POST /facts/request/update
POST /facts/update
POST /facts/retract
POST /facts/reject
POST /facts/end
POST /tx/sweep
POST /submit
GET /metrics
GET /metrics/prometheus
GET /swagger-ui`;
const FIRST = `
GET /config
GET /tokens
GET /token/:id
GET /token/:id/facts
GET /transaction/:address/boot-token
GET /transaction/:address/end-token/:id
POST /transaction/:address/request-insert/:id
POST /transaction/:address/request-delete/:id
POST /transaction/:address/request-update/:id
GET /transaction/:address/update-token/:id
GET /transaction/:address/retract-change/:request
POST /transaction
GET /transaction
GET /wait/:count
POST /indexer/wait-blocks`;

const callsIn = (list: string, prefix: string): { readonly method: HTTPMethods; readonly url: string }[] =>
  list
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([method, path]) => ({ method: method as HTTPMethods, url: `${prefix}${path}` }));

describe('routes of the MPFS API', () => {
  const tale = new CageTale(11);
  const address = `60${'11'.repeat(28)}`;
  let served: CageServed;

  before(async () => {
    served = await CageServed.open();
    while (tale.blocks.length < 5) tale.next();
    served.apply(tale.blocks.map(({ block }) => block));
  });
  after(() => served.close());

  test('none is missing', () => {
    const calls = [...callsIn(CURRENT, '/mpfs'), ...callsIn(FIRST, '/mpfs/v0')];
    const missing = calls.filter((call) => !served.app.hasRoute(call)).map(({ method, url }) => `${String(method)} ${url}`);
    assert.deepEqual(missing, []);
  });

  test('all are in the OpenAPI document, but for pages that are elsewhere', () => {
    const { paths } = served.app.swagger() as unknown as { paths: Record<string, Record<string, object>> };
    const calls = [...callsIn(CURRENT, '/mpfs'), ...callsIn(FIRST, '/mpfs/v0')];
    const described = (url: string, method: string): boolean => paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] !== undefined;
    const left = calls.filter(({ method, url }) => !described(url, String(method))).map(({ url }) => url);
    assert.deepEqual(left, ['/mpfs/metrics', '/mpfs/metrics/prometheus', '/mpfs/swagger-ui']);
  });

  test('the pages that are elsewhere are named', async () => {
    for (const [path, there] of [
      ['metrics', '/metrics'],
      ['metrics/prometheus', '/metrics'],
      ['swagger-ui', '/docs/api'],
    ]) {
      const answer = await served.app.inject({ method: 'GET', url: `/mpfs/${path}`, headers: { host: 'localhost' } });
      assert.deepEqual([answer.statusCode, answer.headers.location], [307, there]);
      assert.ok(served.app.hasRoute({ method: 'GET', url: there }));
    }
  });

  test('without a node that could be asked, nothing is built or made up', async () => {
    assertCageProblem(await served.get('/eval-context'), 'UNSUPPORTED', 501, /nothing is followed/);
    assertCageProblem(await served.get(`/v0/transaction/${address}/boot-token`), 'UNSUPPORTED', 501, /nothing is followed/);
    const sweep = { token: 'ab'.repeat(32), utxo: `${'ab'.repeat(32)}#0`, address };
    assertCageProblem(await served.post('/tx/sweep', sweep), 'UNSUPPORTED', 501, /nothing is followed/);
    // Facts are worth having without protocol parameters, which are then said to be absent.
    assert.equal((await served.post('/facts/boot', { address })).json()['protocol_parameters'], null);
  });
});
