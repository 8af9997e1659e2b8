/** How many proofs the tests of the verifiers try: each of them asserts its own part. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROOFS } from './support.ts';

test('a hundred thousand true proofs, and as many changed ones', () => {
  const all = Object.values(PROOFS).reduce((sum, count) => sum + count, 0);
  assert.ok(all >= 100_000, `${all} proofs`);
});
