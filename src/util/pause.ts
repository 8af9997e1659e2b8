/** A wait that ends early, and without an error, when a signal comes: whoever waits looks at the signal afterwards. */
export interface PauseOptions {
  readonly signal?: AbortSignal | undefined;
  /** False: the process may end meanwhile. */
  readonly ref?: boolean;
}

export function pause(ms: number, { signal, ref = true }: PauseOptions): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (!ref) timer.unref();
    signal?.addEventListener('abort', end);
  });
}
