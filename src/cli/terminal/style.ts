/**
 * Colours, where there is a terminal that shows them and nobody minds: NO_COLOR
 * (https://no-color.org) and TERM=dumb switch them off, FORCE_COLOR on, also for
 * a file or a pipe. Only the sixteen colours that every theme has its own of.
 */
import type { TextStream } from '../output.ts';

type Painter = (text: string) => string;

export interface Style {
  /** False: every painter gives back what it was given. */
  readonly hasColours: boolean;
  /** Whether block characters and the like can be shown. */
  readonly hasUnicode: boolean;
  readonly bold: Painter;
  readonly dim: Painter;
  readonly red: Painter;
  readonly green: Painter;
  readonly yellow: Painter;
  readonly cyan: Painter;
}

export function styleOf(stream: TextStream, env: NodeJS.ProcessEnv): Style {
  const hasColours = wantsColours(stream, env);
  // A reset of its own for each, so that one can stand within another.
  const painter =
    (on: number, off: number): Painter =>
    (text) =>
      hasColours && text !== '' ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    hasColours,
    hasUnicode: hasUnicode(env),
    bold: painter(1, 22),
    dim: painter(2, 22),
    red: painter(31, 39),
    green: painter(32, 39),
    yellow: painter(33, 39),
    cyan: painter(36, 39),
  };
}

function wantsColours(stream: TextStream, { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return stream.isTTY === true && TERM !== 'dumb';
}

/** Where nobody says which characters there are (containers, services), those of today. */
function hasUnicode({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => name !== undefined && name !== '');
  return locale === undefined || /utf-?8/i.test(locale);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with.
const SEQUENCES = /\x1b\[[0-9;?]*[A-Za-z]/g;

/** Columns that a text takes, without its colours. */
export function widthOf(text: string): number {
  return text.replaceAll(SEQUENCES, '').length;
}

/** As much of it as fits, with the colours of what is left and none behind it. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let left = Math.max(0, columns - 1);
  let kept = '';
  for (let at = 0; at < text.length && left >= 0; ) {
    SEQUENCES.lastIndex = at;
    const sequence = SEQUENCES.exec(text);
    if (sequence !== null && sequence.index === at) {
      kept += sequence[0];
      at += sequence[0].length;
      continue;
    }
    if (left-- === 0) break;
    kept += text[at++];
  }
  return `${kept}${columns > 0 ? '…' : ''}${kept.includes('\x1b') ? '\x1b[0m' : ''}`;
}
