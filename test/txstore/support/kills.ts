/** Kills a process that writes to a transaction store on disk, and looks at what it leaves: before a change or after it, never between (F15). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../../../src/engine/directory.ts';
import { openEngineIn } from '../../../src/engine/open.ts';
import { TX_STORE_COLUMNS } from '../../../src/txstore/embedded/columns.ts';
import { contentOf } from './changes.ts';
import { openWorld, prune, type ToldStory } from './kill-story.ts';

const CHILD = resolve(import.meta.dirname, 'kill-child.ts');

/** `nth`: a commit of the story. */
export async function killAtCommit(kind: DatabaseKind, story: ToldStory, when: 'before' | 'after', nth: number): Promise<void> {
  await inFolder(async (directory) => {
    const { signal } = await runChild(directory, kind, [when, `${nth}`], null);
    assert.equal(signal, 'SIGKILL', `commit ${nth} was reached`);
    const wanted = when === 'before' ? nth - 1 : nth;
    await checkLeft(directory, story, wanted, wanted, `${kind}, killed ${when} commit ${nth}`);
  });
}

/** After so many milliseconds from its first commit, wherever it is then. Returns how many commits it had told of. */
export async function killAtRandom(kind: DatabaseKind, story: ToldStory, afterMs: number): Promise<number> {
  return inFolder(async (directory) => {
    const { told } = await runChild(directory, kind, ['never', '0'], afterMs);
    await checkLeft(directory, story, told, told + 1, `${kind}, killed ${afterMs} ms after its first commit`);
    return told;
  });
}

async function inFolder<T>(body: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-txstore-kill-'));
  try {
    return await body(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `killAfterMs` null: it kills itself. */
async function runChild(directory: string, kind: DatabaseKind, args: readonly string[], killAfterMs: number | null) {
  const child = spawn(process.execPath, [CHILD, directory, kind, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<NodeJS.Signals | null>((resolveSignal) => child.once('close', (_, signal) => resolveSignal(signal)));
  let text = '';
  const first = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    first.resolve();
  });
  if (killAfterMs !== null) {
    await Promise.race([first.promise, ended]);
    await sleep(killAfterMs);
    child.kill('SIGKILL');
  }
  const signal = await ended;
  return { signal, told: Number(text.trim().split('\n').at(-1)) };
}

/** The store is as it was after one of these commits, its indexes fit, and a pass finishes what was begun. */
async function checkLeft(directory: string, story: ToldStory, first: number, last: number, what: string): Promise<void> {
  const { states, beforePass } = story;
  const engine = await openEngineIn(directory, TX_STORE_COLUMNS, { createIfMissing: false });
  try {
    const found = JSON.stringify(contentOf(engine));
    const at = states.findIndex((state, n) => n >= first && n <= last && JSON.stringify(state) === found);
    assert.ok(at >= 0, `${what}: what is stored is not what commit ${first} left`);
    const world = await openWorld(engine);
    await world.opened.checkIndexes();
    if (at < beforePass) return;
    await prune(world);
    assert.deepEqual(contentOf(engine), states.at(-1), `${what}, and pruned again`);
    await world.opened.checkIndexes();
  } finally {
    await engine.close();
  }
}
