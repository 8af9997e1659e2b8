/**
 * Metrics: what Prometheus reads is what happened, every name is explained, and
 * the dashboard asks only for what there is. Beside them the short history.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { percentile } from '../../../src/server/metrics/history.ts';
import { PATIENCE_MS, until } from '../../support/patience.ts';
import { Served } from '../../support/served.ts';

const DASHBOARDS = join(import.meta.dirname, '../../../dashboards');

interface Exposition {
  readonly help: ReadonlyMap<string, string>;
  readonly type: ReadonlyMap<string, string>;
  /** `name{labels}` to value. */
  readonly samples: ReadonlyMap<string, number>;
}

/** The text format of Prometheus, strictly. */
function parse(text: string): Exposition {
  const [help, type, samples] = [new Map<string, string>(), new Map<string, string>(), new Map<string, number>()];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, name, rest] = /^# (HELP|TYPE) ([a-z0-9_]+) (.+)$/.exec(line) ?? [];
    if (kind !== undefined) (kind === 'HELP' ? help : type).set(name, rest);
    else {
      const [, sample, value] = /^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{.*\})?) (\S+)$/.exec(line) ?? assert.fail(`not a sample: ${line}`);
      assert.ok(!samples.has(sample), `${sample} is there once`);
      samples.set(sample, Number(value.replace('+Inf', 'Infinity')));
    }
  }
  return { help, type, samples };
}

async function scrape(served: Served, path = '//metrics'): Promise<Exposition> {
  const { status, headers, text } = await served.get(path);
  assert.equal(status, 200);
  assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  return parse(text);
}

/** Once the engine was sampled, column by column. */
async function scrapeAll(served: Served): Promise<Exposition> {
  const last = served.rig.engine.columns.at(-1)!.name;
  let exposition = await scrape(served);
  const isSampled = async () => {
    exposition = await scrape(served);
    return exposition.samples.has(`unspent_engine_column_bytes{column="${last}"}`);
  };
  await until(isSampled, 'a sample of every column');
  return exposition;
}

/** The metric a sample belongs to: a histogram has three kinds of them. */
function familyOf(name: string, { type }: Exposition): string {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return type.get(base) === 'histogram' ? base : name;
}

async function withServed(options: Parameters<typeof Served.open>[0], body: (served: Served) => Promise<void>): Promise<void> {
  const served = await Served.open(options);
  try {
    await body(served);
  } finally {
    await served.close();
  }
}

const STATUS = {
  state: 'following',
  sourceTip: { slot: 4000, height: 60 },
  blocks: 123,
  txs: 7,
  bytes: 4567,
  created: 89,
  spent: 45,
  undone: 6,
  prunedKeys: 3,
  queued: 2,
  connectionsLost: 1,
  fills: [{ projection: 'index.asset', done: 0.25 }],
} as const;

