/**
 * Every test file that waits for something (a browser, a socket, a process, a
 * thread, a timer), twenty times, six copies at once on two cores: each copy is
 * the load beside which the others must pass, so none of them may depend on how
 * fast the machine is.
 *
 * UNSPENT_CAMPAIGN_REPEATS says how often, UNSPENT_CAMPAIGN_FILES is a pattern for
 * which files. Crash and model tests are left out: one run of theirs already
 * repeats the same wait a hundred times.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const REPEATS = Number(process.env['UNSPENT_CAMPAIGN_REPEATS'] ?? 20);
const ONLY = new RegExp(process.env['UNSPENT_CAMPAIGN_FILES'] ?? '');
const ROOT = join(import.meta.dirname, '../..');
const COPIES_AT_ONCE = 3 * availableParallelism();
/** In the file itself, or in what it imports from the tests. */
const WAITS = /\b(until|eventually|sleep|setTimeout|once|spawn|fetch|connect|listen|newPage)\(|new (Worker|WebSocket|Running)\(/;
/** The runner's variable would make the inner run report to the outer one; a store refuses the campaign's as settings it does not know. */
const OURS = /^(NODE_TEST_CONTEXT|UNSPENT_CAMPAIGN_.*)$/;
const IMPORTED = /from '(\.[^']*\.ts)'/g;
const REPEATED_INSIDE = /^test\/(crash|model|soak|campaign)\//;

/** Runs one file by itself; what it said, if it failed. */
async function failureOf(file: string): Promise<string | null> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name)));
  const child = spawn(process.execPath, ['--test', '--test-timeout=3600000', '--test-reporter=spec', file], { cwd: ROOT, env });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? null : said.slice(said.indexOf('failing tests:'));
}

async function failuresOf(file: string): Promise<readonly string[]> {
  const failures: string[] = [];
  let begun = 0;
  const copies = Array.from({ length: Math.min(COPIES_AT_ONCE, REPEATS) }, async () => {
    while (begun < REPEATS) {
      const time = ++begun;
      const failure = await failureOf(file);
      if (failure === null) continue;
      failures.push(`time ${time}: ${failure}`);
      console.error(`${file}, ${failures.at(-1)}`); // At once: the campaign takes an hour.
    }
  });
  await Promise.all(copies);
  return failures;
}

const known = new Map<string, boolean>();

/** Whether that file waits for something, by itself or by the help of others. */
function waits(file: string): boolean {
  const before = known.get(file);
  if (before !== undefined) return before;
  known.set(file, false);
  const path = join(ROOT, file);
  // A test of imports has some as text.
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  const imported = [...text.matchAll(IMPORTED)].map(([, to]) => relative(ROOT, resolve(ROOT, dirname(file), to)));
  const found = WAITS.test(text) || imported.some((each) => each.startsWith('test/') && waits(each));
  known.set(file, found);
  return found;
}

const waiting = globSync('test/**/*.test.ts', { cwd: ROOT })
  .filter((file) => ONLY.test(file) && !REPEATED_INSIDE.test(file))
  .filter(waits);

for (const file of waiting) {
  test(`${file}, ${REPEATS} times, ${COPIES_AT_ONCE} at once`, async () => {
    const failures = await failuresOf(file);
    if (failures.length > 0) throw new Error(`${failures.length} of ${REPEATS} failed\n${failures.join('\n')}`);
  });
}
