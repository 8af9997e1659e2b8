/**
 * Switches of a store that has blocks already: on, it fills while it follows,
 * over restarts, failures and crashes in between; off, the columns are emptied.
 * Whatever was done, what is ready is byte for byte what a store holds that was
 * made with these settings and never changed.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { KEY_BYTES } from '../../src/ledgers/ledger.ts';
import type { ChainEvent, Run, Source } from '../../src/sources/source.ts';
import { type FollowSettings, type OpenOptions, open, type Store } from '../../src/store.ts';
import { equalBytes } from '../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError } from '../../src/util/errors.ts';
import { FILL_ROWS_MAX, FILL_ROWS_MIN, FILL_STEP_MS } from '../../src/util/limits.ts';
import { switchable } from '../support/fill-rig.ts';
import { assertCode, assertSameDump, assertSameRows, Devnet, devnetOptions, dump, TEST_SEED } from '../support/harness.ts';

/** Each setting, and the projections it switches. */
const SWITCHES: Readonly<Record<string, readonly string[]>> = {
  'utxo.index.addressHash': ['index.address'],
  'utxo.index.paymentCredential': ['index.payment'],
  'utxo.index.stakeCredential': ['index.stake'],
  'utxo.index.policy': ['index.policy'],
  'utxo.index.asset': ['index.asset'],
  'utxo.index.datumHash': ['index.datum'],
  'utxo.index.referenceScript': ['index.script'],
  'utxo.balances': ['balance.address', 'balance.stake'],
  'utxo.datums': ['datums'],
  'utxo.scripts': ['scripts'],
  'proofs.setHash': ['setHash'],
  'proofs.csmt': ['csmt'],
};
const ALL = Object.keys(SWITCHES);
/** A setting that is on by default and one that is not. */
const [STAKE, ASSET] = ['utxo.index.stakeCredential', 'utxo.index.asset'];

/** Several steps of a fill, because genesis alone grants more outputs than one takes. */
const devnet = new Devnet({ ...devnetOptions(TEST_SEED, 'conway'), addresses: 600, txPerBlock: 3 }, { dressed: true });
devnet.mine(60);

const root = mkdtempSync(join(tmpdir(), 'unspent-switch-'));
after(() => rmSync(root, { recursive: true }));
let made = 0;
let data: string;
beforeEach(() => {
  data = join(root, `${made++}`);
});

/** A store whose switches are these, and no others. */
function openWith(on: readonly string[], options: OpenOptions & { readonly set?: readonly string[] } = {}): Promise<Store> {
  const set = [...ALL.map((name) => `${name}=${on.includes(name)}`), 'engine.memtableBytes=2000000', 'utxo.rollbackWindow=2160'];
  const { config } = loadConfig({ flags: { set: [...set, ...(options.set ?? [])] } });
  const genesis = { byron: devnet.chain.genesisByron, shelley: devnet.chain.genesisShelley };
  const { set: _, ...rest } = options;
  return open({ data, network: 'devnet', genesis, config, ...rest });
}