describe('metrics', () => {
  it('are what happened', () =>
    withServed({ blocks: 40, store: { pruneDepth: 10, rollbackWindow: 20 } }, async (served) => {
      served.prune();
      served.say(STATUS);
      served.tell([
        { what: 'apply', seconds: 0.003, blocks: 1 },
        { what: 'apply', seconds: 0.2, blocks: 100 },
        { what: 'rollback', seconds: 0.02, blocks: 6 },
        { what: 'prune', seconds: 0.01, blocks: 5 },
        { what: 'fill', seconds: 0.004, blocks: 0 },
      ]);
      const { samples } = await scrape(served);
      const { head } = served.rig.fold;
      const wanted = {
        unspent_blocks_applied_total: 123,
        unspent_transactions_applied_total: 7,
        unspent_block_bytes_applied_total: 4567,
        unspent_outputs_created_total: 89,
        unspent_outputs_spent_total: 45,
        unspent_outputs_pruned_total: 3,
        unspent_blocks_rolled_back_total: 6,
        unspent_connections_lost_total: 1,
        unspent_rollbacks_total: 1,
        unspent_apply_seconds_count: 2,
        unspent_apply_seconds_sum: 0.203,
        'unspent_apply_seconds_bucket{le="0.005"}': 1,
        unspent_rollback_seconds_count: 1,
        unspent_prune_seconds_count: 1,
        unspent_fill_seconds_count: 1,
        unspent_tip_height: 39,
        unspent_tip_slot: head!.slot,
        unspent_source_tip_height: 60,
        unspent_source_tip_slot: 4000,
        unspent_lag_blocks: 21,
        unspent_lag_seconds: 4000 - head!.slot,
        unspent_queued_blocks: 2,
        unspent_horizon_height: 29,
        'unspent_pruned_height{what="spent_outputs"}': 29,
        'unspent_pruned_height{what="deltas"}': 19,
        unspent_utxos: head!.utxos,
        unspent_value_lovelace: Number(head!.value),
        unspent_following: 1,
        'unspent_fill_ratio{projection="index.asset"}': 0.25,
      };
      assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((name) => [name, samples.get(name)])), wanted);

      // What is not known is left out, not told as zero.
      served.say({ sourceTip: null, fills: [], state: 'waiting' });
      const later = (await scrape(served)).samples;
      for (const name of [
        'unspent_source_tip_height',
        'unspent_lag_blocks',
        'unspent_lag_seconds',
        'unspent_fill_ratio{projection="index.asset"}',
      ])
        assert.equal(later.get(name), undefined, name);
      assert.equal(later.get('unspent_following'), 0);
      assert.equal(later.get('unspent_blocks_applied_total'), 123, 'reading does not count');
    }));

  it('time requests by the template of their route', () =>
    withServed({}, async (served) => {
      for (let i = 0; i < 3; i++) await served.get(`/blocks/${i}`);
      await served.get('/blocks/900000');
      await served.get('//nowhere/at/all');
      await served.ask({ method: 'DELETE', url: '/nor/there' });
      const { samples } = await scrape(served, '/metrics');
      const count = (method: string, route: string, status: number) =>
        samples.get(`unspent_http_request_seconds_count{method="${method}",route="${route}",status="${status}"}`);
      assert.equal(count('GET', '/api/v1/blocks/:block', 200), 3);
      assert.equal(count('GET', '/api/v1/blocks/:block', 404), 1);
      assert.equal(count('none', 'none', 404), 2);
    }));

  it('all have the prefix and an explanation', () =>
    withServed({ engine: 'rocks' }, async (served) => {
      served.say(STATUS);
      const exposition = await scrapeAll(served);
      assert.ok(exposition.type.size > 50, `${exposition.type.size} metrics`);
      for (const name of exposition.type.keys()) {
        assert.match(name, /^(unspent|process|nodejs)_[a-z0-9_]+$/);
        assert.ok((exposition.help.get(name)?.length ?? 0) > 10, `${name} says what it is`);
      }
      for (const sample of exposition.samples.keys()) assert.ok(exposition.type.has(familyOf(sample.split('{')[0], exposition)), sample);
      const columns = served.rig.engine.columns.map(({ name }) => name);
      for (const column of columns) assert.ok(exposition.samples.has(`unspent_engine_column_bytes{column="${column}"}`), column);
      assert.ok(exposition.samples.get('unspent_engine_bytes')! > 0);
    }));
});

