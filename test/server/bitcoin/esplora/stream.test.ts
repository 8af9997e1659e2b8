/** All unspent outputs of a script that has a hundred thousand: every one, no limit, no faster than the reader. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { decodeTx, formatId } from '../../../../src/ledgers/bitcoin/index.ts';
import { Query } from '../../../../src/query/query.ts';
import { forgeTx } from '../../../ledgers/bitcoin/forge.ts';
import { until } from '../../../support/patience.ts';
import { scriptHashOf } from './model.ts';
import { EsploraRig, LOCKS } from './rig.ts';

const EACH = 50_000;

interface Row {
  readonly txid: string;
  readonly vout: number;
  readonly value: number;
  readonly status: { readonly confirmed: boolean; readonly block_height?: number };
}

describe('a hundred thousand unspent outputs', () => {
  const rig = new EsploraRig();
  const path = `/scripthash/${scriptHashOf(LOCKS.bare.script)}/utxo`;
  let origin = '';

  before(async () => {
    for (let i = 0; i < 2; i++) {
      rig.mine();
      const { txId, index } = rig.coins.at(-1)!;
      const outputs = Array.from({ length: EACH }, (_, n) => ({ value: BigInt(n + 1), script: LOCKS.bare.script }));
      const tx = forgeTx({ inputs: [{ txId, index, ...LOCKS.p2wpkh.key }], outputs });
      rig.applyPlainly([tx]);
    }
    const app = await rig.app;
    origin = await app.listen({ host: '127.0.0.1', port: 0 });
    app.server.unref();
  });
  after(() => rig.close());

  test('are all told, newest first, as a stream', async () => {
    const response = await fetch(`${origin}/api${path}`);
    assert.deepEqual([response.status, response.headers.get('content-length')], [200, null]);
    const rows = (await response.json()) as Row[];
    assert.equal(rows.length, 2 * EACH);
    const ids = [4, 2].map((height) => rig.model.block(height).transactions![1].getId());
    assert.ok(
      rows.every(({ txid, vout, value }, i) => txid === ids[Math.floor(i / EACH)] && vout === EACH - 1 - (i % EACH) && value === vout + 1),
    );
    assert.deepEqual(rows[0].status, rig.model.status(4));
    assert.deepEqual(rows[EACH].status, rig.model.status(2));
  });

  test('without those that the mempool spends, and with those it adds', async () => {
    const id = decodeTx(rig.model.block(2).transactions![1].toBuffer()).id;
    const inputs = Array.from({ length: 700 }, (_, index) => ({ txId: id, index: 7 * index }));
    const tx = forgeTx({ inputs, outputs: [{ value: 1n, script: LOCKS.bare.script }] });
    rig.announce(tx);
    const rows = (await (await fetch(`${origin}/api${path}`)).json()) as Row[];
    assert.equal(rows.length, 2 * EACH - 700 + 1);
    assert.deepEqual(rows[0], { txid: formatId(decodeTx(tx).id), vout: 0, status: { confirmed: false }, value: 1 });
    assert.ok(!rows.some(({ txid, vout }) => txid === formatId(id) && vout % 7 === 0 && vout < 4900));
  });

  test('are read from the store no faster than they are taken', async (t) => {
    let read = 0;
    const { byKey } = Query.prototype;
    t.mock.method(Query.prototype, 'byKey', function* (this: Query, ...asked: Parameters<typeof byKey>) {
      for (const row of byKey.apply(this, asked)) {
        read++;
        yield row;
      }
    });
    const { server } = await rig.app;
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    // A connection of its own, whose other end is known.
    const agent = new Agent();
    const response = await new Promise<IncomingMessage>((resolve) => get(`${origin}/api${path}`, { agent }, resolve));
    const [socket] = await accepted;
    response.pause();
    await until(() => socket.writableNeedDrain, 'the buffers on the way are full');
    // What waits for the reader to take something is read when it has, and no sooner.
    const waiting = read;
    assert.ok(waiting > 500 && waiting < EACH, `${waiting} rows were read for a reader that takes none`);
    response.destroy();
    await until(() => socket.destroyed, 'the server has noticed');
    assert.ok(read < 2 * EACH, 'nobody reads the rest');
    agent.destroy();
  });

  test('nobody asked for the body of a HEAD', async () => {
    const answer = await rig.ask('HEAD', path, {});
    assert.deepEqual([answer.status, answer.text], [200, '']);
  });
});
