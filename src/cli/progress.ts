/**
 * Progress on stderr: one line that is redrawn on a terminal, a plain line now
 * and then elsewhere, nothing with --quiet. The text is asked for only when it
 * is due, so callers may report as often as they like.
 */
import type { TextStream } from './output.ts';

const REDRAW_MS = 200;
const PLAIN_MS = 2000;
const CLEAR_LINE = '\r\x1b[2K';

/** Assumed where a terminal does not say. */
const COLUMNS = 80;

export interface ProgressLine {
  /** Columns to fill; 0: not a terminal, say it in words. */
  readonly columns: number;
  update(text: () => string): void;
  /** A line of its own that stays. */
  note(text: string): void;
  done(): void;
}

export function createProgress(quiet: boolean, stream: TextStream): ProgressLine {
  if (quiet) return { columns: 0, update() {}, note() {}, done() {} };
  const terminal = stream.isTTY === true;
  const everyMs = terminal ? REDRAW_MS : PLAIN_MS;
  let last = terminal ? 0 : Date.now();
  let drawn = false;
  const clear = (): void => {
    if (drawn) stream.write(CLEAR_LINE);
    drawn = false;
  };
  return {
    get columns() {
      return terminal ? stream.columns || COLUMNS : 0;
    },
    update(text) {
      const now = Date.now();
      if (now - last < everyMs) return;
      last = now;
      if (!terminal) stream.write(`${text()}\n`);
      else stream.write(CLEAR_LINE + text().slice(0, (stream.columns || COLUMNS) - 1));
      drawn = terminal;
    },
    note(text) {
      clear();
      stream.write(`${text}\n`);
    },
    done: clear,
  };
}
