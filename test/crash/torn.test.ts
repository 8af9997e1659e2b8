/**
 * What a crash can leave on the disk, made on purpose: a store that is only
 * half created opens as a new one, and a log that ends at any byte gives the
 * state of some block, or says that it is damaged, and never a mixture.
 */
import { equal, fail, ok } from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { checkStore, headOf } from '../support/crash-check.ts';
import { Child, pause } from '../support/crash-process.ts';
import { openCrashStore, temporaryFolder } from '../support/crash-store.ts';
import { Story } from '../support/crash-story.ts';
import { ORIGIN, pathTo, sourceTo } from '../support/crash-tree.ts';
import { Witness } from '../support/crash-witness.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
const KIND = { selfContained: false };
const CREATIONS = 12;
const CUTS = 60;
/** Of any log: where tables are already ahead of it, that is damage, and must be said. */
const CUTS_OLDER = 15;
const DAMAGED = 'STORE_DAMAGED';
const STORES_MAX = 10;
const LOG_BYTES_MIN = 150_000;

let folder: string;
let story: Story;
before(() => {
  folder = temporaryFolder();
  story = new Story(SEED, 300);
  story.tree.save(folder);
});
after(() => rmSync(folder, { recursive: true }));

/** A new store, and one that works. */
async function opensAsNew(data: string): Promise<void> {
  const store = await openCrashStore(data, story.tree.genesis, KIND);
  try {
    equal(headOf(store), ORIGIN);
    const tip = pathTo(story.end)[20];
    await store.follow(sourceTo(tip, 7));
    equal(checkStore(store, story), tip);
  } finally {
    await store.close();
  }
}

/** A child works on the store and is killed when `moment` has come. */
async function killed(data: string, creates: boolean, moment: (child: Child) => Promise<void>): Promise<void> {
  const child = new Child(folder);
  const witness = new Witness(story.tree, null);
  const job = { ...KIND, data, creates, seed: SEED, focus: 'sync', steps: 1_000_000 } as const;
  child.start(job, witness, () => {});
  await moment(child);
  await child.kill();
  ok(await child.gone, 'the child did not end by itself');
}

function logsOf(data: string): string[] {
  const files = readdirSync(join(data, 'db')).filter((name) => name.endsWith('.log'));
  return files.sort().map((name) => join('db', name));
}

/** The head of a copy of the store with that log cut, having checked all of it; or DAMAGED. */
async function openCut(data: string, log: string, size: number): Promise<string> {
  const copy = `${data}-copy`;
  cpSync(data, copy, { recursive: true });
  truncateSync(join(copy, log), size);
  try {
    const store = await openCrashStore(copy, story.tree.genesis, KIND);
    try {
      checkStore(store, story);
      return headOf(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isUnspentError(error) && error.code === DAMAGED) return DAMAGED;
    throw new Error(`${log} cut at byte ${size}: ${(error as Error).message}`, { cause: error });
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/**
 * A store whose process was killed while it wrote. A log that had just begun when the kill came has too few blocks to be cut
 * between them: then again, and a little later, because where logs end depends on what was written.
 */
async function storeWithLog(): Promise<{ data: string; logs: string[]; newest: string; size: number }> {
  for (let i = 0; i < STORES_MAX; i++) {
    const data = join(folder, `cut-${i}`);
    await killed(data, true, (child) => child.reached('sync', 8 + 4 * i));
    const logs = logsOf(data);
    const newest = logs[logs.length - 1];
    const { size } = statSync(join(data, newest));
    if (size > LOG_BYTES_MIN) return { data, logs, newest, size };
  }
  fail(`none of ${STORES_MAX} killed processes left a log of ${LOG_BYTES_MIN} bytes`);
}

describe(`torn stores (seed ${SEED})`, () => {
  it('a half-made directory opens as a new store', async () => {
    const identity = join(folder, 'identity');
    await (await openCrashStore(identity, story.tree.genesis, KIND)).close();
    rmSync(join(identity, 'db'), { recursive: true });
    const halves: Record<string, readonly string[] | null> = {
      'no database': null,
      'an empty one': [],
      'a lock': ['LOCK'],
      'a name': ['LOCK', 'IDENTITY'],
      'a manifest nobody points to': ['LOCK', 'IDENTITY', 'MANIFEST-000001'],
      'a pointer not yet in place': ['LOCK', 'IDENTITY', 'MANIFEST-000001', '000001.dbtmp'],
    };
    for (const [what, files] of Object.entries(halves)) {
      const data = join(folder, what);
      cpSync(identity, data, { recursive: true });
      if (files !== null) mkdirSync(join(data, 'db'));
      for (const file of files ?? []) writeFileSync(join(data, 'db', file), file === '000001.dbtmp' ? 'MANIFEST-0' : '');
      await opensAsNew(data);
    }
    const unnamed = join(folder, 'unnamed');
    mkdirSync(unnamed);
    writeFileSync(join(unnamed, 'unspent.json.tmp'), '{"format":"uns');
    await opensAsNew(unnamed);
  });

  it(`a creation killed at ${CREATIONS} moments opens as a new store or one just begun`, async () => {
    const random = new Random(SEED, 21);
    for (let i = 0; i < CREATIONS; i++) {
      const data = join(folder, `creation-${i}`);
      await killed(data, true, async (child) => {
        await child.reached('create', 1);
        await pause(random.int(25));
      });
      const store = await openCrashStore(data, story.tree.genesis, KIND);
      try {
        checkStore(store, story);
        await store.follow(sourceTo(story.end, 1000));
        equal(checkStore(store, story), story.end);
      } finally {
        await store.close();
      }
      rmSync(data, { recursive: true });
    }
  });

  it(`a log cut at ${CUTS} places gives some block exactly`, async (t) => {
    const random = new Random(SEED, 22);
    const { data, logs, newest, size } = await storeWithLog();
    const heads = new Set<string>();
    for (let i = 0; i < CUTS; i++) heads.add(await openCut(data, newest, i === 0 ? size - 1 : random.int(size)));
    t.diagnostic(`${size} bytes of log, ${heads.size} different ends`);
    ok(heads.size > 3, `cuts lead to different blocks, not ${heads.size}`);
    for (let i = 0; i < CUTS_OLDER; i++) {
      const log = random.pick(logs);
      await openCut(data, log, random.int(statSync(join(data, log)).size + 1));
    }
  });
});
