/**
 * Wallets beside a server are fed for as long as it runs. A feed that fails is
 * begun again, with its database opened anew: a database that was away comes
 * back, a disk gets room, somebody rescans. Only what no waiting mends ends it.
 */
import { type ErrorCode, isUnspentError, type UnspentError } from '../../util/errors.ts';
import { RECONNECT_MS_MAX, RECONNECT_MS_MIN } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';

export interface KeepFedOptions {
  readonly signal: AbortSignal;
  /** What else no waiting mends. Default: nothing. */
  readonly final?: readonly ErrorCode[] | undefined;
  /**
   * Why the feed failed; `again`: it is begun again. The same failure is told once, until another comes or the feed has run
   * for a while. What it throws ends it.
   */
  readonly onFailure: (error: UnspentError, again: boolean) => void;
  /** Milliseconds before it is begun again, the first time and at most. Default 250 to 60,000. */
  readonly pauseMs?: readonly [least: number, most: number] | undefined;
}

/** What is set wrongly, or this program cannot do. */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'USAGE',
  'CONFIG',
  'UNSUPPORTED',
  'NETWORK_WRONG',
  'STORE_SCHEMA',
  'CLOSED',
  'INTERRUPTED',
]);

/** `feed` runs until the signal comes, or fails. */
export async function keepFed(feed: () => Promise<void>, { signal, onFailure, pauseMs, final = [] }: KeepFedOptions): Promise<void> {
  const [least, most] = pauseMs ?? [RECONNECT_MS_MIN, RECONNECT_MS_MAX];
  let told = '';
  for (let failures = 0; !signal.aborted; failures++) {
    const begun = performance.now();
    try {
      return await feed();
    } catch (error) {
      if (!isUnspentError(error)) throw error;
      if (signal.aborted) return;
      const isFinal = FINAL.has(error.code) || final.includes(error.code);
      if (performance.now() - begun > most) [failures, told] = [0, ''];
      if (told !== error.message || isFinal) onFailure(error, !isFinal);
      told = error.message;
      if (isFinal) return;
      await pause(Math.min(most, least * 2 ** Math.min(failures, 30)), { signal });
    }
  }
}
