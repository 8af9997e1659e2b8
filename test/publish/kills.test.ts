/**
 * Publishers that end at every statement, answers that are lost after the commit,
 * a server that crashes, and two that both believe to lead: the copy is always
 * that of a block, its head says what its rows add up to, its numbers go on one
 * by one, and in the end it is the store.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTarget } from '../../src/publish/open.ts';
import type { PublishedStore } from '../../src/publish/published-store.ts';
import type { Publisher } from '../../src/publish/publisher.ts';
import type { CopyTarget } from '../../src/publish/target.ts';
import { isUnspentError, UnspentError } from '../../src/util/errors.ts';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { assertSameDump, Devnet, devnetOptions, dump, memoryRig, type Rig } from '../support/harness.ts';
import { keep } from '../support/keep.ts';
import { publishThroughLosses } from '../support/publish/lost-answers.ts';
import { CopyReader } from '../support/publish/postgres-copy.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { assertSameTables, freshTables, SqlCopy } from '../support/publish/sql-copy.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

class Killed extends Error {}

/** The same publisher after a restart: it need not wait for its own lease. */
const ME = { publisher: 'the one of this test' } as const;

let server: PostgresServer;

/** A form of copy: how it is looked at, and how it is held against its store. */
interface Form {
  readonly form: CopyTarget['form'];
  /** Throws where it is not that of one block. Returns the number of its change. */
  open(url: string): Promise<{ check(): Promise<number>; close(): Promise<void> }>;
  assertIsStore(rig: Rig, store: PublishedStore, url: string): Promise<void>;
}

const columns: Form = {
  form: 'columns',
  async open(url) {
    const reader = await CopyReader.open(url);
    return { check: async () => (await reader.check()).seq, close: () => reader.close() };
  },
  async assertIsStore(rig, _store, url) {
    const reader = await CopyReader.open(url);
    await reader.read(async (head) => {
      const names = rig.engine.columns.map(({ name }) => name);
      assertSameDump(await reader.dump(head, names), dump(rig.engine), `the copy at change ${head.seq}`);
    });
    await reader.close();
  },
};

const sql: Form = {
  form: 'sql',
  open: (url) => SqlCopy.open(url),
  async assertIsStore(_rig, store, url) {
    const copy = await SqlCopy.open(url);
    assertSameTables(await copy.dump(), await freshTables(await server.unusedUrl(), store), 'the copy');
    await copy.close();
  },
};

describe('a copy in PostgreSQL survives', { skip: withoutPostgres }, () => {
  before(async () => {
    server = await PostgresServer.start(async () => {});
  });

  after(async () => {
    await server.stop();
  });

  for (const form of [columns, sql]) describe(`of the form ${form.form}`, () => suite(form));
});

