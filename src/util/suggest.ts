/**
 * "Did you mean ...?": the known name nearest to a mistyped one, or none when
 * nothing is near enough to be worth saying.
 */

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const above = rows[i - 1];
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(replace, above[j] + 1, row[j - 1] + 1, swapped ? rows[i - 2][j - 2] + 1 : Infinity));
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}

/** Longer than any name we know: past it nothing is near, and the distance is quadratic. */
const NAME_LENGTH_MAX = 80;

/** A third of a name may be wrong, three letters at most. */
function tolerance(name: string): number {
  return Math.min(3, Math.max(1, Math.floor(name.length / 3)));
}

/** Case and separators are what people mix up between the file, variables and flags. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[-_"' ]/g, '');
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** The nearest of `known`, by its whole name or, for a key put into the wrong table, by its last part. */
export function suggest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined;
  const wanted = plain(name);
  const ranked = [...known]
    .map((candidate) => {
      const whole = editDistance(wanted, plain(candidate));
      const last = editDistance(lastPart(wanted), lastPart(plain(candidate)));
      const near = whole <= tolerance(wanted) || last <= tolerance(lastPart(wanted)) - 1;
      return { candidate, near, score: Math.min(whole, last + 1), whole };
    })
    .filter(({ near }) => near)
    .sort((a, b) => a.score - b.score || a.whole - b.whole);
  return ranked[0]?.candidate;
}

/** The suggestion as the end of a message. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = suggest(name, known);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}
