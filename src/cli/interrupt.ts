/**
 * Signals that ask a command to stop: the first asks the work to stop at a
 * block, the second ends the process at once. Either way the store is at some
 * block, because each commit is atomic.
 *
 * Ctrl-C (SIGINT) ends a command before it is done: exit code 130. SIGTERM is how
 * a service manager ends what is no longer needed: a command that goes on until
 * it is stopped has done what it was asked to, exit code 0. One that has an end
 * of its own (an import, a backup) is not done, and says so: 143, as shells have it.
 */

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** As shells have it: 128 and the number of the signal. */
export const SIGNAL_EXITS = { SIGINT: 130, SIGTERM: 143 } as const;

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
  const listener = (name: 'SIGINT' | 'SIGTERM'): void => {
    if (stop.signal.aborted) process.exit(SIGNAL_EXITS[name]);
    isTermination = name === 'SIGTERM';
    stop.abort();
  };
  for (const name of SIGNALS) process.on(name, listener as NodeJS.SignalsListener);
  return {
    signal: stop.signal,
    get isTermination() {
      return isTermination;
    },
    release() {
      for (const name of SIGNALS) process.off(name, listener as NodeJS.SignalsListener);
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
