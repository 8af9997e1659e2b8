/**
 * Where a line of a chart must not go: over time in which nothing was measured.
 * A short pause between two values is bridged, a long one is left open, and a
 * value that stands alone is a dot. Pure.
 */

/** A value; null: nothing was measured, and the line ends; undefined: the line goes over it. */
type Value = number | null | undefined;

/** Seconds between two samples, past which some are missing: they come one a second. */
const SAMPLES_APART = 3;
/** Seconds without a value that a line goes over: blocks come every twenty seconds. */
const BRIDGED_SECONDS = 30;

/** The same with a row of nothing in each hole between two samples, and short pauses marked as those to bridge. */
export function withGaps(series: readonly (readonly (number | null)[])[]): Value[][] {
  const [times = [], ...lines] = series;
  const holes = new Set<number>();
  const rows: Value[][] = series.map(() => []);
  times.forEach((time, i) => {
    const before = times[i - 1];
    if (time !== null && before != null && time - before > SAMPLES_APART) {
      holes.add(rows[0].length);
      rows.forEach((row, line) => void row.push(line === 0 ? before + 1 : null));
    }
    rows.forEach((row, line) => void row.push(line === 0 ? time : lines[line - 1][i]));
  });
  return rows.map((row, line) => (line === 0 ? row : bridged(rows[0], row, holes)));
}

function bridged(times: readonly Value[], values: readonly Value[], holes: ReadonlySet<number>): Value[] {
  const made = [...values];
  let last: number | null = null;
  values.forEach((value, i) => {
    if (holes.has(i)) last = null;
    if (value == null) return;
    if (last !== null && (times[i] ?? 0) - (times[last] ?? 0) <= BRIDGED_SECONDS) made.fill(undefined, last + 1, i);
    last = i;
  });
  return made;
}

/** Places of values with nothing to draw a line to. */
export function isolated(values: readonly Value[]): number[] {
  const isEnd = (at: number, step: number): boolean => {
    let next = at + step;
    while (values[next] === undefined && next >= 0 && next < values.length) next += step;
    return values[next] == null;
  };
  return values.flatMap((value, at) => (value != null && isEnd(at, -1) && isEnd(at, 1) ? [at] : []));
}
