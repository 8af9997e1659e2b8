/**
 * A view that has the whole terminal: drawn on the other screen that terminals
 * have for it, so that what was there before is back when it ends, however it
 * ends. A frame is one write that overwrites the last one.
 */
import type { TextStream } from '../output.ts';
import { BEGIN_FRAME, CLEAR_BELOW, CLEAR_RIGHT, COLUMNS, END_FRAME, HIDE_CURSOR, ROWS, SHOW_CURSOR } from '../terminal/codes.ts';
import { fit } from '../terminal/style.ts';

const ENTER = `\x1b[?1049h${HIDE_CURSOR}`;
const LEAVE = `${SHOW_CURSOR}\x1b[?1049l`;
const HOME = '\x1b[H';

export class Screen {
  private readonly stream: TextStream;
  private readonly restore = (): void => this.leave();
  private isEntered = false;

  constructor(stream: TextStream) {
    this.stream = stream;
  }

  get columns(): number {
    return this.stream.columns || COLUMNS;
  }

  get rows(): number {
    return this.stream.rows || ROWS;
  }

  draw(lines: readonly string[]): void {
    if (!this.isEntered) {
      this.isEntered = true;
      process.on('exit', this.restore);
      this.stream.write(ENTER);
    }
    const shown = lines.slice(0, this.rows).map((line) => `${fit(line, this.columns)}${CLEAR_RIGHT}`);
    this.stream.write(`${BEGIN_FRAME}${HOME}${shown.join('\r\n')}${CLEAR_BELOW}${END_FRAME}`);
  }

  leave(): void {
    if (!this.isEntered) return;
    this.isEntered = false;
    process.off('exit', this.restore);
    this.stream.write(LEAVE);
  }
}
