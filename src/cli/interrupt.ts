/**
 * Ctrl-C: the first asks the work to stop at a block, the second ends the
 * process at once. Either way the store is at some block, because each commit
 * is atomic.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { FollowOptions, Run, Source } from '../sources/source.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const EXIT_INTERRUPTED = 130;

/** Milliseconds without a turn of the event loop: what a person does not notice between key and answer. */
const BREATH_MS = 50;

export interface Interruption {
  readonly signal: AbortSignal;
  /** Gives the signals back their usual meaning. */
  release(): void;
}

export function onInterrupt(told: () => void): Interruption {
  const stop = new AbortController();
  const listener = (): void => {
    if (stop.signal.aborted) process.exit(EXIT_INTERRUPTED);
    stop.abort();
    told();
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: stop.signal,
    release() {
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}

/** The same source, with pauses: one that always has blocks at hand would never let a signal through. */
export function withPauses(source: Source): Source {
  return { ...source, runs: (options) => paused(source.runs(options), options) };
}

async function* paused(runs: AsyncIterable<Run>, { signal }: FollowOptions): AsyncGenerator<Run> {
  let last = performance.now();
  for await (const run of runs) {
    yield run;
    if (performance.now() - last < BREATH_MS) continue;
    await turn();
    last = performance.now();
    if (signal.aborted) return;
  }
}
