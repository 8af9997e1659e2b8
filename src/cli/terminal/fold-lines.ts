/**
 * Text for a terminal of a certain width: lines that do not fit are broken
 * between words, because a terminal breaks them within. What follows stands
 * under what it belongs to; a command line goes on behind a backslash, so that
 * it can still be copied.
 */
import { widthOf } from './style.ts';

/** Narrower ones cannot be helped. */
const COLUMNS_MIN = 20;

export function foldLines(text: string, columns: number): string {
  if (columns < COLUMNS_MIN) return text;
  return text
    .split('\n')
    .flatMap((line) => (widthOf(line) <= columns ? [line] : foldLine(line, columns)))
    .join('\n');
}

function foldLine(line: string, columns: number): string[] {
  const [indent] = /^ */.exec(line) as RegExpExecArray;
  const isCommand = line.startsWith('$ ', indent.length);
  const hanging = ' '.repeat(isCommand ? indent.length + 4 : hangingIndent(line, indent.length, columns));
  const end = isCommand ? ' \\' : '';
  const lines: string[] = [];
  // Blanks between two words are kept with the second: columns of a table stay apart.
  let rest = '';
  for (const piece of line.match(/ *[^ ]+/g) ?? []) {
    if (rest.trim() === '' || widthOf(rest) + widthOf(piece) + end.length <= columns) rest += piece;
    else {
      lines.push(rest + end);
      rest = hanging + piece.trimStart();
    }
  }
  return [...lines, rest];
}

/** What stands this far in goes on another line already. */
const DEEP = 6;

/** `name   value value` goes on under the value, what goes on already where it is, anything else two columns further in. */
function hangingIndent(line: string, indent: number, columns: number): number {
  const found = /^ *\S+(?: \S+)* {2,}(?=\S)/.exec(line);
  const at = found === null ? 0 : widthOf(found[0]);
  if (at > 0 && at <= columns / 2) return at;
  return Math.min(indent < DEEP ? indent + 2 : indent, Math.floor(columns / 2));
}
