/**
 * Outputs that requests of one turn of the event loop ask for by their names,
 * looked up together: to RocksDB sixteen keys in one call cost half of what they
 * cost one by one. The first request whose step is run reads for all that wait,
 * and each then goes on in its own step, so that turns and bounds are what they
 * are for every other request.
 */
import { outpointKey } from '../../ledgers/outpoint.ts';
import type { Query } from '../../query/query.ts';
import type { Utxo } from '../../query/utxo.ts';
import { TURN_LOOKUPS_MAX } from '../../util/limits.ts';
import type { Task } from './work/task.ts';

interface Lookup {
  readonly query: Query;
  readonly key: Uint8Array;
  isRead: boolean;
  /** As the unspent set has it; undefined: it is not in there. */
  stored: Uint8Array | undefined;
}

export class TurnLookups {
  #waiting: Lookup[] = [];

  /**
   * What `give` makes of the output that this query knows under the name (null: it knows none), at the end of this turn.
   * The caller holds the query until then.
   */
  outpoint<T>(query: Query, task: Task, txId: Uint8Array, index: number, give: (found: Utxo | null) => T): Promise<T> {
    const lookup: Lookup = { query, key: outpointKey(txId, index), isRead: false, stored: undefined };
    this.#waiting.push(lookup);
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        try {
          if (!lookup.isRead) this.#readWith(lookup);
          resolve(give(query.outpointStored(txId, index, lookup.stored)));
        } catch (error) {
          reject(error as Error);
        }
      };
      const drop = (error: Error): void => {
        this.#waiting = this.#waiting.filter((other) => other !== lookup);
        reject(error);
      };
      task.gather(answer, drop);
    });
  }

  /** This one, and those that wait and ask the same query. */
  #readWith(first: Lookup): void {
    const { query } = first;
    const others: Lookup[] = [];
    const rest: Lookup[] = [];
    for (const lookup of this.#waiting) {
      if (lookup === first) continue;
      const list = lookup.query === query && others.length + 1 < TURN_LOOKUPS_MAX ? others : rest;
      list.push(lookup);
    }
    this.#waiting = rest;
    const together = [first, ...others];
    try {
      read(query, together);
    } catch (error) {
      if (others.length === 0) throw error;
      // A failure is of the one whose row cannot be read: each goes by itself then.
      this.#waiting.push(...others);
      read(query, [first]);
    }
  }
}

function read(query: Query, lookups: readonly Lookup[]): void {
  const stored = query.storedUnspent(lookups.map(({ key }) => key));
  for (let i = 0; i < lookups.length; i++) {
    lookups[i].isRead = true;
    lookups[i].stored = stored[i];
  }
}
