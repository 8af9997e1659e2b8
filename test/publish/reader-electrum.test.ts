/**
 * Electrum from a published copy: every method that reads answers what the
 * server beside the store answers, and subscribers hear of published blocks.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PublishedCopy } from '../../src/publish/remote/copy.ts';
import { Query } from '../../src/query/query.ts';
import { type ElectrumServer, openElectrum } from '../../src/server/bitcoin/electrum/index.ts';
import { Workload } from '../../src/server/http/work/workload.ts';
import { CopyReads } from '../../src/server/reads.ts';
import { LineClient } from '../server/bitcoin/electrum/client.ts';
import { ElectrumRig, SCRIPTS } from '../server/bitcoin/electrum/rig.ts';
import { copyDatabase, stopCopies } from '../support/copy/mirror.ts';
import { TestPublisher } from '../support/copy/test-publisher.ts';
import { withoutPostgres } from '../support/sql/postgres-server.ts';

describe('Electrum from a published copy', { skip: withoutPostgres }, () => {
  let rig: ElectrumRig;
  let publisher: TestPublisher;
  let copy: PublishedCopy;
  let reads: CopyReads;
  let server: ElectrumServer;
  let [beside, reader]: LineClient[] = [];

  before(async () => {
    rig = await ElectrumRig.open({ seed: 5 });
    for (let i = 0; i < 40; i++) rig.step();
    const { network, projections, config } = rig.context;
    const url = await copyDatabase();
    publisher = await TestPublisher.open(url, { engine: rig.store.engine, network, projections, windows: config.utxo });
    await publisher.publish();
    copy = await PublishedCopy.open(url);
    reads = new CopyReads(copy.engine, network.ledger);
    const names = copy.engine.columns.map(({ name }) => name);
    const onMove = (): void => reads.moved();
    await copy.follow((snapshot) => void new Query(snapshot, names, network.ledger), { onMove, onEnd: (error) => assert.fail(error) });
    const log = (line: string): void => assert.fail(line);
    server = await openElectrum({ ...rig.context, reads, copy, workload: new Workload() }, { tcp: 0 }, log);
    beside = await LineClient.open(rig.ports.tcp, '1.4');
    reader = await LineClient.open(server.ports.tcp, '1.4');
  });
  after(async () => {
    await Promise.all([beside.close(), reader.close()]);
    await server.close();
    reads.close();
    await copy.close();
    await publisher.close();
    await rig.close();
    await stopCopies();
  });

  const same = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const [expected, found] = [await beside.reply(method, params), await reader.reply(method, params)];
    assert.deepEqual([found.result, found.error], [expected.result, expected.error], `${method} ${JSON.stringify(params)}`);
    return found.result;
  };

  test('every method that reads answers the same', async () => {
    const { model } = rig;
    for (const height of [0, 1, model.height, model.height + 5]) await same('blockchain.block.header', height);
    await same('blockchain.block.headers', 1, 20);
    await same('blockchain.headers.subscribe');
    for (const script of SCRIPTS) {
      const name = model.scriptHash(script);
      await same('blockchain.scripthash.get_balance', name);
      await same('blockchain.scripthash.listunspent', name);
      await same('blockchain.scripthash.subscribe', name);
      const history = (await same('blockchain.scripthash.get_history', name)) as { tx_hash: string; height: number }[];
      for (const { tx_hash: id, height } of history.slice(0, 3)) {
        await same('blockchain.transaction.get', id);
        await same('blockchain.transaction.get', id, true);
        if (height > 0) await same('blockchain.transaction.get_merkle', id, height);
      }
    }
    await same('blockchain.transaction.id_from_pos', 1, 0, true);
    assert.ok(copy.figures.repeats > 0, 'rows came from the database');
  });

  test('subscribers hear of a published block', async () => {
    rig.mine([], SCRIPTS[0]);
    await publisher.publish();
    const isHeader = (message: unknown): boolean => (message as { method?: string }).method === 'blockchain.headers.subscribe';
    assert.deepEqual(await reader.until(isHeader), await beside.until(isHeader));
    const isScript = (message: unknown): boolean => (message as { method?: string }).method === 'blockchain.scripthash.subscribe';
    assert.deepEqual(await reader.until(isScript), await beside.until(isScript));
  });
});
