/** The memory of a selection's columns is used again, and never by two at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SELECTION_COLUMN_KEPT_MAX } from '../../../src/util/limits.ts';
import { reusingColumns, takeFlags, takeIndexes, takeNumbers } from '../../../src/wallet/selection/columns.ts';

test('columns of one selection are the memory of those before, also after one that failed', () => {
  const memory = () => reusingColumns(() => [takeNumbers(5), takeNumbers(2000), takeIndexes(7), takeFlags(9)].map(({ buffer }) => buffer));
  const first = memory();
  assert.equal(new Set(first).size, 4, 'each has its own');
  assert.throws(() =>
    reusingColumns(() => {
      takeNumbers(1);
      throw new Error('no coins');
    }),
  );
  for (const [i, buffer] of memory().entries()) assert.equal(buffer, first[i]);
});

test('what is taken inside is free again outside, and what was taken before it is not', () => {
  reusingColumns(() => {
    const outer = takeNumbers(10);
    const inner = reusingColumns(() => takeNumbers(10).buffer);
    const next = takeNumbers(10);
    assert.notEqual(inner, outer.buffer);
    assert.equal(next.buffer, inner);
  });
});

test('a column is new outside of a selection, and where it is too long to be kept', () => {
  assert.notEqual(takeNumbers(10).buffer, takeNumbers(10).buffer);
  const length = SELECTION_COLUMN_KEPT_MAX + 1;
  const [first, second] = [reusingColumns(() => takeIndexes(length).buffer), reusingColumns(() => takeIndexes(length).buffer)];
  assert.notEqual(first, second);
});

test('flags are 0, whatever was there before', () => {
  reusingColumns(() => takeFlags(3000).fill(1));
  reusingColumns(() => assert.ok(takeFlags(3000).every((flag) => flag === 0)));
});
