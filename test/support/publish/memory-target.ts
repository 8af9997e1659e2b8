/** A copy in maps: the smallest thing that keeps the contract, for the properties of changes. */
import assert from 'node:assert/strict';
import type { Row, ScanOptions } from '../../../src/engine/engine.ts';
import { type CopyChange, countOf } from '../../../src/publish/change.ts';
import type { PublishedIdentity } from '../../../src/publish/identity.ts';
import type { Claim, CopyTarget, PublishedHead, PublishedRows, SnapshotLoad } from '../../../src/publish/target.ts';
import type { Head } from '../../../src/state/head.ts';
import type { Dump } from '../../../src/testing/columns-dump.ts';
import { toHex } from '../../../src/util/bytes.ts';

type Columns = Map<string, Map<string, Uint8Array>>;

const text = (key: Uint8Array): string => Buffer.from(key).toString('latin1');

export class MemoryTarget implements CopyTarget {
  readonly name = 'maps';
  readonly form = 'columns';
  readonly rows: PublishedRows;
  columns: Columns = new Map();
  identity: PublishedIdentity | null = null;
  head: PublishedHead = { seq: 0, epoch: 0, height: null, slot: null, hash: null, isComplete: false };
  /** Reads of the copy itself. */
  reads = 0;

  constructor() {
    this.rows = {
      get: async (column, keys) => {
        this.reads++;
        return keys.map((key) => this.columns.get(column)?.get(text(key)));
      },
      scan: async (column, options) => {
        this.reads++;
        return this.scan(column, options);
      },
    };
  }

  async claim(): Promise<Claim> {
    this.head = { ...this.head, epoch: this.head.epoch + 1 };
    return { head: this.head, identity: this.identity };
  }

  async load(identity: PublishedIdentity): Promise<SnapshotLoad> {
    const columns: Columns = new Map(identity.columns.map(({ name }) => [name, new Map()]));
    return {
      rows: async (column, rows) => {
        for (const [key, value] of rows) columns.get(column)?.set(text(key), value);
      },
      finish: async ({ head }) => {
        this.columns = columns;
        this.identity = identity;
        return this.move(head, 1);
      },
      abandon: async () => {},
    };
  }

  async publish(changes: readonly CopyChange[]): Promise<PublishedHead> {
    for (const { columns } of changes) {
      for (const { column, puts, deletes } of columns) {
        const rows = this.columns.get(column);
        assert.ok(rows !== undefined, `the copy has ${column}`);
        for (const [key, value] of puts) rows.set(text(key), value);
        for (const key of deletes) rows.delete(text(key));
      }
    }
    return this.move(changes.at(-1)?.head ?? null, countOf(changes));
  }

  async renew(): Promise<void> {}

  async close(): Promise<void> {}

  dump(): Dump {
    const rowsOf = (rows: ReadonlyMap<string, Uint8Array>): string[] =>
      [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${toHex(Buffer.from(key, 'latin1'))} ${toHex(value)}`);
    return new Map([...this.columns].map(([name, rows]) => [name, rowsOf(rows)]));
  }

  private move(head: Head | null, count: number): PublishedHead {
    const { height = null, slot = null, hash = null } = head ?? {};
    this.head = { ...this.head, seq: this.head.seq + count, height, slot, hash, isComplete: true };
    return this.head;
  }

  private scan(column: string, { gte, lt, reverse = false, limit = Number.POSITIVE_INFINITY }: ScanOptions): readonly Row[] {
    const [from, to] = [gte && text(gte), lt && text(lt)];
    const keys = [...(this.columns.get(column)?.keys() ?? [])]
      .filter((key) => (from === undefined || key >= from) && (to === undefined || key < to))
      .sort();
    if (reverse) keys.reverse();
    return keys.slice(0, limit).map((key) => [Buffer.from(key, 'latin1'), this.columns.get(column)?.get(key) as Uint8Array]);
  }
}
