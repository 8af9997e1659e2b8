/** What every wire shape's answers rest on: one lease for each answer, released once, whichever way it ends; and 304. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fastify from 'fastify';
import type { Query } from '../../../src/query/query.ts';
import type { Reads } from '../../../src/server/context.ts';
import { answerRead, isKnownTo, nameBlock, type ReadAnswer, setValidator } from '../../../src/server/http/read-answer.ts';

const TYPE = 'text/plain; charset=utf-8';
const QUERY = {} as Query;

/** A server with one route that answers so, and the leases it took and gave back. */
async function ask(produce: () => ReadAnswer | null, headers: Record<string, string> = {}) {
  const leases = { taken: 0, released: 0 };
  const lease = () => {
    leases.taken++;
    return { query: QUERY, release: () => void leases.released++ };
  };
  const app = fastify();
  app.get('/', (request, reply) => {
    answerRead({ lease, attempt: (read) => read() } as Partial<Reads> as Reads, reply, (query) => {
      assert.equal(query, QUERY);
      nameBlock(reply, { height: '7', hash: 'ab' });
      setValidator(reply, 'W/"ab-json"');
      return isKnownTo(request, 'W/"ab-json"') ? null : produce();
    });
  });
  const response = await app.inject({ url: '/', headers });
  await app.close();
  assert.deepEqual(leases, { taken: 1, released: 1 });
  return response;
}

describe('the answer to a read', () => {
  it('is a text, bytes, a promise or a stream, with its type, its block and its validator', async () => {
    const bodies = [
      () => 'whole',
      () => Buffer.from('whole'),
      async () => 'whole',
      () => Readable.from(['who', 'le']),
      async () => Readable.from(['who', 'le']),
    ];
    for (const body of bodies) {
      const { statusCode, body: text, headers } = await ask(() => ({ type: TYPE, body: body() }));
      assert.deepEqual([statusCode, text, headers['content-type']], [200, 'whole', TYPE]);
      assert.deepEqual([headers['x-block-height'], headers['x-block-slot'], headers['x-block-hash']], ['7', undefined, 'ab']);
      assert.deepEqual([headers['etag'], headers['cache-control']], ['W/"ab-json"', 'no-cache']);
    }
  });

  it('is 304, and nothing is made, if the client has it', async () => {
    for (const known of ['W/"ab-json"', '"ab-json"', '"other", W/"ab-json"']) {
      const { statusCode, body, headers } = await ask(() => assert.fail('made'), { 'if-none-match': known });
      assert.deepEqual([statusCode, body, headers['content-type'], headers['etag']], [304, '', undefined, 'W/"ab-json"']);
    }
    assert.equal((await ask(() => ({ type: TYPE, body: 'new' }), { 'if-none-match': '"other"' })).body, 'new');
  });

  it('is the error that was thrown, at once or later', async () => {
    const thrown = await ask(() => {
      throw new Error('at once');
    });
    const rejected = await ask(() => ({ type: TYPE, body: Promise.reject(new Error('later')) }));
    assert.deepEqual([thrown.statusCode, rejected.statusCode], [500, 500]);
    assert.match(thrown.body + rejected.body, /at once.*later/s);
  });

  it('names no block any more where there is none', async () => {
    const app = fastify();
    app.get('/', (_request, reply) => {
      nameBlock(reply, { height: '7', slot: '9', hash: 'ab' });
      nameBlock(reply, null);
      reply.send('');
    });
    const { headers } = await app.inject('/');
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('x-block')),
      [],
    );
    await app.close();
  });
});
