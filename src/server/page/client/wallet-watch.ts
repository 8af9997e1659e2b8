/**
 * Waits for what happens to a wallet, and shows it: the server is asked for the
 * next event and answers when there is one. A hidden page asks for nothing. What
 * cannot be mended by asking again (a token that is refused, a wallet that is
 * gone) opens the view anew, which says so.
 */
import { getWallets, problem } from './api.ts';

/** Seconds that the server may wait for an event; less than a request may take. */
const WAIT_SECONDS = 20;
/** Milliseconds between two looks at least, however much happens. */
const LEAST_MS = 500;
const RETRY_FIRST_MS = 1000;
const RETRY_MOST_MS = 8000;

export class WalletWatch {
  private readonly path: string;
  private readonly refresh: () => Promise<number>;
  private readonly stop = new AbortController();
  private newest: number;

  /** `newest` is the event that is shown already; `refresh` shows what is so now, and gives the newest event of that. */
  constructor(path: string, newest: number, refresh: () => Promise<number>) {
    this.path = path;
    this.newest = newest;
    this.refresh = refresh;
    void this.run();
  }

  close(): void {
    this.stop.abort();
  }

  private async run(): Promise<void> {
    const { signal } = this.stop;
    for (let retryMs = RETRY_FIRST_MS; !signal.aborted; ) {
      try {
        await shown(signal);
        const query = { after: this.newest, limit: 1, wait: WAIT_SECONDS };
        const { body } = await getWallets<{ readonly events: readonly unknown[] }>(`${this.path}/events`, query, signal);
        if (body.events.length > 0) this.newest = await this.refresh();
        retryMs = RETRY_FIRST_MS;
        await pause(LEAST_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        const { status } = problem(error);
        if (status >= 400 && status < 500) return void dispatchEvent(new HashChangeEvent('hashchange'));
        await pause(retryMs, signal);
        retryMs = Math.min(2 * retryMs, RETRY_MOST_MS);
      }
    }
  }
}

/** Resolves after a while, or with the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

/** Resolves when somebody can see the page, or with the signal. */
function shown(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      document.removeEventListener('visibilitychange', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    document.addEventListener('visibilitychange', end);
    signal.addEventListener('abort', end);
  });
}
