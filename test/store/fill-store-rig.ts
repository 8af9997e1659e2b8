/**
 * A store whose switches change, a devnet it follows, and what a store holds
 * that was made with these switches and never changed.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { SWITCHES } from '../../src/projections/registry.ts';
import type { ChainEvent, Run, Source } from '../../src/sources/source.ts';
import { type OpenOptions, type OpenStore, openStore } from '../../src/store/store.ts';
import { equalBytes } from '../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError } from '../../src/util/errors.ts';
import { switchable } from '../support/fill-rig.ts';
import { assertSameRows, Devnet, devnetOptions, dump, TEST_SEED } from '../support/harness.ts';

/** A setting that is on by default and one that is not. */
export const [STAKE, ASSET] = ['utxo.index.stakeCredential', 'utxo.index.asset'];

/** Several steps of a fill, because genesis alone grants more outputs than one takes. */
export const devnet = new Devnet({ ...devnetOptions(TEST_SEED, 'conway'), addresses: 600, txPerBlock: 3 }, { dressed: true });
devnet.mine(60);

/** Each setting that may change later, and the projections it switches. */
const SWITCHED = new Map(
  SWITCHES.flatMap(({ setting, entries }) => {
    const names = entries.map(({ name }) => name).filter((name) => switchable(devnet).includes(name));
    return names.length === 0 ? [] : [[setting.key, names]];
  }),
);
export const ALL = [...SWITCHED.keys()];

export const root = mkdtempSync(join(tmpdir(), 'unspent-switch-'));
after(() => rmSync(root, { recursive: true }));
let made = 0;
export let data: string;
beforeEach(() => {
  data = join(root, `${made++}`);
});

/** A store whose switches are these, and no others. */
export function openWith(on: readonly string[], options: OpenOptions & { readonly set?: readonly string[] } = {}): Promise<OpenStore> {
  const set = [...ALL.map((name) => `${name}=${on.includes(name)}`), 'engine.memtableBytes=2000000', 'utxo.rollbackWindow=2160'];
  const { config } = loadConfig({ flags: { set: [...set, ...(options.set ?? [])] } });
  const genesis = { byron: devnet.chain.genesisByron, shelley: devnet.chain.genesisShelley };
  const { set: _, ...rest } = options;
  return openStore({ data, network: 'devnet', genesis, config, ...rest });
}

export async function using<T>(opening: Promise<OpenStore>, body: (store: OpenStore) => T | Promise<T>): Promise<T> {
  const store = await opening;
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** The first `to` blocks of the devnet, `size` a run. */
export function sourceTo(to: number, size: number, onRun?: (at: number) => void | Promise<void>): Source {
  const blocks = devnet.chain.blocks.slice(0, to);
  return {
    name: 'test:',
    async *runs({ from }): AsyncIterable<Run> {
      const start = blocks.findLastIndex(({ hash }) => from.some((point) => equalBytes(point.hash, hash)));
      let events: ChainEvent[] = from.length > 0 ? [{ kind: 'back', point: blocks[start] ?? null }] : [];
      for (let at = start + 1; at < blocks.length; at++) {
        events.push({ kind: 'forward', raw: devnet.rawOf(blocks[at]), intact: true });
        if (events.length < size && at < blocks.length - 1) continue;
        await onRun?.(at);
        yield { events, atTip: true };
        events = [];
      }
      if (events.length > 0) yield { events, atTip: true };
    },
  };
}

const stores = new Map<string, ReturnType<typeof dump>>();

/** A store made with these switches and never changed, at this block: what every other must be. */
export async function straight(on: readonly string[], blocks: number): Promise<ReturnType<typeof dump>> {
  const name = `${names(on)} ${blocks}`;
  const known = stores.get(name);
  if (known !== undefined) return known;
  const rows = await using(openWith(on, { data: join(root, `straight-${stores.size}`) }), async (store) => {
    await store.follow(sourceTo(blocks, 50));
    return dump(store.engine);
  });
  stores.set(name, rows);
  return rows;
}

/** What is filled from outputs alone may know less than one that saw every block, and so do the undo records from before. */
function isExact(column: string, on: readonly string[]): boolean {
  if (column === 'delta') return !on.includes('utxo.datums') && !on.includes('utxo.scripts');
  return column !== 'datum' && column !== 'script';
}

export async function assertStraight(store: OpenStore, on: readonly string[], when: string): Promise<void> {
  assert.deepEqual(store.fills(), [], `${when}: all is ready`);
  const expected = await straight(on, store.fold.head!.height + 1);
  const actual = dump(store.engine);
  assert.deepEqual([...actual.keys()], [...expected.keys()], `${when}: the columns`);
  for (const [column, rows] of actual) if (isExact(column, on)) assertSameRows(rows, expected.get(column)!, `${when}: ${column}`);
  assert.deepEqual(store.verify().faults, [], `${when}: verify`);
}

export const identity = () => JSON.parse(readFileSync(join(data, 'unspent.json'), 'utf8')) as { projections: string[]; columns: string[] };
export const names = (on: readonly string[]) => [
  'chain',
  'transactions',
  'utxo',
  ...ALL.filter((each) => on.includes(each)).flatMap((each) => SWITCHED.get(each) ?? []),
];

const STEP = { rows: 1000, bytes: 1_000_000 };

/** So many steps of the fill, then a stop; true when that was all. */
export function fillSome(store: OpenStore, steps: number): Promise<boolean> {
  const stop = new AbortController();
  let count = 0;
  return store.fill({
    signal: stop.signal,
    limits: STEP,
    onStep: (seconds, rows) => {
      assert.ok(seconds >= 0 && rows > 0 && rows <= STEP.rows);
      if (++count === steps) stop.abort();
    },
  });
}

/** The same, of a fill that takes more. */
export async function fillPart(store: OpenStore, steps: number): Promise<void> {
  assert.equal(await fillSome(store, steps), false, 'the fill takes more steps than that');
}

export const coded = (code: ErrorCode) => (error: unknown) => {
  assert.ok(isUnspentError(error), `${error}`);
  assert.equal(error.code, code, error.message);
  return true;
};
