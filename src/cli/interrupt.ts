/**
 * Signals that ask a command to stop: the first asks the work to stop at a
 * block, the second ends the process at once. Either way the store is at some
 * block, because each commit is atomic.
 *
 * Ctrl-C (SIGINT) ends a command before it is done: exit code 130. SIGTERM is how
 * a service manager ends what is no longer needed: a command that stopped at a
 * block has done what it was asked to, exit code 0.
 */

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const EXIT_INTERRUPTED = 130;

export interface Interruption {
  readonly signal: AbortSignal;
  /** True once SIGTERM came. */
  readonly isTermination: boolean;
  /** Gives the signals back their usual meaning. */
  release(): void;
}

export function listenForSignals(): Interruption {
  const stop = new AbortController();
  let isTermination = false;
  const listener = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(EXIT_INTERRUPTED);
    isTermination = name === 'SIGTERM';
    stop.abort();
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: stop.signal,
    get isTermination() {
      return isTermination;
    },
    release() {
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}

/** Calls back when the signal says so, at once if it has. */
export function onAbort(signal: AbortSignal, told: () => void): void {
  if (signal.aborted) told();
  else signal.addEventListener('abort', told, { once: true });
}

/** Resolves when the signal says so, at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, resolve));
}
