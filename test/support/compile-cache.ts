/**
 * Node keeps what it has compiled when a process ends by itself. A process that
 * is killed keeps nothing, and its successors would strip and compile every
 * file again, which takes longer than what they do: so the children that tests
 * kill say it as soon as everything is loaded.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';

/** For a child that calls `keepCompiled`: the cache of the test command, or one in that folder. */
export function compiledEnvironment(folder: string): NodeJS.ProcessEnv {
  return { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env };
}

export function keepCompiled(): void {
  flushCompileCache();
}
