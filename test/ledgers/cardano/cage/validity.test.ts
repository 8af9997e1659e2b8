/**
 * The slots of a transaction of a cage: within the phases of every request that
 * it takes, never wider, and never past the horizon of the network.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { boundsFor, type CageRequest, commonBounds, requestPhase, slotsWithin } from '../../../../src/ledgers/cardano/cage/index.ts';
import { cardanoNetwork } from '../../../../src/ledgers/cardano/networks.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';

const network = cardanoNetwork('preprod');
const HEAD = 1_000_000;
const at = (slot: number): bigint => BigInt(1000 * (network.systemStart + 86_400 * 20 + (slot - 86_400)));
/** 3k/f: k is 2160, f 1/20. */
const HORIZON = HEAD + 129_600;
const now = { headSlot: HEAD, nowSlot: HEAD };
const conflict = (why: RegExp) => (error: Error) => isUnspentError(error, 'CAGE_CONFLICT') && why.test(error.message);

describe('slots of a transaction', () => {
  test('lie wholly within the bounds', () => {
    assert.deepEqual(slotsWithin(network, { from: at(1_000_010), before: at(1_000_020) }, now), { from: 1_000_010, until: 1_000_020 });
    // Between two slots: the interval gets narrower, never wider.
    assert.deepEqual(slotsWithin(network, { from: at(1_000_010) + 1n, before: at(1_000_020) + 1n }, now), {
      from: 1_000_011,
      until: 1_000_020,
    });
    assert.deepEqual(slotsWithin(network, { from: null, before: null }, now), { from: null, until: null });
  });

  test('end at the horizon, which is counted from the newest block, whatever the clock says', () => {
    assert.equal(slotsWithin(network, { from: null, before: 1n << 80n }, now).until, HORIZON);
    assert.equal(slotsWithin(network, { from: null, before: 1n << 80n }, { ...now, nowSlot: HEAD + 5000 }).until, HORIZON);
    assert.throws(() => slotsWithin(network, { from: at(HORIZON + 1), before: null }, now), conflict(/past the horizon/));
    // A chain that stands still: nodes cannot turn the present into a slot any more.
    const late = { ...now, nowSlot: HORIZON };
    assert.throws(() => slotsWithin(network, { from: null, before: 1n << 80n }, late), conflict(/past the horizon.*too old/));
  });

  test('are none where the time is over', () => {
    assert.throws(() => slotsWithin(network, { from: null, before: at(999_999) }, now), conflict(/had to be in a block/));
    assert.throws(() => slotsWithin(network, { from: null, before: -5n }, now), conflict(/had to be in a block/));
    const between = { from: null, before: at(HEAD + 10) };
    assert.equal(slotsWithin(network, between, now).until, HEAD + 10);
    assert.throws(() => slotsWithin(network, between, { ...now, nowSlot: HEAD + 10 }), conflict(/now is slot 1000010/));
  });
});

test('the bounds of a request are those of its phases', () => {
  const terms = { tip: 1n, processTime: 60n, retractTime: 40n };
  const request: CageRequest = {
    token: new Uint8Array(32),
    owner: new Uint8Array(28),
    key: new Uint8Array(),
    operation: { type: 'insert', value: new Uint8Array() },
    terms: { tip: 1n, submittedAt: 1000n },
  };
  for (let ms = 900n; ms < 1200n; ms++) {
    const phase = requestPhase(request, terms, ms);
    const holds = (use: 'apply' | 'retract' | 'reject'): boolean => {
      const { from, before } = boundsFor(use, request, terms, phase);
      return (from === null || ms >= from) && (before === null || ms < before);
    };
    assert.equal(holds('apply'), phase === 'process' || phase === 'dishonest', `apply at ${ms}`);
    assert.equal(holds('retract'), phase === 'retract', `retract at ${ms}`);
    assert.equal(holds('reject'), phase === 'reject' || phase === 'dishonest', `reject at ${ms}`);
  }
  const bare = { ...request, terms: null };
  assert.deepEqual(boundsFor('apply', bare, null, null), { from: null, before: null });
  assert.deepEqual(
    commonBounds([
      { from: 5n, before: null },
      { from: 3n, before: 9n },
      { from: null, before: 7n },
    ]),
    { from: 5n, before: 7n },
  );
  assert.deepEqual(commonBounds([]), { from: null, before: null });
});
