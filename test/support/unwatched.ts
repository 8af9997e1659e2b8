/**
 * Comes before everything else in the process of a test file (`npm run test:unit`).
 * The runner follows every promise from where it was made, so that an error which
 * nobody catches can be laid to the test it comes from: 3 to 25 % of what a file
 * takes. Here it follows none, and such an error fails the file instead. Hooks and
 * tests inside `describe` belong to it as ever: that is not by promises.
 *
 * And whoever still runs when its last test and hook are long over, or after every
 * patience has ended, is ended and has failed: what a failed test or hook has left
 * open would hold the whole command for ever, because the runner's own limit is
 * one of tests and not of files.
 */
import hooks from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

const { createHook } = hooks;

Object.assign(hooks, {
  createHook: (callbacks: Parameters<typeof createHook>[0]) => createHook({ ...callbacks, trackPromises: false }),
});

const FILE_MS_MAX = 20 * 60_000;
/** What is open is closed by then, on however busy a machine. */
const CLOSING_MS_MAX = 2 * 60_000;

/** Runs no more than so long from here: a process that has nothing open ends before that by itself. */
function endAfter(ms: number, since: string): void {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ');
    console.error(`${process.argv[1]} still runs ${ms / 60_000} minutes after ${since}: what it has left open keeps it: ${open}`);
    process.exit(1);
  }, ms).unref();
}

if (isMainThread) {
  endAfter(FILE_MS_MAX, 'it began');
  // Not in the runner itself; and not imported, because the runner takes createHook when it is loaded.
  if (process.env['NODE_TEST_CONTEXT'] !== undefined && process.argv[1]?.endsWith('.test.ts') === true)
    process.getBuiltinModule('node:test').after(() => endAfter(CLOSING_MS_MAX, 'its last test'));
}
