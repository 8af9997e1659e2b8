/**
 * JSON as docs/proofs.md ("Writing a verifier", 1.) takes it, and its fields:
 * nothing of ours is imported here. Throws for what is no document.
 */

export type Value = null | boolean | number | string | readonly Value[] | { readonly [name: string]: Value };
export type Fields = { readonly [name: string]: Value };

export class NoDocument extends Error {}

export function need(condition: boolean, what: string): asserts condition {
  if (!condition) throw new NoDocument(what);
}

/** No name twice in one object; numbers as `0` or without sign, point, exponent and leading zeros, below 2^53. */
export function parseStrictly(text: string): Value {
  let value: Value;
  try {
    value = JSON.parse(text) as Value;
  } catch {
    throw new NoDocument('not JSON');
  }
  let at = 0;
  const skipString = (): string => {
    const start = at++;
    for (; text[at] !== '"'; at++) if (text[at] === '\\') at++;
    return JSON.parse(text.slice(start, ++at)) as string;
  };
  // JSON.parse has found it well formed, so what stands behind what is known.
  const names: (Set<string> | null)[] = [];
  while (at < text.length) {
    const char = text[at];
    if (char === '{') names.push(new Set());
    else if (char === '[') names.push(null);
    else if (char === '}' || char === ']') names.pop();
    if (char === '"') {
      const string = skipString();
      while (/\s/.test(text[at] ?? '')) at++;
      if (text[at] === ':') {
        need(!names.at(-1)!.has(string), `${string} stands twice`);
        names.at(-1)!.add(string);
      }
      continue;
    }
    if (/[-\d]/.test(char)) {
      const number = /^[-+\d.eE]+/.exec(text.slice(at, at + 400))![0];
      need(/^(0|[1-9]\d*)$/.test(number) && Number(number) < 2 ** 53, `${number} is no plain number`);
      at += number.length;
      continue;
    }
    at++;
  }
  return value;
}

/** Exactly these, and those of `maybe` where they are. */
export function fieldsOf(value: Value | undefined, names: readonly string[], maybe: readonly string[] = []): Fields {
  need(typeof value === 'object' && value !== null && !Array.isArray(value), 'not an object');
  const fields = value as Fields;
  for (const name of names) need(name in fields, `${name} is missing`);
  for (const name of Object.keys(fields)) need(names.includes(name) || maybe.includes(name), `${name} is unknown`);
  return fields;
}

export function listOf(value: Value | undefined): readonly Value[] {
  need(Array.isArray(value), 'not a list');
  return value as readonly Value[];
}

export function numberOf(value: Value | undefined): number {
  need(typeof value === 'number', 'not a number');
  return value;
}

/** Hex in either case, of whole bytes. */
export function bytesOf(value: Value | undefined, length?: number): Buffer {
  need(typeof value === 'string' && /^([0-9a-f]{2})*$/i.test(value), 'not hex');
  const bytes = Buffer.from(value, 'hex');
  need(length === undefined || bytes.length === length, `not ${length} bytes`);
  return bytes;
}

/** Text of `0` and `1`, at most 1,024. */
export function pathOf(value: Value | undefined): string {
  need(typeof value === 'string' && /^[01]{0,1024}$/.test(value), 'not a path');
  return value;
}

/** Text of decimal digits without leading zeros, below 2^53. */
export function digitsOf(value: Value | undefined): bigint {
  need(typeof value === 'string' && /^(0|[1-9]\d{0,15})$/.test(value) && BigInt(value) < 1n << 53n, 'not digits');
  return BigInt(value);
}
