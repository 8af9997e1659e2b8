/**
 * What chains of three sizes need, and what breaks first: the tables of
 * docs/scale.md, from what a row costs (scale-costs.ts, measured) and how large
 * the chains are (scale-sizes.ts, estimated), with the wait of blocks for the
 * publisher simulated. A test holds the page to what this prints.
 */
import { COSTS } from './scale-costs.ts';
import { needsOf, usesOf } from './scale-model.ts';
import { SIZES } from './scale-sizes.ts';
import type { BenchOptions } from './support.ts';

/** By the name that the page has for each. */
export function scaleTables(): Readonly<Record<'sizes' | 'costs' | 'needs' | 'breaks', string>> {
  const names = SIZES.map(({ name }) => name);
  const rows = (list: readonly (readonly [string, (size: (typeof SIZES)[number]) => string])[]): string[][] =>
    list.map(([what, of]) => [what, ...SIZES.map(of)]);
  const sizes = rows([
    ['unspent outputs; more a year', ({ unspent, unspentPerYear }) => `${count(unspent)}; ${count(unspentPerYear)}`],
    ['transactions so far; a second', ({ transactions, perSecond }) => `${count(transactions)}; ${count(perSecond)}`],
    [
      'blocks so far; seconds between them',
      (size) => `${count(size.blocks)}; ${size.secondsPerBlock}${size.isRandom ? ' on average' : ''}`,
    ],
    ['spends and creates of a transaction', ({ spends, creates }) => `${spends} and ${creates}`],
    ['bytes of a transaction', ({ bytes }) => `${bytes}`],
    ['indexes; history', ({ indexes, withHistory }) => `${indexes}; ${withHistory ? 'all of it' : 'none'}`],
    ['requests a second', ({ requests }) => count(requests)],
  ]);
  const all = new Map(SIZES.map((size) => [size, needsOf(size)]));
  const of = (size: (typeof SIZES)[number]) => all.get(size) ?? needsOf(size);
  const needs = rows([
    ['rows a transaction changes', (size) => count(of(size).rowsPerTransaction)],
    ['rows a second', (size) => count(of(size).rowsPerSecond)],
    ['the fold', (size) => cores(of(size).fold)],
    ['from the first block to the tip, the fold alone', (size) => time(of(size).catchUpHours * 3600)],
    ["the store's disk; more a year", (size) => `${bytes(of(size).localBytes)}; ${bytes(of(size).localBytesPerYear)}`],
    ['the publisher', (size) => cores(of(size).publisher)],
    ['PostgreSQL, the connection that writes', (size) => cores(of(size).database)],
    ["PostgreSQL's disk; more a year", (size) => `${bytes(of(size).databaseBytes)}; ${bytes(of(size).databaseBytesPerYear)}`],
    ['to each standby, a second', (size) => bytes(of(size).logPerSecond)],
    ['a block is in the copy after, p50; p99 (simulated)', (size) => lag(of(size).lag)],
    ['readers', (size) => cores(of(size).readers)],
    ['PostgreSQL, for the readers', (size) => cores(of(size).reads)],
    ['the same changes in Cassandra, three copies, all nodes', (size) => cores(of(size).cassandra)],
  ]);
  const breaks = SIZES.map((size) => {
    const [first, second, third] = usesOf(size).map(({ what, share }) => `${what}, ${times(share)}`);
    return [size.name, first, second, third];
  });
  const costs = Object.values(COSTS).map(({ what, value, unit }) => [what, `${value} ${unit}`]);
  return {
    sizes: table(['', ...names], sizes),
    costs: table(['', 'measured'], costs),
    needs: table(['', ...names], needs),
    breaks: table(['', 'first', 'then', 'then'], breaks),
  };
}

export async function run({ json }: BenchOptions): Promise<void> {
  if (json) console.log(JSON.stringify(SIZES.map((size) => ({ ...size, needs: needsOf(size), uses: usesOf(size) }))));
  else for (const text of Object.values(scaleTables())) console.log(`${text}\n`);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Two digits that count: the estimates have no more. */
function two(value: number): string {
  return `${Number(value.toPrecision(2))}`;
}

function scaled(value: number, steps: readonly (readonly [number, string])[], rest: string): string {
  const [size, unit] = steps.find(([least]) => value >= least) ?? [1, rest];
  return `${two(value / size)}${unit === '' ? '' : ` ${unit}`}`;
}

const count = (value: number): string =>
  scaled(
    value,
    [
      [1e12, 'trillion'],
      [1e9, 'billion'],
      [1e6, 'million'],
    ],
    '',
  );

const bytes = (value: number): string =>
  scaled(
    value,
    [
      [1e15, 'PB'],
      [1e12, 'TB'],
      [1e9, 'GB'],
      [1e6, 'MB'],
      [1e3, 'kB'],
    ],
    'bytes',
  );

const time = (seconds: number): string =>
  scaled(
    seconds,
    [
      [365.25 * 86_400, 'years'],
      [86_400, 'days'],
      [3600, 'hours'],
      [60, 'minutes'],
      [1, 's'],
    ],
    's',
  );

function cores(value: number): string {
  return value < 1 ? `${two(value * 100)} % of a core` : `${two(value)} cores`;
}

function times(share: number): string {
  return share < 1 ? `used to ${two(share * 100)} %` : `${two(share)} times too small`;
}

function lag(value: { readonly p50: number; readonly p99: number } | null): string {
  const text = (seconds: number): string => (seconds < 1 ? `${two(seconds * 1000)} ms` : time(seconds));
  return value === null ? 'never: it falls behind' : `${text(value.p50)}; ${text(value.p99)}`;
}
