/** What rollbacks took away is still told after a restart; a file that is none of ours is told of, and forgotten. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { buildApp } from '../../../src/server/app.ts';
import { ROLLBACK_FILE } from '../../../src/server/native/rollback-file.ts';
import { ROLLBACK_LOG_MAX } from '../../../src/util/limits.ts';
import { Served } from '../../support/served.ts';

describe('the log of rollbacks', () => {
  const data = mkdtempSync(join(tmpdir(), 'unspent-rollbacks-'));
  const file = join(data, ROLLBACK_FILE);
  let served: Served;
  before(async () => {
    served = await Served.open({ seed: 9, blocks: 60 });
  });
  after(async () => {
    await served.close();
    rmSync(data, { recursive: true, force: true });
  });

  /** A server from its start to its end; what it tells when `body` has been run, and what it logs. */
  async function run(body: () => void = () => undefined): Promise<{ reports: { undone: number }[]; logged: string[] }> {
    const logged: string[] = [];
    const app = await buildApp({ ...served.context, data }, { log: (line) => logged.push(line) });
    try {
      body();
      return { reports: (await app.inject('/api/v1/rollbacks')).json(), logged };
    } finally {
      await app.close();
    }
  }

  test('is there after a restart, as it was', async () => {
    const { reports } = await run(() => {
      served.back(4);
      served.forward(6);
      served.back(2);
    });
    assert.deepEqual(
      reports.map(({ undone }) => undone),
      [2, 4],
    );
    const again = await run();
    assert.deepEqual(again.reports, reports);
    assert.deepEqual(again.logged, []);
    assert.deepEqual(readdirSync(data), [ROLLBACK_FILE], 'no draft stays');
  });

  test('goes on, and forgets the oldest', async () => {
    const many = (): void => {
      for (let i = 0; i < ROLLBACK_LOG_MAX; i++) {
        served.forward(1);
        served.back(1);
      }
    };
    await run(many);
    const { reports } = await run(() => served.back(3));
    assert.equal(reports.length, ROLLBACK_LOG_MAX);
    assert.equal(reports[0].undone, 3);
    assert.ok(reports.slice(1).every(({ undone }) => undone === 1));
  });

  test('one that is damaged, of another network or of another version is told of', async () => {
    const good = readFileSync(file, 'utf8');
    for (const bad of [
      good.slice(0, -20),
      good.replace('"network":"', '"network":"not-'),
      good.replace('"version":1', '"version":2'),
      '[]',
      '',
    ]) {
      writeFileSync(file, bad);
      const { reports, logged } = await run();
      assert.deepEqual(reports, []);
      assert.match(logged.join('\n'), /^what earlier rollbacks took away cannot be read, and is forgotten: /);
    }
    writeFileSync(file, good.replaceAll('"txId":{"$bytes":', '"txId":{"$byte":'));
    assert.equal((await run()).logged.length, 1);
    const { reports } = await run(() => served.back(1));
    assert.equal(reports.length, 1);
    assert.deepEqual((await run()).reports, reports, 'and the next one is kept');
  });
});
