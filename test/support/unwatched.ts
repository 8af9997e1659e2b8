/**
 * Comes before everything else in the process of a test file (`npm run test:unit`).
 * The runner follows every promise from where it was made, so that an error which
 * nobody catches can be laid to the test it comes from: 3 to 25 % of what a file
 * takes. Here it follows none, and such an error fails the file instead. Hooks and
 * tests inside `describe` belong to it as ever: that is not by promises.
 *
 * And whoever still runs long after every patience has ended is ended: what a
 * failed test has left open would hold the whole command for ever, because the
 * runner's own limit is one of tests and not of files.
 */
import hooks from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

const { createHook } = hooks;

Object.assign(hooks, {
  createHook: (callbacks: Parameters<typeof createHook>[0]) => createHook({ ...callbacks, trackPromises: false }),
});

const FILE_MS_MAX = 20 * 60_000;

if (isMainThread) {
  setTimeout(() => {
    console.error(
      `${process.argv[1]} still runs after ${FILE_MS_MAX / 60_000} minutes: what it has left open keeps it`,
      process.getActiveResourcesInfo(),
    );
    process.exit(1);
  }, FILE_MS_MAX).unref();
}
