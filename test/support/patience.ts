/**
 * How long a test waits for what must come. Far longer than it takes on a busy
 * machine, because only a test that fails waits to the end; shorter than the
 * time limit of the whole command, so that the failure says what was missing.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export const PATIENCE_MS = 240_000;

/** Looks again and again until it is so; fails with what was expected. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await isSo()); await sleep(2)) {
    if (performance.now() > end) assert.fail(`not in ${PATIENCE_MS / 1000} s: ${typeof what === 'string' ? what : what()}`);
  }
}

/** Tries until it does not throw; what it throws last is the failure. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(10)) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}
