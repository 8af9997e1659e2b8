/** JSON in which amounts are numbers of any length, as Ogmios writes them. */

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | MadeText
  | { readonly [key: string]: JsonValue | undefined };

/** A part that is text already, because it was made row by row. */
export class MadeText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** As JSON.stringify, and whole numbers of any size as numbers. */
export function jsonText(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof MadeText) return value.text;
  if (isList(value)) return `[${value.map(jsonText).join(',')}]`;
  const fields = Object.entries(value).flatMap(([key, field]) =>
    field === undefined ? [] : [`${JSON.stringify(key)}:${jsonText(field)}`],
  );
  return `{${fields.join(',')}}`;
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
