/**
 * Time limits that wait for one another: where one party waits for the answer
 * of another, the other's own limit must end first, or its words are never
 * heard. A pair that crosses fails here, not at a user's.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SETTINGS } from '../../src/config/schema.ts';
import { connectionMs } from '../../src/server/app.ts';
import * as limits from '../../src/util/limits.ts';

/** What must end first, and what waits for it, in milliseconds. */
const PAIRS: readonly (readonly [string, number, string, number])[] = [
  ['a submission over P2P', limits.P2P_SUBMIT_MS, 'whoever submits', limits.SUBMIT_MS_MAX],
  ['a submission over RPC', limits.CONNECT_MS + limits.RPC_SUBMIT_MS, 'whoever submits', limits.SUBMIT_MS_MAX],
  ['the greeting of a further connection', limits.CONNECT_MS + 2 * limits.HANDSHAKE_STEP_MS, 'a submission over P2P', limits.P2P_SUBMIT_MS],
  ['a submission', limits.SUBMIT_MS_MAX, 'an HTTP connection', connectionMs(0)],
  ['a package', limits.SUBMIT_PACKAGE_MS + limits.SUBMIT_MS_MAX, 'an HTTP connection', connectionMs(0)],
  ['a package', limits.SUBMIT_PACKAGE_MS + limits.SUBMIT_MS_MAX, 'an Electrum session', limits.ELECTRUM_IDLE_MS],
  [
    'the longest wait for a slot',
    1000 * SETTINGS['server.waitSecondsMax'].max,
    'an HTTP connection',
    connectionMs(SETTINGS['server.waitSecondsMax'].max),
  ],
  ['two pings', 2 * limits.P2P_PING_MS, 'the silence of a node', limits.P2P_SILENCE_MS],
  ['an answer of a node', limits.P2P_ANSWER_MS, 'its silence', limits.P2P_SILENCE_MS],
  ['an answer over RPC', limits.RPC_ANSWER_MS, 'a node that loads', limits.RPC_LOADING_MS_MAX],
  ['an answer over RPC', limits.RPC_ANSWER_MS, 'a walk over the whole set', limits.RPC_SET_INFO_MS],
  ['the headers of a request', limits.HTTP_HEADERS_MS, 'all of it', limits.HTTP_REQUEST_MS],
  ['a reader that stalls', limits.HTTP_STALLED_MS, 'a streamed answer', limits.HTTP_STREAM_MS_MAX],
];

describe('time limits', () => {
  for (const [inner, innerMs, outer, outerMs] of PAIRS) {
    it(`${inner} ends before ${outer}`, () => assert.ok(innerMs < outerMs, `${innerMs} ms, and ${outerMs} ms`));
  }
});
