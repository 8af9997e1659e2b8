/** A copy in PostgreSQL as it stands, read behind the back of its publisher: in one transaction, as a reader does. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { AT } from '../../../src/projections/coin.ts';
import { UNSPENT } from '../../../src/projections/utxo.ts';
import { copyPlace, tablePrefix } from '../../../src/publish/postgres/schema.ts';
import type { Dump } from '../../../src/testing/columns-dump.ts';
import { toHex } from '../../../src/util/bytes.ts';

export interface CopyHead {
  readonly seq: number;
  readonly epoch: number;
  readonly generation: number;
  readonly height: number | null;
  readonly hash: string | null;
  readonly utxos: number;
  readonly value: bigint;
  readonly isComplete: boolean;
}

export class CopyReader {
  private readonly client: pg.Client;
  private readonly schema: string;

  private constructor(client: pg.Client, schema: string) {
    this.client = client;
    this.schema = schema;
  }

  static async open(copy: string): Promise<CopyReader> {
    const { url, schema } = copyPlace(copy);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    return new CopyReader(client, schema);
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** What a reader sees of one block. */
  async read<T>(body: (head: CopyHead) => Promise<T>): Promise<T> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      return await body(await this.head());
    } finally {
      await this.client.query('COMMIT').catch(() => undefined);
    }
  }

  private async head(): Promise<CopyHead> {
    const { rows } = await this.client.query(`SELECT * FROM ${this.schema}.head`);
    const [{ seq, epoch, generation, height, hash, utxos, value, complete }] = rows;
    return {
      seq: Number(seq),
      epoch: Number(epoch),
      generation: Number(generation),
      height: height === null ? null : Number(height),
      hash: hash === null ? null : toHex(hash),
      utxos: Number(utxos ?? 0),
      value: BigInt(value ?? 0),
      isComplete: complete,
    };
  }

  /** Count and sum of the unspent outputs, from the rows: what the head must say. */
  async totals({ generation }: CopyHead): Promise<{ readonly utxos: number; readonly value: bigint }> {
    const { rows } = await this.client.query(`SELECT value FROM ${this.schema}.${tablePrefix(generation)}${UNSPENT}`);
    const value = rows.reduce((sum: bigint, row: { value: Buffer }) => sum + row.value.readBigUInt64BE(AT.value), 0n);
    return { utxos: rows.length, value };
  }

  async dump({ generation }: CopyHead, columns: readonly string[]): Promise<Dump> {
    const all = new Map<string, string[]>();
    for (const column of columns) {
      const { rows } = await this.client.query(`SELECT key, value FROM ${this.schema}.${tablePrefix(generation)}${column} ORDER BY key`);
      all.set(
        column,
        rows.map(({ key, value }: { key: Buffer; value: Buffer }) => `${toHex(key)} ${toHex(value)}`),
      );
    }
    return all;
  }

  /** Throws where the head and the rows tell different things. */
  check(): Promise<CopyHead> {
    return this.read(async (head) => {
      if (!head.isComplete) return head;
      assert.deepEqual(await this.totals(head), { utxos: head.utxos, value: head.value }, `the rows at seq ${head.seq}`);
      return head;
    });
  }
}
