/** Small drawings of block characters: a chart of columns, and a bar. Plain characters where a terminal has no others. */
import type { Style } from '../terminal/style.ts';

const EIGHTHS = ['', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN = ['', '.', '.', ':', ':', '-', '=', '+', '#'];

/** The last values that fit, from the top row down. A value above nothing is seen, however small. */
export function chart(values: readonly number[], columns: number, rows: number, { hasUnicode }: Style): string[] {
  // Behind -0 there would be all of them.
  const shown = columns > 0 ? values.slice(-columns) : [];
  const most = Math.max(1, ...shown);
  const glyphs = hasUnicode ? EIGHTHS : PLAIN;
  const heights = shown.map((value) => (value <= 0 ? 0 : Math.max(1, Math.round((8 * rows * value) / most))));
  return Array.from({ length: rows }, (_, row) => {
    const below = 8 * (rows - 1 - row);
    // Nothing still has a line to stand on.
    return heights.map((height) => glyphs[Math.min(8, Math.max(row === rows - 1 ? 1 : 0, height - below))] || ' ').join('');
  });
}

/** `━━━━━━────`: as much of it as is done, painted. */
export function bar(done: number, columns: number, style: Style): string {
  const width = Math.max(0, columns);
  const full = Math.max(0, Math.min(width, Math.floor(done * width)));
  const [mark, rest] = style.hasUnicode ? ['━', '─'] : ['=', '-'];
  return style.cyan(mark.repeat(full)) + style.dim(rest.repeat(width - full));
}
