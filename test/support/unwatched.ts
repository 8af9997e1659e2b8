/**
 * Comes before everything else in the process of a test file (`npm run test:unit`).
 * The runner follows every promise from where it was made, so that an error which
 * nobody catches can be laid to the test it comes from: 3 to 25 % of what a file
 * takes. Here it follows none, and such an error fails the file instead. Hooks and
 * tests inside `describe` belong to it as ever: that is not by promises.
 */
import hooks from 'node:async_hooks';

const { createHook } = hooks;

Object.assign(hooks, {
  createHook: (callbacks: Parameters<typeof createHook>[0]) => createHook({ ...callbacks, trackPromises: false }),
});
