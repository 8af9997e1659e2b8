/**
 * Ctrl-C: the first asks the work to stop at a block, the second ends the
 * process at once. Either way the store is at some block, because each commit
 * is atomic.
 */

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const EXIT_INTERRUPTED = 130;

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

/** Resolves when the signal says so, at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