describe('dashboards', () => {
  const files = readdirSync(DASHBOARDS).filter((name) => name.endsWith('.json'));
  const texts = new Map(files.map((name) => [name, readFileSync(join(DASHBOARDS, name), 'utf8')]));

  /** Every expression anywhere in the document. */
  function expressions(part: unknown): string[] {
    if (Array.isArray(part)) return part.flatMap(expressions);
    if (typeof part !== 'object' || part === null) return [];
    return Object.entries(part).flatMap(([key, value]) =>
      (key === 'expr' || key === 'query') && typeof value === 'string' ? [value] : expressions(value),
    );
  }

  it('name only metrics, labels and properties that there are', async () => {
    const propertiesOf = ({ samples }: Exposition) => [...samples.keys()].flatMap((sample) => /property="([^"]+)"/.exec(sample)?.[1] ?? []);
    const properties = new Set<string>();
    // A dashboard serves every engine, and each engine has properties of its own.
    await withServed({ engine: 'sqlite' }, async (served) => {
      for (const property of propertiesOf(await scrapeAll(served))) properties.add(property);
    });
    await withServed({ engine: 'rocks' }, async (served) => {
      served.say(STATUS);
      await served.get('/blocks/latest');
      const exposition = await scrapeAll(served);
      for (const property of propertiesOf(exposition)) properties.add(property);
      const labels = new Set(
        [...exposition.samples.keys()].flatMap((sample) => [...sample.matchAll(/([a-z_]+)="/g)].map(([, label]) => label)),
      );
      for (const scraped of ['job', 'instance']) labels.add(scraped);
      let named = 0;
      for (const [file, text] of texts) {
        for (const expression of expressions(JSON.parse(text))) {
          for (const [name] of expression.matchAll(/\bunspent_[a-z0-9_]+/g)) {
            named++;
            assert.ok(exposition.type.has(familyOf(name, exposition)), `${file} asks for ${name}`);
          }
          for (const [, list] of expression.matchAll(/by \(([^)]*)\)/g))
            for (const label of list.split(/, */)) assert.ok(labels.has(label), `${file} groups by ${label}`);
          for (const [, pattern] of expression.matchAll(/property=~?"([^"]*)"/g))
            for (const each of pattern.split('|')) {
              const wanted = new RegExp(`^${each.replaceAll('.', '\\.').replaceAll('\\.*', '.*')}$`);
              assert.ok(
                [...properties].some((property) => wanted.test(property)),
                `${file} wants the property ${each}`,
              );
            }
        }
      }
      assert.ok(named > 40, `${named} names`);
    });
  });

  it('are what Grafana takes: unique panels on a grid of 24, each with a title and a query', () => {
    assert.ok(files.length > 0);
    for (const text of texts.values()) {
      const { title, uid, panels } = JSON.parse(text) as {
        title: string;
        uid: string;
        panels: {
          id: number;
          type: string;
          title: string;
          gridPos: { x: number; y: number; w: number; h: number };
          targets?: { expr: string }[];
        }[];
      };
      assert.ok(title !== '' && uid !== '');
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
      const taken = new Set<string>();
      for (const { type, title: name, gridPos, targets } of panels) {
        assert.ok(name !== '' && (type === 'row' || (targets ?? []).length > 0), name);
        assert.ok(gridPos.x + gridPos.w <= 24, name);
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            assert.ok(!taken.has(`${x},${y}`), `${name} lies on another panel`);
            taken.add(`${x},${y}`);
          }
      }
    }
  });
});

describe('the short history', () => {
  it('has a sample a second with what happened in it', () => {
    const started = performance.now();
    return withServed({ blocks: 10 }, async (served) => {
      served.say({ sourceTip: { slot: 4000, height: 12 }, blocks: 10 });
      served.tell([
        { what: 'apply', seconds: 0.01, blocks: 4 },
        { what: 'rollback', seconds: 0.005, blocks: 2 },
        { what: 'rollback', seconds: 0.001, blocks: 1 },
      ]);
      await served.get('/blocks/latest');
      await served.get('/status/engine');
      type History = Record<string, number | null>[];
      const find = async (name: string): Promise<History[number]> => {
        let found: History[number] | undefined;
        await until(async () => {
          found = (await served.get('/status/history')).json<History>().find((sample) => (sample[name] ?? 0) > 0);
          return found !== undefined;
        }, `a sample with ${name}`);
        return found!;
      };
      const { time, height, lag_blocks, blocks_per_second, apply_ms, rollback_ms, prune_ms } = await find('blocks_per_second');
      assert.ok(Math.abs(time! - Date.now() / 1000) < PATIENCE_MS / 1000);
      assert.deepEqual([height, lag_blocks, apply_ms, rollback_ms, prune_ms], [9, 3, 2.5, 5, null]);
      // Ten in a second, or in as long as a busy machine let the sample wait.
      const seconds = (performance.now() - started) / 1000;
      assert.ok(blocks_per_second! >= 9.9 / seconds && blocks_per_second! <= 10.1, String(blocks_per_second));
      assert.ok((await find('requests_per_second'))['p99_ms']! > 0);
    });
  });

  it('a percentile is one of the values', () => {
    const values = Array.from({ length: 200 }, (_, i) => 200 - i);
    assert.equal(percentile(values, 0.99), 198);
    assert.equal(percentile([7], 0.99), 7);
  });
});
