/**
 * Derivation paths (BIP32) as numbers and as text: `84h/0h/0h`. A step from 2^31
 * on is hardened: only whoever has the private key can take it. `h`, `H` and `'`
 * are read; `h` is written, because an apostrophe means something to a shell.
 */
import { UnspentError } from '../../../util/errors.ts';
import { CHILD_INDEX_MAX } from '../../../util/limits.ts';

/** What is added to the number of a hardened step. */
export const HARDENED = CHILD_INDEX_MAX + 1;
/** Steps from a master key to any other: the depth of an extended key is one byte. */
export const PATH_STEPS_MAX = 255;

/** Where a key comes from: the fingerprint of the master key (the first four bytes of its hash), and the steps from there. */
export interface KeyOrigin {
  readonly fingerprint: number;
  readonly path: readonly number[];
}

/** One step, such as `84h`. `fail` makes the error of whatever text it stands in. */
export function parseStep(text: string, fail: (reason: string) => UnspentError): number {
  const [, digits, mark] = /^(\d{1,10})([hH']?)$/.exec(text) ?? [];
  if (digits === undefined) throw fail(`expected a step such as 0 or 84h, got '${text.slice(0, 40)}'`);
  const number = Number(digits);
  if (number >= HARDENED) throw fail(`a step is below ${HARDENED}, got ${digits}`);
  return mark === '' ? number : number + HARDENED;
}

export function formatStep(step: number): string {
  return step >= HARDENED ? `${step - HARDENED}h` : `${step}`;
}

/** `m/84h/0h/0h` or `84h/0h/0h`; `m` or nothing is the master key itself. Throws USAGE. */
export function parsePath(text: string): number[] {
  const steps = text.replace(/^m(?:\/(?=.)|$)/, '');
  const fail = (reason: string): UnspentError => new UnspentError('USAGE', `${reason} in the path '${text.slice(0, 80)}'`, { path: text });
  const path = steps === '' ? [] : steps.split('/').map((step) => parseStep(step, fail));
  if (path.length > PATH_STEPS_MAX) throw fail(`at most ${PATH_STEPS_MAX} steps, got ${path.length}`);
  return path;
}

/** With the master key as `m`. */
export function formatPath(path: readonly number[]): string {
  return ['m', ...path.map(formatStep)].join('/');
}

export function formatFingerprint(fingerprint: number): string {
  return fingerprint.toString(16).padStart(8, '0');
}

export function isHardened(step: number): boolean {
  return step >= HARDENED;
}
