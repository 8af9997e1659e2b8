/** Scripts as Ogmios writes them: a native one by its clauses too, unless they are nested too deep or a slot is above 2^53. */

import { readScriptRef } from '../../../ledgers/cardano/describe.ts';
import { type NativeScriptJson, nativeScriptJson } from '../../../ledgers/cardano/native-script.ts';
import { hexOf } from '../../../query/dialect.ts';
import { whereReadable } from '../where-readable.ts';
import type { JsonValue } from './json-text.ts';

/** By the kinds that the ledger counts. */
export const SCRIPT_LANGUAGES = ['native', 'plutus:v1', 'plutus:v2', 'plutus:v3'];

/** Of CBOR `[kind, script]`. */
export function scriptJson(scriptRef: Uint8Array): JsonValue {
  const { kind, script } = readScriptRef(scriptRef);
  const json = kind === 0 ? whereReadable(() => clauseJson(nativeScriptJson(script))) : null;
  return { language: SCRIPT_LANGUAGES[kind], json: json ?? undefined, cbor: hexOf(script) };
}

function clauseJson(script: NativeScriptJson): JsonValue {
  switch (script.type) {
    case 'sig':
      return { clause: 'signature', from: script.keyHash };
    case 'all':
    case 'any':
      return { clause: script.type, from: script.scripts.map(clauseJson) };
    case 'atLeast':
      return { clause: 'some', atLeast: script.required, from: script.scripts.map(clauseJson) };
    default:
      return { clause: script.type, slot: script.slot };
  }
}
