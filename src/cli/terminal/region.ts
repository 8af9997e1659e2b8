/**
 * A few lines at the end of a terminal that are drawn again and again, while
 * everything else is written above them and scrolls away as usual. Each change
 * is one write, in which lines are overwritten and never cleared first: nothing
 * flickers. Whatever happens to the process, the terminal gets its cursor back.
 */
import type { TextStream } from '../output.ts';
import { BEGIN_FRAME, CLEAR_BELOW, CLEAR_RIGHT, COLUMNS, END_FRAME, HIDE_CURSOR, ROWS, SHOW_CURSOR } from './codes.ts';
import { fit, widthOf } from './style.ts';

export class Region {
  private readonly stream: TextStream;
  private lines: readonly string[] = [];
  private hasCursor = true;
  private readonly restore = (): void => this.clear();

  constructor(stream: TextStream) {
    this.stream = stream;
  }

  get columns(): number {
    return this.stream.columns || COLUMNS;
  }

  get rows(): number {
    return this.stream.rows || ROWS;
  }

  get isDrawn(): boolean {
    return this.lines.length > 0;
  }

  /** In place of what was drawn before. `cursor`: it is shown, at the end of the last line. */
  draw(lines: readonly string[], cursor = false): void {
    if (!this.isDrawn) process.on('exit', this.restore);
    this.put('', lines, cursor);
  }

  /** Writes above what is drawn. What does not end its line is given an end. */
  above(text: string): void {
    if (!this.isDrawn) {
      this.stream.write(text);
      return;
    }
    const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
    // A line that is longer than the terminal is wide goes on in the next one, whose rest must be cleared, too.
    const written = whole.split('\n').map((line) => `${CLEAR_RIGHT}${line}${CLEAR_RIGHT}\r\n`);
    this.put(`${CLEAR_BELOW}${written.join('')}`, this.lines, this.hasCursor);
  }

  clear(): void {
    if (!this.isDrawn) return;
    process.off('exit', this.restore);
    this.stream.write(`${this.toTop()}${CLEAR_BELOW}${SHOW_CURSOR}`);
    this.lines = [];
    this.hasCursor = true;
  }

  /** The terminal was used by somebody else in between: what is there now stays, and it is drawn anew below. */
  forget(): void {
    this.lines = [];
  }

  private put(above: string, lines: readonly string[], cursor: boolean): void {
    // The last row is left free: to write into it would scroll the terminal.
    const shown = lines.slice(-Math.max(1, this.rows - 1)).map((line) => fit(line, this.columns - 1));
    const drawn = shown.map((line) => `${line}${CLEAR_RIGHT}`).join('\r\n');
    this.stream.write(`${BEGIN_FRAME}${HIDE_CURSOR}${this.toTop()}${above}${drawn}${CLEAR_BELOW}${cursor ? SHOW_CURSOR : ''}${END_FRAME}`);
    this.lines = shown;
    this.hasCursor = cursor;
  }

  /** From the end of the last line to the beginning of the first, which may have been wrapped since by a narrower terminal. */
  private toTop(): string {
    if (!this.isDrawn) return '';
    const rows = this.lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / this.columns)), 0);
    return rows > 1 ? `\r\x1b[${rows - 1}A` : '\r';
  }
}
