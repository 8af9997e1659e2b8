/**
 * What `devnet` can be told on its command line, whichever family its chain is
 * of, and how the numbers among it are read.
 */
import { UnspentError } from '../util/errors.ts';
import type { CommandOptions } from './options.ts';

const SECONDS_MAX = 86_400;

export interface DevnetFlags extends CommandOptions {
  readonly port?: string;
  readonly host?: string;
  readonly socket?: string;
  readonly interval?: string;
  readonly seed?: string;
  readonly k?: string;
  readonly blocks?: string;
  readonly forks?: string;
  readonly transactions?: string;
  /** False: `--no-cages`. */
  readonly cages?: boolean;
  readonly genesisOut?: string;
  readonly journal?: string;
}

/** Of `--interval`. Throws USAGE. */
export function milliseconds(text: string | undefined): number {
  const seconds = Number(text);
  if (text !== '' && seconds >= 0 && seconds <= SECONDS_MAX) return Math.round(1000 * seconds);
  throw usage('--interval', text, `seconds from 0 to ${SECONDS_MAX}`);
}

export function wholeNumber(text: string | undefined, flag: string, most: number): number {
  const value = Number(text);
  if (text !== undefined && /^\d{1,16}$/.test(text) && value <= most) return value;
  throw usage(flag, text, `a whole number up to ${most}`);
}

export function usage(flag: string, text: string | undefined, wanted: string): UnspentError {
  return new UnspentError('USAGE', `${flag} is ${wanted}, not '${(text ?? '').slice(0, 40)}'`);
}
