/**
 * Progress on stderr: a line that is redrawn on a terminal, a plain line now and
 * then elsewhere, nothing with --quiet. The text is asked for only when it is
 * due, so callers may report as often as they like.
 */
import type { Terminal } from './terminal/terminal.ts';

const REDRAW_MS = 200;
const PLAIN_MS = 2000;

export interface ProgressLine {
  /** Columns to fill; 0: not a terminal, say it in words. */
  readonly columns: number;
  update(text: () => string): void;
  /** A line of its own that stays. */
  note(text: string): void;
  done(): void;
}

export function createProgress(quiet: boolean, { stderr, region }: Terminal): ProgressLine {
  if (quiet) return { columns: 0, update() {}, note() {}, done() {} };
  const everyMs = region === null ? PLAIN_MS : REDRAW_MS;
  let last = region === null ? Date.now() : 0;
  return {
    get columns() {
      return region?.columns ?? 0;
    },
    update(text) {
      const now = Date.now();
      if (now - last < everyMs) return;
      last = now;
      if (region === null) stderr.write(`${text()}\n`);
      else region.draw([text()]);
    },
    note(text) {
      stderr.write(`${text}\n`);
    },
    done: () => region?.clear(),
  };
}
