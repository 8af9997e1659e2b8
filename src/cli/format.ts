/**
 * Numbers, sizes, times and tables as people read them. Nothing here is parsed
 * by a program: that is what --json is for.
 */
import type { Point } from '../ledgers/ledger.ts';
import { bareCoins } from '../query/amounts.ts';
import type { Currency, Dialect } from '../query/dialect.ts';
import type { Totals } from '../state/head.ts';

export function count(value: number | bigint): string {
  return value.toLocaleString('en-US');
}

/** `1 block`, `2,000 blocks`. */
export function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : 's'}`;
}

/** Exact, with all decimals: `12.500000 ada`. */
export function coins(amount: bigint, currency: Currency): string {
  return `${bareCoins(amount, currency)} ${currency.name}`;
}

/** Of the devnet, which is Cardano's: all six decimals. */
export function ada(lovelace: bigint): string {
  return bareCoins(lovelace, { decimals: 6 });
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let scaled = value;
  let unit = 0;
  for (; scaled >= 1000 && unit < units.length - 1; unit++) scaled /= 1000;
  return `${unit === 0 ? scaled : scaled.toFixed(1)} ${units[unit]}`;
}

/** Three digits are enough of a rate. */
export function rate(value: number): string {
  return value >= 100 ? count(Math.round(value)) : value.toPrecision(value >= 10 ? 3 : 2).replace(/\.0+$/, '');
}

export function duration(seconds: number): string {
  if (seconds < 60) return seconds < 10 ? `${seconds.toFixed(1)}s` : `${Math.round(seconds)}s`;
  const whole = Math.round(seconds);
  const [days, hours, minutes] = [Math.floor(whole / 86_400), Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60];
  if (days > 0) return `${days}d ${hours}h`;
  return hours > 0 ? `${hours}h ${minutes}m` : `${minutes}m ${whole % 60}s`;
}

export function utcTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, ' UTC');
}

/** The two ends of something long. */
export function shortened(text: string, head: number, tail: number): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}

export function pointText(point: Point | null, dialect: Dialect): string {
  return point === null ? 'the origin' : `${placeText(point, dialect)}, block ${dialect.formatId(point.hash)}`;
}

/** Where it stands: chains without slots of their own have only a height. */
export function placeText({ height, slot }: Pick<Point, 'height' | 'slot'>, { clock }: Dialect): string {
  return clock.epoch(slot) === null ? `height ${count(height)}` : `height ${count(height)}, slot ${count(slot)}`;
}

/** Columns aligned by their widest cell; those named in `right` end together. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const cell = (text: string, column: number): string =>
    right.includes(column) ? text.padStart(widths[column]) : text.padEnd(widths[column]);
  return all.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}

/** Names and values, one pair a line. */
export function pairs(rows: readonly (readonly [name: string, value: string])[], paint = (name: string): string => name): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${paint(name)}${' '.repeat(width - name.length)}  ${value}`).join('\n');
}

/** `1,234 outputs worth 5.000000 ada`; null: of a store that keeps none. */
export function unspentText(totals: Pick<Totals, 'utxos' | 'value'> | null, { currency }: Dialect): string {
  if (totals === null) return 'not kept (utxo.enabled is off)';
  return `${counted(totals.utxos, 'output')} worth ${coins(totals.value, currency)}`;
}
