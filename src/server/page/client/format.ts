/**
 * Numbers, sizes, times and names as people read them. Pure, and without a
 * document, so that tests read it outside of a browser.
 */

/** What there is to know of a chain by the smallest unit of its coin, which the status names: decimals of the coin, and whether outputs hold assets too. */
const UNITS: Readonly<Record<string, { readonly decimals: number; readonly hasAssets: boolean }>> = {
  lovelace: { decimals: 6, hasAssets: true },
  satoshi: { decimals: 8, hasAssets: false },
};
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
/** Below this a difference of clocks could as well be the network's. */
const NOW_SECONDS = 2;
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
/** CIP-67: four bytes before the name say what kind of token it is. */
const LABELLED = /^0([0-9a-f]{4})[0-9a-f]{2}0/;

export function count(value: number | bigint): string {
  return value.toLocaleString('en-US');
}

export function largest(values: Iterable<bigint>): bigint {
  let most = 0n;
  for (const value of values) if (value > most) most = value;
  return most;
}

/** `1 block`, `2,000 blocks`. */
export function counted(value: number | bigint, what: string): string {
  return `${count(value)} ${what}${Number(value) === 1 ? '' : 's'}`;
}

/** What a block holds; where the store began with it as a snapshot, nobody knows. */
export function contentText({ tx_count, size }: { readonly tx_count?: number; readonly size?: number }): string {
  if (tx_count === undefined || size === undefined) return 'content not known';
  return `${counted(tx_count, 'transaction')}, ${bytes(size)}`;
}

/** Exact, with all decimals, of a decimal string of the smallest unit. */
export function coins(quantity: string, unit: string): string {
  const amount = BigInt(quantity);
  const decimals = UNITS[unit]?.decimals ?? 0;
  const whole = 10n ** BigInt(decimals);
  return `${count(amount / whole)}.${(amount % whole).toString().padStart(decimals, '0')}`;
}

/** Whether outputs of a chain hold more than its coin. */
export function hasAssets(unit: string): boolean {
  return UNITS[unit]?.hasAssets ?? false;
}

/** Chains without epochs have no slots of their own either. */
export function slotText(slot: number, epoch: number | undefined, era?: string): string {
  if (epoch === undefined) return '';
  return ` slot ${count(slot)}, epoch ${count(epoch)}${era === undefined ? '' : `, ${era}`}`;
}

export function bytes(value: number): string {
  let scaled = value;
  let unit = 0;
  for (; scaled >= 1000 && unit < BYTE_UNITS.length - 1; unit++) scaled /= 1000;
  return `${unit === 0 ? scaled : scaled.toFixed(scaled < 10 ? 2 : 1)} ${BYTE_UNITS[unit]}`;
}

/** Three digits are enough of a rate. */
export function rate(value: number): string {
  if (value >= 100) return count(Math.round(value));
  if (value === 0) return '0';
  return value >= 0.01 ? String(Number(value.toPrecision(value >= 10 ? 3 : 2))) : '<0.01';
}

export function milliseconds(value: number): string {
  return value >= 10_000 ? `${rate(value / 1000)} s` : `${rate(value)} ms`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** `45 s`, `3 min`, `5 h 12 min`, `7 d`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)} h ${Math.floor(whole / MINUTE) % 60} min`;
  return `${count(Math.floor(whole / DAY))} d`;
}

/** How long before `now` (both in Unix seconds); a devnet's clock may well be ahead. */
export function ago(unixSeconds: number, now: number): string {
  const seconds = now - unixSeconds;
  if (Math.abs(seconds) < NOW_SECONDS) return 'just now';
  return seconds > 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}

export function utc(unixSeconds: number): string {
  const text = new Date(unixSeconds * 1000).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)} UTC`;
}

/** An amount where there is room for few characters: without its decimals, and in thousands, millions and so on where that is still too long. Other words stay. */
export function fittingAmount(text: string, chars: number): string {
  if (text.length <= chars || !/^[\d,.]+$/.test(text)) return text;
  const [whole] = text.split('.');
  if (whole.length <= chars) return whole;
  return new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 }).format(BigInt(whole.replaceAll(',', '')));
}

/** The two ends of something long. */
export function shortened(text: string, head: number, tail: number): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}

/** The human part and its first letters tell addresses apart, and so do the last ones. */
export function shortAddress(address: string): string {
  const prefix = /^[a-z_]+1/.exec(address)?.[0].length ?? 0;
  return shortened(address, prefix + 6, 6);
}

export function shortHash(hash: string): string {
  return shortened(hash, 8, 6);
}

/** The text an asset name stands for, when it is one a person can read; else null. */
export function nameText(hex: string): string | null {
  const label = LABELLED.exec(hex);
  const body = label === null ? hex : hex.slice(8);
  const name = printable(body);
  if (name === null) return label === null ? null : printable(hex);
  return label === null ? name : `${name} (${Number.parseInt(label[1], 16)})`;
}

/** The text that bytes in hex stand for, when it is one a person can read; else null. */
export function printable(hex: string): string | null {
  if (hex === '' || hex.length % 2 !== 0) return null;
  const raw = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
    return /^[\p{L}\p{N}\p{P}\p{S}\p{M} ]+$/u.test(text) && text.trim() !== '' ? text : null;
  } catch {
    // Bytes that are no text are the ordinary case, and hex says what they are.
    return null;
  }
}
