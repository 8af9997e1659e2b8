/** A copy in Cassandra as it stands, read behind the back of its publisher: the head, then every version that it shows, by statements of its own. */
import assert from 'node:assert/strict';
import cassandra, { type Client } from 'cassandra-driver';
import { AT } from '../../../src/projections/coin.ts';
import { UNSPENT } from '../../../src/projections/utxo.ts';
import { cassandraPlace } from '../../../src/publish/cassandra/place.ts';
import type { Dump } from '../../../src/testing/columns-dump.ts';
import { toHex } from '../../../src/util/bytes.ts';

interface CassandraCopyHead {
  readonly seq: number;
  readonly epoch: number;
  readonly height: number | null;
  readonly hash: string | null;
  readonly version: bigint;
  readonly generation: bigint;
  /** What was useless up to that version is gone. */
  readonly removed: bigint;
  readonly utxos: number;
  readonly value: bigint;
  readonly columns: readonly string[];
  readonly isComplete: boolean;
}

interface VersionRow {
  readonly c: number;
  readonly k: Buffer;
  readonly s: bigint;
  readonly v: Buffer | null;
}

export class CassandraCopyReader {
  private readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  static async open(url: string): Promise<CassandraCopyReader> {
    const { hosts, keyspace } = cassandraPlace(url);
    const { loadBalancing } = cassandra.policies;
    const { quorum, serial } = cassandra.types.consistencies;
    const client = new cassandra.Client({
      contactPoints: [...hosts],
      keyspace,
      policies: { loadBalancing: new loadBalancing.RoundRobinPolicy() },
      encoding: { useBigIntAsLong: true },
      queryOptions: { consistency: quorum, serialConsistency: serial, prepare: true, fetchSize: 5000 },
    });
    await client.connect();
    return new CassandraCopyReader(client);
  }

  async close(): Promise<void> {
    await this.client.shutdown();
  }

  async read<T>(body: (head: CassandraCopyHead) => Promise<T>): Promise<T> {
    return body(await this.head());
  }

  async head(): Promise<CassandraCopyHead> {
    const { rows } = await this.client.execute('SELECT * FROM head WHERE one = 0', [], {
      consistency: cassandra.types.consistencies.serial,
    });
    const [{ seq, epoch, height, hash, version, generation, removed, utxos, value, complete, identity }] = rows;
    const columns = identity === null ? [] : (JSON.parse(identity).columns as { name: string }[]).map(({ name }) => name);
    return {
      seq: Number(seq),
      epoch: Number(epoch),
      height: height === null ? null : Number(height),
      hash: hash === null ? null : toHex(hash),
      version,
      generation,
      removed,
      utxos: Number(utxos ?? 0),
      value: BigInt(value ?? 0),
      columns,
      isComplete: complete,
    };
  }

  /** Throws where the head and the rows tell different things. */
  async check(): Promise<CassandraCopyHead> {
    const head = await this.head();
    if (!head.isComplete) return head;
    const rows = (await this.published(head)).get(UNSPENT) ?? new Map<string, Buffer>();
    const value = [...rows.values()].reduce((sum, row) => sum + row.readBigUInt64BE(AT.value), 0n);
    assert.deepEqual({ utxos: rows.size, value }, { utxos: head.utxos, value: head.value }, `the rows at change ${head.seq}`);
    return head;
  }

  async dump(head: CassandraCopyHead, columns: readonly string[]): Promise<Dump> {
    const published = await this.published(head);
    return new Map(
      columns.map((column) => {
        const rows = [...(published.get(column) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
        return [column, rows.map(([key, row]) => `${key} ${toHex(row)}`)];
      }),
    );
  }

  /** Versions in the table, those that are useless included. */
  async versions({ generation }: CassandraCopyHead): Promise<number> {
    let count = 0;
    for await (const _ of this.all(`SELECT s FROM rows_${generation}`)) count++;
    return count;
  }

  private all(text: string): AsyncIterable<VersionRow> {
    return this.client.stream(text, []) as unknown as AsyncIterable<VersionRow>;
  }

  /** The whole table, partition by partition as they lie, and of each key the newest version that the head shows. */
  private async published({ generation, version, columns }: CassandraCopyHead): Promise<Map<string, Map<string, Buffer>>> {
    const all = new Map<string, Map<string, Pick<VersionRow, 's' | 'v'>>>();
    for await (const { c, k, s, v } of this.all(`SELECT c, k, s, v FROM rows_${generation}`)) {
      if (s > version) continue;
      const rows = all.get(columns[c]) ?? new Map();
      all.set(columns[c], rows);
      const key = toHex(k);
      const known = rows.get(key);
      if (known === undefined || known.s < s) rows.set(key, { s, v });
    }
    const found = new Map<string, Map<string, Buffer>>();
    for (const [column, rows] of all) {
      const there = [...rows].filter(([, { v }]) => v !== null).map(([key, { v }]) => [key, v as Buffer] as const);
      found.set(column, new Map(there));
    }
    return found;
  }
}
