/**
 * One moment of the store that several hold on to: the feed, and readers on
 * their way to where it is. Let go by all of them, its lease is released.
 */

import { ALL, PositionWriter } from '../../../events/position.ts';
import type { Lease } from '../../../events/shared-snapshots.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import { headRow } from './walk.ts';

export class Moment {
  readonly query: Query;
  private readonly lease: Lease;
  private holders = 1;
  private headId: string | null = null;

  constructor(lease: Lease) {
    this.lease = lease;
    this.query = lease.query;
  }

  hold(): this {
    this.holders++;
    return this;
  }

  letGo(): void {
    assert(this.holders > 0, 'a moment is let go once by each who holds it');
    if (--this.holders === 0) this.lease.release();
  }

  /** The same block: nothing happened between the two. */
  isAt({ head }: Query): boolean {
    const mine = this.query.head;
    return mine === head || (mine !== null && head !== null && equalBytes(mine.hash, head.hash));
  }

  /** The id of a reader who has seen everything up to here. */
  get id(): string {
    this.headId ??= new PositionWriter(this.query).at(headRow(this.query), ALL);
    return this.headId;
  }
}
