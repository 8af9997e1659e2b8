/**
 * Arithmetic on heights that cannot wrap (F14). A height rests in four bytes; a
 * sum that does not fit them is no height, and whatever depends on it never
 * comes.
 */
import { UnspentError } from '../../util/errors.ts';

export const HEIGHT_MAX = 0xffff_ffff;

export function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= HEIGHT_MAX;
}

/** Throws INVALID_PARAM. */
export function checkHeight(height: number): void {
  if (!isHeight(height)) throw new UnspentError('INVALID_PARAM', `a height is a number from 0 to ${HEIGHT_MAX}, not ${height}`, { height });
}

/** The height so many blocks later; null: there is no such height. */
export function heightAfter(height: number, blocks: number): number | null {
  const sum = height + blocks;
  return isHeight(height) && isHeight(blocks) && isHeight(sum) ? sum : null;
}
