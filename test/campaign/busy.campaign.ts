/**
 * Every test that waits for something (a browser, a socket, a process, a node),
 * again and again beside a load that keeps all cores busy: none of them may
 * depend on how fast the machine is. UNSPENT_CAMPAIGN_REPEATS says how often
 * (twenty times unless said), UNSPENT_CAMPAIGN_FILES a pattern for which files.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const REPEATS = Number(process.env['UNSPENT_CAMPAIGN_REPEATS'] ?? 20);
const ONLY = new RegExp(process.env['UNSPENT_CAMPAIGN_FILES'] ?? '');
const ROOT = join(import.meta.dirname, '../..');
const WAITING = [
  'browser',
  'chains',
  'cli',
  'crash',
  'engine',
  'events',
  'interop',
  'model',
  'server',
  'soak',
  'sources',
  'state',
  'store',
];
const BUSY_LOOP = 'for (;;) Math.sqrt(Math.random())';

const load: ChildProcess[] = [];
before(() => {
  for (let core = 0; core < availableParallelism(); core++) load.push(spawn(process.execPath, ['-e', BUSY_LOOP], { stdio: 'ignore' }));
});
after(() => {
  for (const child of load) child.kill('SIGKILL');
});

/** Runs one file by itself; what it said, if it failed. */
async function failureOf(file: string): Promise<string | null> {
  // Without the runner's own variables, which would make the inner one report to the outer.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', '--test-timeout=600000', '--test-reporter=spec', file], { cwd: ROOT, env });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? null : said.slice(said.indexOf('failing tests:'));
}

for (const folder of WAITING) {
  for (const file of globSync(`test/${folder}/**/*.test.ts`, { cwd: ROOT }).filter((name) => ONLY.test(name))) {
    test(`${file}, ${REPEATS} times beside a load`, async () => {
      const failures: string[] = [];
      for (let i = 0; i < REPEATS; i++) {
        const failure = await failureOf(file);
        if (failure !== null) failures.push(`time ${i + 1}: ${failure}`);
      }
      if (failures.length > 0) throw new Error(`${failures.length} of ${REPEATS} failed\n${failures.join('\n')}`);
    });
  }
}