function suite({ form, open, assertIsStore }: Form): void {
  function chain(seed: number): {
    readonly rig: Rig;
    readonly store: ReturnType<typeof publishedStore>;
    readonly turn: (i: number) => void;
  } {
    const devnet = new Devnet(devnetOptions(seed, 'conway'));
    const rig = memoryRig(devnet, { keeps: keep() });
    rig.forward(6);
    /** A block or two, and now and then back by three. */
    const turn = (i: number): void => {
      if (i % 4 === 3) {
        rig.fold.rollback(devnet.pointBelow(3));
        devnet.chain.rollback(3);
      }
      rig.forward(1 + (i % 2));
    };
    return { rig, store: publishedStore(rig, 'devnet', devnet.ledger), turn };
  }

  /** One round of a publisher. 1: it has gone, and another one must begin. */
  async function persistOnce(start: () => Promise<Publisher>): Promise<number> {
    let publisher: Publisher | null = null;
    try {
      publisher = await start();
      await publishOnce(publisher);
      return 0;
    } catch (error) {
      if (!(error instanceof Killed) && !isUnspentError(error, 'DATABASE_BUSY')) throw error;
      return 1;
    } finally {
      publisher?.close();
    }
  }

  async function persist(start: () => Promise<Publisher>): Promise<void> {
    while ((await persistOnce(start)) > 0);
  }

  it('publishers that end before any statement', async () => {
    const { rig, store, turn } = chain(11);
    const url = await server.unusedUrl();
    const reader = await open(url);
    let [killAt, kills] = [1, 0];
    for (let i = 0; i < 6; i++) {
      killAt = 1;
      const start = async (): Promise<Publisher> => {
        let statement = 0;
        const beforeStatement = (): void => {
          if (++statement < killAt) return;
          kills += statement === killAt ? 1 : 0;
          throw new Killed();
        };
        const target = await openTarget(url, form, store, { ...ME, beforeStatement });
        last = target;
        return startPublisher(store, target);
      };
      let last: CopyTarget | null = null;
      const isThrough = async (): Promise<boolean> => {
        const failures = await persistOnce(start);
        // What a process held is closed with it; whatever it would still say is refused.
        await last?.close();
        last = null;
        killAt++;
        return failures === 0;
      };
      while (!(await isThrough())) if (i > 0) await reader.check();
      await reader.check();
      await assertIsStore(rig, store, url);
      turn(i);
    }
    assert.ok(kills > 20, `${kills} ends`);
    await reader.close();
  });

  it('commits whose answer is lost, and a server that crashes', async () => {
    const { rig, store, turn } = chain(12);
    const url = await server.unusedUrl();
    const inner = await openTarget(url, form, store, ME);
    let losses = 0;
    const target: CopyTarget = Object.create(inner, {
      publish: {
        value: async (...args: Parameters<CopyTarget['publish']>) => {
          const head = await inner.publish(...args);
          if (++losses % 2 === 1) throw new UnspentError('DATABASE_BUSY', 'the answer was lost');
          return head;
        },
      },
    });
    let seq = 0;
    for (let i = 0; i < 6; i++) {
      if (i === 3) {
        // It may be before, in or after the commit: whichever it was, the copy says.
        const attempt = startPublisher(store, inner)
          .then(publishOnce)
          .catch(() => undefined);
        await server.kill();
        await attempt;
        await server.run();
      }
      await persist(() => startPublisher(store, target));
      const reader = await open(url);
      const now = await reader.check();
      await reader.close();
      assert.ok(now > seq, 'numbers go on');
      seq = now;
      await assertIsStore(rig, store, url);
      turn(i);
    }
    assert.ok(losses > 3);
    await inner.close();
  });

  it('answers that are lost on the way', async (t) => {
    const url = new URL(await server.unusedUrl());
    const socket = `${url.searchParams.get('host')}/.s.PGSQL.5432`;
    // Signs of life have a connection of their own.
    const proxy = await CuttingProxy.open({ path: socket }, (_, first) => !first.includes('unspent publish lease'));
    t.after(() => proxy.close());
    const through = `postgres://postgres@127.0.0.1:${proxy.port}${url.pathname}`;
    const isCut = (text: string): boolean => /^(WITH fence|COMMIT)/.test(text);
    await publishThroughLosses({
      form,
      url: through,
      proxy,
      isCut,
      check: async (rig, store) => {
        await assertIsStore(rig, store, url.href);
        const reader = await open(url.href);
        const seq = await reader.check();
        await reader.close();
        return seq;
      },
    });
  });

  it('two publishers that both believe to lead', async () => {
    const { rig, store, turn } = chain(13);
    const url = await server.unusedUrl();
    const targets = [await openTarget(url, form, store, ME), await openTarget(url, form, store, ME)];
    const publishers = [await startPublisher(store, targets[0]), await startPublisher(store, targets[1])];
    let fenced = 0;
    for (let i = 0; i < 6; i++) {
      await Promise.all(
        publishers.map(async (publisher, which) => {
          try {
            await publishOnce(publisher);
          } catch (error) {
            if (!isUnspentError(error, 'FENCED')) throw error;
            fenced++;
            publishers[which] = await startPublisher(store, targets[which]);
          }
        }),
      );
      const reader = await open(url);
      await reader.check();
      await reader.close();
      turn(i);
    }
    const last = await startPublisher(store, targets[0]);
    await publishOnce(last);
    await assertIsStore(rig, store, url);
    assert.ok(fenced > 1, `${fenced} times one was told`);
    await Promise.all(targets.map((target) => target.close()));
  });
}
