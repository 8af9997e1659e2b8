/**
 * Outputs that several requests ask for in one turn: one call to the engine for
 * all of them, each answered as if it had asked alone, whoever leaves or fails.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Query } from '../../../src/query/query.ts';
import type { Utxo } from '../../../src/query/utxo.ts';
import { TurnLookups } from '../../../src/server/http/turn-lookups.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { isUnspentError, UnspentError } from '../../../src/util/errors.ts';
import { TURN_LOOKUPS_MAX } from '../../../src/util/limits.ts';

const txId = (first: number): Uint8Array => new Uint8Array(32).fill(first);
const nameOf = (found: Utxo | null): number | null => found?.txId[0] ?? null;

/** Knows the outputs of these transactions, counts the calls, and fails where a row is damaged. */
class CountedQuery {
  readonly calls: number[] = [];
  readonly known: ReadonlySet<number>;
  readonly damaged: number | null;

  constructor(known: readonly number[], damaged: number | null = null) {
    this.known = new Set(known);
    this.damaged = damaged;
  }

  storedUnspent(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.calls.push(keys.length);
    if (keys.some((key) => key[0] === this.damaged)) throw new UnspentError('STORE_DAMAGED', 'a row cannot be read');
    return keys.map((key) => (this.known.has(key[0]) ? key : undefined));
  }

  outpointStored(id: Uint8Array, index: number, stored: Uint8Array | undefined): Utxo | null {
    return stored === undefined ? null : ({ txId: id, index } as Utxo);
  }

  get asQuery(): Query {
    return this as unknown as Query;
  }
}

describe('lookups of one turn', () => {
  test('are one call for all that ask the same query', async () => {
    const [workload, lookups] = [new Workload(), new TurnLookups()];
    const [newest, older] = [new CountedQuery([1, 2, 3]), new CountedQuery([4])];
    const asked = [1, 2, 9, 3].map((name) =>
      lookups.outpoint(
        newest.asQuery,
        workload.task(() => false),
        txId(name),
        0,
        nameOf,
      ),
    );
    const other = lookups.outpoint(
      older.asQuery,
      workload.task(() => false),
      txId(4),
      0,
      nameOf,
    );
    assert.deepEqual([newest.calls, older.calls, workload.waiting], [[], [], 5]);
    assert.deepEqual(await Promise.all([...asked, other]), [1, 2, null, 3, 4]);
    assert.deepEqual([newest.calls, older.calls, workload.waiting, workload.rounds], [[4], [1], 0, 1]);
  });

  test('are as many calls as the bound wants', async () => {
    const [workload, lookups, query] = [new Workload(), new TurnLookups(), new CountedQuery([7])];
    const asked = Array.from({ length: TURN_LOOKUPS_MAX + 1 }, () =>
      lookups.outpoint(
        query.asQuery,
        workload.task(() => false),
        txId(7),
        0,
        nameOf,
      ),
    );
    await Promise.all(asked);
    assert.deepEqual(query.calls, [TURN_LOOKUPS_MAX, 1]);
  });

  test('fail for the one whose row cannot be read, and for nobody else', async () => {
    const [workload, lookups, query] = [new Workload(), new TurnLookups(), new CountedQuery([1, 2, 3], 2)];
    const asked = [1, 2, 3].map((name) =>
      lookups.outpoint(
        query.asQuery,
        workload.task(() => false),
        txId(name),
        0,
        nameOf,
      ),
    );
    const ended = await Promise.allSettled(asked);
    assert.deepEqual(
      [ended[0], ended[2]],
      [1, 3].map((value) => ({ status: 'fulfilled', value })),
    );
    assert.ok(ended[1].status === 'rejected' && isUnspentError(ended[1].reason, 'STORE_DAMAGED'));
  });

  test('end with their client, and leave nothing behind', async () => {
    const [workload, lookups, query] = [new Workload(), new TurnLookups(), new CountedQuery([1, 2])];
    const give = (): never => assert.fail('its client is gone');
    const gone = lookups.outpoint(
      query.asQuery,
      workload.task(() => true),
      txId(1),
      0,
      give,
    );
    const kept = lookups.outpoint(
      query.asQuery,
      workload.task(() => false),
      txId(2),
      0,
      nameOf,
    );
    await assert.rejects(gone, (error) => isUnspentError(error, 'BUSY'));
    assert.deepEqual([await kept, query.calls], [2, [1]]);
  });

  test('do not make what comes in the same turn wait', () => {
    const workload = new Workload();
    workload
      .task(() => false)
      .gather(
        () => undefined,
        () => undefined,
      );
    let isBegun = false;
    workload
      .task(() => false)
      .start(() => {
        isBegun = true;
      });
    assert.ok(isBegun);
  });
});