async function using<T>(opening: Promise<Store>, body: (store: Store) => T | Promise<T>): Promise<T> {
  const store = await opening;
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** The first `to` blocks of the devnet, `size` a run. */
function sourceTo(to: number, size: number, onRun?: (at: number) => void | Promise<void>): Source {
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
async function straight(on: readonly string[], blocks: number): Promise<ReturnType<typeof dump>> {
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

async function assertStraight(store: Store, on: readonly string[], when: string): Promise<void> {
  assert.deepEqual(store.fills(), [], `${when}: all is ready`);
  const expected = await straight(on, store.fold.head!.height + 1);
  const actual = dump(store.engine);
  assert.deepEqual([...actual.keys()], [...expected.keys()], `${when}: the columns`);
  for (const [column, rows] of actual) if (isExact(column, on)) assertSameRows(rows, expected.get(column)!, `${when}: ${column}`);
  assert.deepEqual(store.verify().faults, [], `${when}: verify`);
}

const identity = () => JSON.parse(readFileSync(join(data, 'unspent.json'), 'utf8')) as { projections: string[]; columns: string[] };
const names = (on: readonly string[]) => [
  'chain',
  'transactions',
  'utxo',
  ...ALL.filter((each) => on.includes(each)).flatMap((each) => SWITCHES[each]),
];

const STEP = { rows: 1000, bytes: 1_000_000 };

/** So many steps of the fill, then a stop; true when that was all. */
function fillSome(store: Store, steps: number): Promise<boolean> {
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
async function fillPart(store: Store, steps: number): Promise<void> {
  assert.equal(await fillSome(store, steps), false, 'the fill takes more steps than that');
}

const coded = (code: ErrorCode) => (error: unknown) => {
  assert.ok(isUnspentError(error), `${error}`);
  assert.equal(error.code, code, error.message);
  return true;
};

describe('switching on', () => {
  it('knows every projection there is', () => {
    assert.deepEqual(names(ALL).slice(3).sort(), switchable(devnet).sort());
  });

  it('fills while it follows, and following ends when the fill has', async () => {
    await using(openWith([]), (store) => store.follow(sourceTo(20, 5)));
    await using(openWith(ALL), async (store) => {
      assert.deepEqual(store.reshaped, { added: names(ALL).slice(3), removed: [] });
      assert.ok(store.fills().every(({ done }) => done === 0));
      const seen: number[] = [];
      let steps = 0;
      const settings: FollowSettings = {
        onFill: (fills) => seen.push(fills[0]?.done ?? 1),
        onFillStep: () => steps++,
      };
      // One block each: there is more to fill than turns between them.
      const { blocks, reason } = await store.follow(sourceTo(22, 1), settings);
      assert.equal(blocks, 2);
      assert.equal(reason, 'end');
      assert.ok(steps > 2 && seen.length === steps);
      assert.deepEqual(seen, [...seen].sort(), 'it only goes on');
      assert.equal(seen.at(-1), 1);
      await assertStraight(store, ALL, 'filled while following');
      await store.follow(sourceTo(40, 3));
      await assertStraight(store, ALL, 'followed on');
      store.rollback(devnet.chain.blocks[4]);
      await assertStraight(store, ALL, 'back below the switch');
    });
    assert.deepEqual(identity().projections, names(ALL));
  });

  for (const name of ALL) {
    it(`${name} by itself, with reorganisations meanwhile`, async () => {
      await using(openWith([]), (store) => store.follow(sourceTo(25, 5)));
      await using(openWith([name]), async (store) => {
        for (let turn = 0; store.fills().length > 0; turn++) {
          store.rollback(devnet.chain.blocks[18 - 3 * turn]);
          await fillSome(store, 1);
          store.fold.apply(devnet.blocks(19 - 3 * turn, 30 - turn));
        }
        await assertStraight(store, [name], name);
      });
    });
  }

  it('goes on after a restart, with the settings it then has', async () => {
    await using(openWith([]), (store) => store.follow(sourceTo(20, 5)));
    const first = [STAKE, 'utxo.balances'];
    await using(openWith(first), async (store) => {
      await fillPart(store, 1);
      assert.ok(store.fills()[0].done > 0.05);
    });
    const both = [...first, ASSET];
    await using(openWith(both), async (store) => {
      assert.deepEqual(store.reshaped, { added: ['index.asset'], removed: [] });
      const done = new Map(store.fills().map((fill) => [fill.projection, fill.done]));
      assert.ok(done.get('index.stake')! > 0.05);
      assert.equal(done.get('index.asset'), 0);
      await fillPart(store, 2);
      store.rollback(devnet.chain.blocks[3]);
    });
    await using(openWith(both), async (store) => {
      assert.deepEqual(store.reshaped, { added: [], removed: [] });
      await store.follow(sourceTo(30, 4));
      await assertStraight(store, both, 'after two restarts');
    });
  });

  it('needs no fill in an empty store', async () => {
    await using(openWith([]), () => {});
    await using(openWith(ALL), async (store) => {
      assert.deepEqual(store.reshaped.added, names(ALL).slice(3));
      assert.deepEqual(store.fills(), []);
      await store.follow(sourceTo(10, 1));
      await assertStraight(store, ALL, 'from the first block');
      assertSameDump(dump(store.engine), await straight(ALL, 10), 'from the first block');
    });
  });

  it('is not asked before it is ready', async () => {
    await using(openWith([STAKE]), (store) => store.follow(sourceTo(20, 5)));
    await using(openWith([STAKE, ASSET]), async (store) => {
      await fillPart(store, 1);
      const ask = () => store.read((query) => [...query.byKey('asset', new Uint8Array(KEY_BYTES))]);
      assertCode(ask, 'INDEX_NOT_READY');
      assert.deepEqual(store.status().fills, store.fills());
      assert.deepEqual(store.verify().faults, [], 'verify leaves out what is not ready');
      assert.ok(!('utxo_asset' in store.verify().indexRows));
      await store.fill();
      assert.deepEqual(ask(), []);
      assert.ok('utxo_asset' in store.verify().indexRows);
    });
  });
});

describe('switching off', () => {
  it('drops the columns; on again, it starts anew', async () => {
    await using(openWith(ALL), (store) => store.follow(sourceTo(20, 5)));
    const less = ALL.filter((name) => name !== ASSET && name !== 'utxo.balances');
    await using(openWith(less), async (store) => {
      assert.deepEqual(store.reshaped, { added: [], removed: ['index.asset', 'balance.address', 'balance.stake'] });
      assert.ok(!store.engine.columns.some(({ name }) => name === 'utxo_asset'));
      store.read((query) => assertCode(() => [...query.byKey('asset', new Uint8Array(KEY_BYTES))], 'UNSUPPORTED'));
      await store.follow(sourceTo(25, 2));
      await assertStraight(store, less, 'with fewer');
      store.rollback(devnet.chain.blocks[15]);
    });
    assert.deepEqual(identity().projections, names(less));
    assert.ok(identity().columns.includes('utxo_asset'), 'RocksDB still has it');
    await using(openWith(ALL), async (store) => {
      assert.deepEqual(store.reshaped.added, ['index.asset', 'balance.address', 'balance.stake']);
      assert.equal([...store.engine.scan('utxo_asset'), ...store.engine.scan('balance_address')].length, 0);
      await store.follow(sourceTo(30, 2));
      await assertStraight(store, ALL, 'on again');
    });
  });

  it('in the middle of a fill, and both ways at once', async () => {
    await using(openWith([STAKE]), (store) => store.follow(sourceTo(20, 5)));
    await using(openWith([STAKE, ASSET]), (store) => fillPart(store, 2));
    await using(openWith(['utxo.index.policy']), async (store) => {
      assert.deepEqual(store.reshaped, { added: ['index.policy'], removed: ['index.stake', 'index.asset'] });
      assert.deepEqual(
        store.fills().map(({ projection }) => projection),
        ['index.policy'],
      );
      await fillPart(store, 1);
    });
    await using(openWith([STAKE, ASSET]), async (store) => {
      assert.ok(store.fills().every(({ done }) => done === 0) && store.fills().length === 2);
      await store.follow(sourceTo(28, 2));
      await assertStraight(store, [STAKE, ASSET], 'there and back');
    });
  });
});

describe('whoever only looks', () => {
  it('finds the store as it is, whatever the settings say', async () => {
    await using(openWith([STAKE, ASSET]), (store) => store.follow(sourceTo(20, 5)));
    const before = readFileSync(join(data, 'unspent.json'), 'utf8');
    await using(openWith(['utxo.datums'], { create: false }), async (store) => {
      assert.deepEqual(store.reshaped, { added: [], removed: [] });
      assert.deepEqual(store.status().projections, names([STAKE, ASSET]));
      store.rollback(devnet.chain.blocks[10]);
      await assertStraight(store, [STAKE, ASSET], 'rolled back');
    });
    assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before);
    await using(openWith(['utxo.datums'], { create: false, reshape: true }), (store) => {
      assert.deepEqual(store.reshaped, { added: ['datums'], removed: ['index.stake', 'index.asset'] });
    });
  });

  it('changes nothing of a store that another has open', async () => {
    await using(openWith([STAKE]), async (store) => {
      const before = readFileSync(join(data, 'unspent.json'), 'utf8');
      await assert.rejects(openWith([ASSET]), coded('STORE_LOCKED'));
      assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before);
      await store.follow(sourceTo(3, 1));
    });
    await using(openWith([STAKE]), (store) => assertStraight(store, [STAKE], 'untouched'));
  });
});

describe('what cannot be switched', () => {
  it('is refused, and nothing changes', async () => {
    await using(openWith([STAKE]), (store) => store.follow(sourceTo(5, 5)));
    const before = readFileSync(join(data, 'unspent.json'), 'utf8');
    for (const create of [true, false]) {
      await assert.rejects(openWith([STAKE], { create, set: ['utxo.enabled=false'] }), coded('STORE_SHAPE'));
      await assert.rejects(openWith([STAKE], { create, set: ['utxo.delta.selfContained=true'] }), coded('STORE_SHAPE'));
    }
    assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before);
    writeFileSync(join(data, 'unspent.json'), before.replace('"index.stake"', '"index.colour"'));
    for (const create of [true, false]) await assert.rejects(openWith([STAKE], { create }), coded('STORE_SHAPE'));
  });
});

describe('a crash while switching', () => {
  /** The moments of an open that switches ASSET on and STAKE off, as they are found after a crash. */
  let moments: { readonly what: string; readonly at: string }[];
  before(async () => {
    const grown = join(root, 'grown');
    await using(openWith([STAKE], { data: grown }), (store) => store.follow(sourceTo(20, 5)));
    const half = join(root, 'half');
    cpSync(grown, half, { recursive: true });
    await using(openWith([ASSET], { data: half }), (store) => fillPart(store, 1));
    const file = (at: string) => join(at, 'unspent.json');
    const now = JSON.parse(readFileSync(file(half), 'utf8'));
    const during = { ...JSON.parse(readFileSync(file(grown), 'utf8')), columns: now.columns, projections: names([]) };
    const copy = (from: string, name: string, says: object): string => {
      const at = join(root, name);
      cpSync(from, at, { recursive: true });
      writeFileSync(file(at), JSON.stringify({ format: 'unspent', ...says }));
      return at;
    };
    moments = [
      { what: 'before anything was written', at: grown },
      { what: 'unspent.json no longer names what goes', at: copy(grown, 'named', during) },
      { what: 'the rows are gone and the fill has begun, unspent.json does not say so', at: copy(half, 'begun', during) },
      { what: 'everything was written', at: half },
    ];
  });

  for (const index of [0, 1, 2, 3]) {
    for (const [settings, on] of Object.entries({
      'the new': [ASSET],
      'the old': [STAKE],
      both: [STAKE, ASSET],
      neither: [],
      other: ['utxo.balances'],
    })) {
      it(`at moment ${index}, opened with ${settings} settings`, async () => {
        const { what, at } = moments[index];
        cpSync(at, data, { recursive: true });
        await using(openWith([], { create: false }), (store) => assert.deepEqual(store.verify().faults, [], what));
        await using(openWith(on), async (store) => {
          store.rollback(devnet.chain.blocks[12]);
          await store.follow(sourceTo(24, 3));
          await assertStraight(store, on, what);
        });
        assert.deepEqual(identity().projections, names(on));
      });
    }
  }

  it('reads what a version wrote that did not list its columns', async () => {
    cpSync(moments[0].at, data, { recursive: true });
    const { columns: _, ...old } = identity();
    writeFileSync(join(data, 'unspent.json'), JSON.stringify(old));
    await using(openWith([ASSET]), async (store) => {
      assert.deepEqual(store.reshaped, { added: ['index.asset'], removed: ['index.stake'] });
      await store.follow(sourceTo(24, 3));
      await assertStraight(store, [ASSET], 'an older store');
    });
  });
});

describe('a fill beside a source', () => {
  beforeEach(() => using(openWith([STAKE]), (store) => store.follow(sourceTo(20, 5))));

  it('stops with a source that fails, and goes on with the next', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const failing = sourceTo(30, 1, (at) => {
        if (at === 21) throw new Error('the line is dead');
      });
      await assert.rejects(store.follow(failing), /the line is dead/);
      assert.equal(store.fills().length, 1);
      await store.follow(sourceTo(30, 1));
      await assertStraight(store, [STAKE, ASSET], 'after a failure');
    });
  });

  it('that fails stops the source, and the store is good', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const { engine } = store;
      const scan = engine.scan.bind(engine);
      let stopped = false;
      const waiting: Source = {
        name: 'waiting:',
        async *runs({ signal }) {
          yield { events: [], atTip: true };
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
          stopped = true;
        },
      };
      let scans = 0;
      engine.scan = (column, options) => {
        if (column === 'utxo_unspent' && ++scans === 3) throw new Error('a bad sector');
        return scan(column, options);
      };
      await assert.rejects(store.follow(waiting, { follow: true }), /a bad sector/);
      assert.ok(stopped);
      engine.scan = scan;
      assert.ok(store.fills()[0].done > 0);
      await store.follow(sourceTo(30, 1));
      await assertStraight(store, [STAKE, ASSET], 'after a failed fill');
    });
  });

  it('becomes ready while the source has nothing to say', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const stop = new AbortController();
      const quiet: Source = {
        name: 'quiet:',
        async *runs({ signal }) {
          yield { events: [], atTip: true };
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        },
      };
      const onFill: FollowSettings['onFill'] = (fills) => {
        if (fills.length === 0) setTimeout(() => stop.abort(), 20);
      };
      const { reason } = await store.follow(quiet, { follow: true, signal: stop.signal, onFill });
      assert.equal(reason, 'interrupted');
      await assertStraight(store, [STAKE, ASSET], 'filled at the tip');
    });
  });

  it('is interrupted with it', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const stop = new AbortController();
      const { reason, blocks } = await store.follow(sourceTo(20, 5), { signal: stop.signal, onFillStep: () => stop.abort() });
      assert.equal(reason, 'interrupted');
      assert.equal(blocks, 0);
      assert.equal(store.fills().length, 1);
      assert.equal((await store.follow(sourceTo(21, 5))).reason, 'end');
      await assertStraight(store, [STAKE, ASSET], 'after an interruption');
    });
  });

  it('takes as many outputs a step as its time allows', async () => {
    await using(openWith([STAKE, ASSET]), async (store) => {
      const steps: [number, number][] = [];
      await store.fill({ onStep: (seconds, rows) => steps.push([seconds, rows]) });
      // The last step of all takes what is left.
      for (let i = 1; i < steps.length - 1; i++) {
        const [seconds, before] = steps[i - 1];
        const [, rows] = steps[i];
        const wanted = 1000 * seconds > FILL_STEP_MS ? before >> 1 : 2000 * seconds > FILL_STEP_MS ? before : 2 * before;
        assert.equal(rows, Math.min(FILL_ROWS_MAX, Math.max(FILL_ROWS_MIN, wanted)));
      }
      assert.ok(steps.length > 2);
    });
  });

  it('gives blocks and readers their turn', async () => {
    await using(openWith([STAKE, ...ALL]), async (store) => {
      const heights: number[] = [];
      let turns = 0;
      const ticking = setInterval(() => turns++, 0);
      await store.follow(sourceTo(24, 1), { onFillStep: () => heights.push(store.fold.head!.height) });
      clearInterval(ticking);
      assert.ok(new Set(heights).size > 1, `blocks came between the steps: ${heights}`);
      assert.ok(turns > 0);
      await assertStraight(store, ALL, 'side by side');
    });
  });
});
