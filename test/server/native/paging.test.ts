/**
 * Pages: put together they are the whole, either way, whatever their size and
 * whatever arrives meanwhile; a cursor of a block that was rolled back is
 * refused; numbers of pages work for those who need them.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { UtxoJson } from '../../../src/query/json.ts';
import { TEST_SEED } from '../../support/harness.ts';
import { type Answer, assertProblem, Served } from '../../support/served.ts';

const names = (answer: Answer): string[] => answer.json<UtxoJson[]>().map(({ tx_hash, output_index }) => `${tx_hash}#${output_index}`);

/** The address with the most outputs. */
function busiest({ devnet }: Served): string {
  const counts = new Map<string, number>();
  for (const { addressHex } of devnet.chain.utxos.values()) counts.set(addressHex, (counts.get(addressHex) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0][0];
}

async function everyPage(served: Served, path: string, limits: readonly number[], between: () => void = () => {}): Promise<string[]> {
  const all: string[] = [];
  for (let i = 0, after = ''; ; i++) {
    const limit = limits[i % limits.length];
    const page = await served.get(`${path}&limit=${limit}${after}`);
    assert.equal(page.status, 200, page.text);
    const rows = names(page);
    const next = page.headers['x-next-after'];
    assert.equal(rows.length, next === undefined ? rows.length : limit, 'only the last page is short');
    all.push(...rows);
    assert.equal(page.headers['link'] === undefined, next === undefined);
    if (next === undefined) return all;
    const [, url] = /^<(.+)>; rel="next"$/.exec(page.headers['link'] ?? '') ?? [];
    assert.equal(new URL(url, 'http://x').searchParams.get('after'), next);
    after = `&after=${next}`;
    between();
  }
}

describe('pages', () => {
  test('put together are the whole, whatever their sizes', async () => {
    const served = await Served.open({ blocks: 80 });
    const path = `/addresses/${busiest(served)}/utxos`;
    const whole = names(await served.get(`${path}?limit=all`));
    assert.ok(whole.length > 20);
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(sizes, fc.constantFrom('asc', 'desc'), async (limits, order) => {
      const wanted = order === 'asc' ? whole : whole.toReversed();
      assert.deepEqual(await everyPage(served, `${path}?order=${order}`, limits), wanted);
    });
    await fc.assert(property, { seed: TEST_SEED, numRuns: 20 });
    await served.close();
  });

  test('never skip and never repeat while blocks arrive', async () => {
    for (const order of ['asc', 'desc']) {
      const served = await Served.open({ blocks: 60, seed: 3 });
      const address = busiest(served);
      const before = new Set(names(await served.get(`/addresses/${address}/utxos?limit=all`)));
      const seen = await everyPage(served, `/addresses/${address}/utxos?order=${order}`, [3], () => served.forward(1));
      assert.equal(new Set(seen).size, seen.length, 'nothing twice');
      const still = names(await served.get(`/addresses/${address}/utxos?limit=all`)).filter((name) => before.has(name));
      assert.ok(still.length > 3);
      for (const name of still) assert.ok(seen.includes(name), `${name} was there all the time`);
      await served.close();
    }
  });

  test('of the past stay in the past', async () => {
    const served = await Served.open({ blocks: 60 });
    const address = busiest(served);
    const { height } = served.devnet.chain.tip!;
    const then = names(await served.get(`/addresses/${address}/utxos?limit=all`));
    served.forward(20);
    const path = `/addresses/${address}/utxos?at=height:${height}`;
    assert.deepEqual(await everyPage(served, path, [4], () => served.forward(1)), then);
    await served.close();
  });

  test('a cursor goes with its block, and only with its question', async () => {
    const served = await Served.open({ blocks: 60 });
    const address = busiest(served);
    const path = `/addresses/${address}/utxos?limit=2`;
    const cursor = (await served.get(path)).headers['x-next-after'];
    assert.ok(cursor !== undefined);
    served.forward(3);
    assert.equal((await served.get(`${path}&after=${cursor}`)).status, 200);
    assertProblem(await served.get(`${path}&order=desc&after=${cursor}`), 'USAGE', 400);
    assertProblem(await served.get(`/credentials/${address.slice(2, 58)}/utxos?after=${cursor}`), 'USAGE', 400);
    for (const bad of ['x', `${cursor}A`, `${cursor.slice(0, -1)}*`, 'A'.repeat(513)])
      assertProblem(await served.get(`${path}&after=${bad}`), 'USAGE', 400);
    served.back(4);
    const stale = await served.get(`${path}&after=${cursor}`);
    assertProblem(stale, 'CURSOR_STALE', 409);
    assert.equal(stale.point?.height, served.devnet.chain.tip?.height, 'it says where the chain is now');
    await served.close();
  });

  test('by number', async () => {
    const served = await Served.open({ blocks: 60 });
    const path = `/addresses/${busiest(served)}/utxos`;
    const whole = names(await served.get(`${path}?limit=all`));
    const numbered: string[] = [];
    for (let page = 1; numbered.length < whole.length; page++) numbered.push(...names(await served.get(`${path}?limit=7&page=${page}`)));
    assert.deepEqual(numbered, whole);
    assert.deepEqual(names(await served.get(`${path}?limit=7&page=999`)), []);
    // From a numbered page on one may go with the cursor.
    const next = (await served.get(`${path}?limit=7&page=2`)).headers['link'] ?? '';
    const [, url] = /<\/api\/v1(.+)>/.exec(next) ?? [];
    assert.deepEqual(names(await served.get(url)), whole.slice(14, 21));
    assertProblem(await served.get(`${path}?limit=1000&page=999999`), 'LIMIT', 413, 'page');
    await served.close();
  });

  test('as many rows as allowed, and no contradictions', async () => {
    const served = await Served.open({ blocks: 30, server: { rowsMax: 5 } });
    const path = `/addresses/${busiest(served)}/utxos`;
    assert.equal(names(await served.get(path)).length, 5, 'the default is not above the most');
    assert.equal(names(await served.get(`${path}?limit=5`)).length, 5);
    for (const limit of ['6', '0', '-1', '1.5', 'many', ''])
      assertProblem(await served.get(`${path}?limit=${limit}`), 'USAGE', 400, 'limit');
    assertProblem(await served.get(`${path}?limit=2&all=true`), 'USAGE', 400, 'limit');
    assertProblem(await served.get(`${path}?page=2&all=true`), 'USAGE', 400, 'page');
    const cursor = (await served.get(path)).headers['x-next-after'];
    assertProblem(await served.get(`${path}?page=2&after=${cursor}`), 'USAGE', 400, 'page');
    assertProblem(await served.get(`${path}?page=0`), 'USAGE', 400, 'page');
    assertProblem(await served.get(`${path}?order=up`), 'USAGE', 400, 'order');
    assertProblem(
      await served.post(
        '/utxos',
        Array.from({ length: 6 }, () => `${'ab'.repeat(32)}#0`),
      ),
      'USAGE',
      400,
    );
    await served.close();
  });
});
