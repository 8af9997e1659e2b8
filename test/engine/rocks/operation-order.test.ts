/** In which order the thread that writes puts the operations of a batch. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { OperationOrder } from '../../../src/engine/rocks/writer/operation-order.ts';
import { OperationPlace, Operations, readOperation, SLAB_BITS, SlabPool } from '../../../src/engine/rocks/writer/operations.ts';
import { compareBytes, toHex } from '../../../src/util/bytes.ts';

const COLUMNS = 3;

interface Operation {
  readonly column: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** Few keys, short ones and long ones, so that many begin alike or are the same. */
const operation: fc.Arbitrary<Operation> = fc.record({
  column: fc.nat(COLUMNS - 1),
  key: fc.uint8Array({ minLength: 1, maxLength: 7, max: 3 }),
  value: fc.option(fc.uint8Array({ maxLength: 20 })),
});

function fill(operations: Operations, { column, key, value }: Operation): void {
  if (value === null) operations.del(column, key);
  else operations.put(column, key, value);
}

/** What the slabs hold at these places. */
function read({ slabs }: Operations, places: Int32Array): Operation[] {
  const at = new OperationPlace();
  return Array.from(places, (place) => {
    const { bytes, words } = slabs[place >>> SLAB_BITS];
    readOperation(words, place & ((1 << SLAB_BITS) - 1), at);
    return { column: at.column, key: bytes.slice(at.keyAt, at.keyEnd), value: at.isDeletion ? null : bytes.slice(at.valueAt, at.valueEnd) };
  });
}

const prefix = (key: Uint8Array): Uint8Array => Uint8Array.from({ length: 4 }, (_, i) => key[i] ?? 0);

it('all of them, by column and the first four bytes of the key, the same key as it was added', () => {
  const order = new OperationOrder();
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 300 }), (list) => {
      const operations = new Operations(COLUMNS, new SlabPool());
      for (const each of list) fill(operations, each);
      const wanted = list.toSorted((a, b) => a.column - b.column || compareBytes(prefix(a.key), prefix(b.key)));
      const text = ({ column, key, value }: Operation) => `${column} ${toHex(key)} ${value === null ? 'none' : toHex(value)}`;
      assert.deepEqual(read(operations, order.arrange(operations.slabs, COLUMNS)).map(text), wanted.map(text));
    }),
  );
});

it('over many slabs, and more of them than before', () => {
  const order = new OperationOrder();
  for (const count of [10, 5000, 100]) {
    const operations = new Operations(COLUMNS, new SlabPool());
    const value = new Uint8Array(1000);
    for (let i = 0; i < count; i++) operations.put(i % COLUMNS, Uint8Array.of(255 - (i & 255), i & 255, 0, 0, i >> 8), value);
    const places = order.arrange(operations.slabs, COLUMNS);
    assert.equal(new Set(places).size, count);
    const sorted = read(operations, places);
    for (let i = 1; i < count; i++) {
      const [a, b] = [sorted[i - 1], sorted[i]];
      assert.ok(a.column < b.column || (a.column === b.column && compareBytes(prefix(a.key), prefix(b.key)) <= 0));
    }
  }
});
