/** The drawing of a flow, whatever flows: one input or a hundred, dust beside a fortune, values that nobody knows any more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { flowLayout, type Ribbon } from '../../src/server/page/client/flow-layout.ts';

const value = fc.oneof(fc.constant(null), fc.bigInt({ min: 0n, max: 45_000_000_000_000_000n }), fc.bigInt({ min: 0n, max: 1000n }));
const side = fc.array(value, { minLength: 1, maxLength: 100 });

/** Each has its own room at the edge, in its order. */
function assertApart(ribbons: readonly Ribbon[], height: number): void {
  ribbons.forEach(({ y, width }, i) => {
    assert.ok(width > 1, `a ribbon of ${width} cannot be seen`);
    assert.ok(y - width / 2 >= -0.1 && y + width / 2 <= height + 0.1, `a ribbon at ${y} of ${height}`);
    const before = ribbons[i - 1];
    if (before !== undefined) assert.ok(y - width / 2 >= before.y + before.width / 2 - 0.2, 'ribbons do not overlap at the edge');
  });
}

test('every end is drawn, apart from the others, inside of the drawing', () => {
  fc.assert(
    fc.property(side, side, fc.integer({ min: 320, max: 1240 }), (inputs, outputs, width) => {
      const { left, right, height, from, to } = flowLayout(inputs, outputs, width);
      assert.deepEqual([left.length, right.length], [inputs.length, outputs.length]);
      assert.ok(from < width / 2 && to > width / 2, 'there is room for the ribbons');
      assert.ok(height <= 1700, `${height} pixels`);
      for (const ribbons of [left, right]) assertApart(ribbons, height);
    }),
  );
});

test('ribbons are as thick as their share, and both sides are as thick where they meet', () => {
  const { left, right } = flowLayout([75n, 25n], [50n, 40n, 10n], 1000);
  assert.ok(Math.abs(left[0].width - 3 * left[1].width) < 0.3);
  const meets = (ribbons: readonly Ribbon[]): number[] => ribbons.map(({ path }) => Number(path.split(' ').at(-1)));
  const top = (ribbons: readonly Ribbon[]): number => meets(ribbons)[0] - ribbons[0].width / 2;
  const bottom = (ribbons: readonly Ribbon[]): number => meets(ribbons).at(-1)! + ribbons.at(-1)!.width / 2;
  assert.ok(Math.abs(top(left) - top(right)) < 0.3 && Math.abs(bottom(left) - bottom(right)) < 0.3);
});

test('few ends have words beside them, many have none', () => {
  const lines = (count: number): number => flowLayout(Array(count).fill(1n), [1n], 1200).left[0].lines;
  assert.deepEqual([lines(1), lines(12), lines(13), lines(30), lines(31), lines(100)], [2, 2, 1, 1, 0, 0]);
});
