/** Which answers are cached: what was made quickly and is short when it is asked for again, all else at once; nothing over a move of the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { ResponseCache } from '../../../src/server/http/response-cache.ts';
import { CACHED_RESPONSE_CHARS_MAX, RESPONSE_CACHE_CHARS_MAX, SHORT_RESPONSE_CHARS } from '../../../src/util/limits.ts';

/** Headers by name. */
function replyOf(headers: Record<string, string> = {}): FastifyReply {
  return {
    getHeader: (name: string) => headers[name],
    header: (name: string, value: string) => {
      headers[name] = value;
    },
  } as unknown as FastifyReply;
}

test('a short answer is cached when it is asked for again, with its own headers', () => {
  const cache = new ResponseCache();
  const made = replyOf({ link: '<next>', etag: 'x' });
  cache.set('json', '/a', 'body', made, true);
  assert.equal(cache.get('json', '/a', replyOf()), undefined);
  cache.set('json', '/a', 'body', made, true);
  const headers: Record<string, string> = {};
  assert.equal(cache.get('json', '/a', replyOf(headers)), 'body');
  assert.deepEqual(headers, { link: '<next>' });
  // Of the other form nobody has asked.
  cache.set('cbor', '/a', Uint8Array.of(1), made, true);
  assert.equal(cache.get('cbor', '/a', replyOf()), undefined);
  cache.clear();
  assert.equal(cache.get('json', '/a', replyOf()), undefined);
  cache.set('json', '/a', 'body', made, true);
  assert.equal(cache.get('json', '/a', replyOf()), undefined);
});

test('what is long or took long is cached at once, but for what is too long', () => {
  const cache = new ResponseCache();
  const long = 'x'.repeat(SHORT_RESPONSE_CHARS + 1);
  cache.set('json', '/long', long, replyOf(), true);
  cache.set('json', '/dear', '0', replyOf(), false);
  cache.set('json', '/huge', 'x'.repeat(CACHED_RESPONSE_CHARS_MAX + 1), replyOf(), false);
  assert.deepEqual(
    ['/long', '/dear', '/huge'].map((url) => cache.get('json', url, replyOf())?.length),
    [long.length, 1, undefined],
  );
});

test('all of them together are bounded', () => {
  const cache = new ResponseCache();
  const body = 'x'.repeat(CACHED_RESPONSE_CHARS_MAX);
  const count = RESPONSE_CACHE_CHARS_MAX / CACHED_RESPONSE_CHARS_MAX;
  for (let i = 0; i < count; i++) cache.set('json', `/${i}`, body, replyOf(), false);
  assert.equal(cache.get('json', '/0', replyOf()), undefined);
  assert.equal(cache.get('json', `/${count - 1}`, replyOf()), body);
});
