/**
 * Names and labels that people give. A zero character or half of a pair of
 * surrogates is no text to a database: SQLite reads only up to the one and gives
 * the other back as something else, and PostgreSQL takes neither.
 */
import { refusal } from './failures.ts';

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The name of the row behind which a page begins. Throws INVALID_PARAM. */
export function checkAfter(name: string | undefined): void {
  if (name !== undefined && !isStorable(name)) throw refusal.invalid('a page cannot begin behind a name that nothing can have');
}

/** `what`: 'an account'. Throws INVALID_PARAM. */
export function checkName(what: string, name: string): void {
  if (name === '') throw refusal.invalid(`${what} needs a name`);
  if (!isStorable(name)) throw refusal.invalid(`${what} cannot have a name with a zero character or half a character`);
}
