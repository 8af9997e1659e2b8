/**
 * Starts the client of benchmarks over HTTP (`http-load.ts`) in a process of its
 * own, so that it does not take its time from the server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Load, LoadResult } from './http-load.ts';

/** Runs the client until it ends by itself. */
export function load(what: Load): Promise<LoadResult> {
  return startLoad(what).end();
}

/** The client, which goes on until it is told to end, if it does not end by itself. */
export function startLoad(what: Load): { count(): void; end(): Promise<LoadResult> } {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'http-load.ts')], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`${JSON.stringify(what)}\n`);
  let text = '';
  child.stdout.on('data', (piece: Uint8Array) => {
    text += piece;
  });
  const ended = once(child.stdout, 'end');
  return {
    count: () => child.stdin.write('count\n'),
    end: async () => {
      child.stdin.end();
      await ended;
      return JSON.parse(text) as LoadResult;
    },
  };
}
