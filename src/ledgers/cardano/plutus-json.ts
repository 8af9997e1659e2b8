/**
 * Plutus data as JSON, in the detailed form that cardano-cli writes:
 * `{"constructor": 0, "fields": [...]}`, `{"map": [{"k": ..., "v": ...}]}`,
 * `{"list": [...]}`, `{"int": 42}`, `{"bytes": "hex"}`. An integer that a double
 * cannot hold is a string of digits.
 */

import { toHex } from '../../util/bytes.ts';
import { type PlutusData, readPlutusData } from './plutus-data.ts';

export type PlutusJson =
  | { readonly constructor: number; readonly fields: readonly PlutusJson[] }
  | { readonly map: readonly { readonly k: PlutusJson; readonly v: PlutusJson }[] }
  | { readonly list: readonly PlutusJson[] }
  | { readonly int: number | string }
  | { readonly bytes: string };

/** Throws BLOCK_INVALID where the bytes are no Plutus data, or of too many levels. */
export function plutusJson(bytes: Uint8Array): PlutusJson {
  return jsonOf(readPlutusData(bytes));
}

function jsonOf(data: PlutusData): PlutusJson {
  switch (data.kind) {
    case 'constructor':
      return { constructor: data.number, fields: data.fields.map(jsonOf) };
    case 'map':
      return { map: data.entries.map(([k, v]) => ({ k: jsonOf(k), v: jsonOf(v) })) };
    case 'list':
      return { list: data.items.map(jsonOf) };
    case 'int':
      return { int: Number.isSafeInteger(Number(data.value)) ? Number(data.value) : data.value.toString() };
    case 'bytes':
      return { bytes: toHex(data.value) };
  }
}
