/**
 * JSON text that everybody reads alike. The platform's parser takes the last of
 * two fields with one name where another takes the first, and rounds numbers
 * where another keeps them: a document could say one thing to us and another to
 * the next reader. Such text is refused. Proof documents need neither.
 */
import { malformed } from './verdict.ts';

/** Throws USAGE: not JSON, a name twice in one object, or a number that is not written as a plain whole one. */
export function parseExactJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    malformed('not JSON');
  }
  checkTokens(text);
  return value;
}

const WHOLE = /^(0|[1-9][0-9]{0,15})$/;

/**
 * Of text that the parser took, so that brackets match and tokens stand where they may. By hand, because a regular expression over
 * strings of many megabytes overflows its stack.
 */
function checkTokens(text: string): void {
  /** Names so far of each object that is open; null: a list. */
  const open: (Set<string> | null)[] = [];
  /** The string read last, as it was written. */
  let token = '""';
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '{') open.push(new Set());
    else if (sign === '[') open.push(null);
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ':') nameField(open.at(-1), token);
    else if (sign === '"') {
      const end = stringEnd(text, at);
      token = text.slice(at, end);
      at = end - 1;
    } else if ('-0123456789'.includes(sign)) {
      const end = numberEnd(text, at);
      if (!WHOLE.test(text.slice(at, end))) malformed(`the number ${text.slice(at, end).slice(0, 40)} is not written as a plain whole one`);
      at = end - 1;
    }
  }
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function numberEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && '-+.eE0123456789'.includes(text[at])) at++;
  return at;
}

/** `token`: the string before the colon. */
function nameField(names: Set<string> | null | undefined, token: string): void {
  const name = JSON.parse(token) as string;
  if (names?.has(name)) malformed(`the field ${name.slice(0, 40)} stands twice in one object`);
  names?.add(name);
}
