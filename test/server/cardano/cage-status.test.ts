/**
 * What an operator is told of cages: status, metrics and health have the counts
 * of the world that made the chain, and a token that diverges is named without
 * turning anything red.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CageServed } from '../../support/cage-served.ts';
import { CageTale } from '../../support/cage-story.ts';
import { tokenIdText, type WorldToken } from '../../support/cage-world.ts';

interface Told {
  readonly healthy: boolean;
  readonly cage: {
    readonly tokens: number;
    readonly requests: number;
    readonly diverged: number;
    readonly diverged_tokens: readonly { readonly token: string; readonly status: string }[];
    readonly malformed: number;
  };
}

describe('cages in what the server says of itself', () => {
  const tale = new CageTale(11);
  let served: CageServed;

  const wrong = (): WorldToken[] => [...tale.world.state.tokens.values()].filter(({ status }) => status !== 'consistent');
  const ask = async (url: string): Promise<string> => {
    const { statusCode, payload } = await served.app.inject({ method: 'GET', url, headers: { host: 'localhost' } });
    assert.equal(statusCode, 200, payload);
    return payload;
  };
  const gauge = (metrics: string, name: string): number => Number(new RegExp(`^unspent_cage_${name} (\\d+)$`, 'm').exec(metrics)?.[1]);

  before(async () => {
    served = await CageServed.open();
    tale.next();
    served.apply(tale.blocks.map(({ block }) => block));
  });
  after(() => served.close());

  test('nothing is wrong at first', async () => {
    assert.equal(wrong().length, 0);
    assert.deepEqual(JSON.parse(await ask('/health')), { healthy: true, reason: null });
    assert.deepEqual((JSON.parse(await ask('/api/v1/status')) as Told).cage.diverged_tokens, []);
    assert.equal(gauge(await ask('/metrics'), 'diverged_tokens'), 0);
  });

  test('tokens that diverge are counted and named, and health stays green', async () => {
    const begun = tale.blocks.length;
    while (wrong().length < 2 || tale.world.state.tokens.size === wrong().length) {
      assert.ok(tale.blocks.length < 2000, 'the story has tokens that diverge');
      tale.next();
    }
    served.apply(tale.blocks.slice(begun).map(({ block }) => block));
    const { tokens } = tale.world.state;
    const { healthy, cage } = JSON.parse(await ask('/api/v1/status')) as Told;
    const malformed = tale.blocks.reduce((sum, block) => sum + block.malformed, 0);
    assert.equal(healthy, true);
    assert.deepEqual([cage.tokens, cage.diverged, cage.malformed], [tokens.size, wrong().length, malformed]);
    assert.ok(cage.requests > 0 && malformed > 0);
    const named = wrong().map(({ deployment, name, status }) => ({ token: tokenIdText(deployment, name), status }));
    assert.deepEqual(
      cage.diverged_tokens,
      named.sort((a, b) => (a.token < b.token ? -1 : 1)),
    );
    const metrics = await ask('/metrics');
    const names = ['tokens', 'diverged_tokens', 'requests', 'malformed_datums'];
    assert.deepEqual(
      names.map((name) => gauge(metrics, name)),
      [tokens.size, wrong().length, cage.requests, malformed],
    );
    const health = JSON.parse(await ask('/health')) as { warnings: string[] };
    assert.deepEqual(
      { ...health, warnings: health.warnings.map((text) => text.slice(0, text.indexOf(' tokens'))) },
      { healthy: true, reason: null, warnings: [`${wrong().length} of ${tokens.size}`] },
    );
  });
});
