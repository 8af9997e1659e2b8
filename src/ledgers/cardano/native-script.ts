/**
 * Native scripts as JSON, in the form that cardano-cli writes and reads: which
 * keys must sign, how many of several scripts must hold, from and until when.
 *
 * CDDL: `native_script`.
 */

import { toHex } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { CBOR_RECURSION_MAX } from '../../util/limits.ts';

export type NativeScriptJson =
  | { readonly type: 'sig'; readonly keyHash: string }
  | { readonly type: 'all' | 'any'; readonly scripts: readonly NativeScriptJson[] }
  | { readonly type: 'atLeast'; readonly required: number; readonly scripts: readonly NativeScriptJson[] }
  | { readonly type: 'after' | 'before'; readonly slot: number };

const KEY_HASH_BYTES = 28;

/** Throws BLOCK_INVALID where the bytes are no native script, or one of too many levels. */
export function nativeScriptJson(bytes: Uint8Array): NativeScriptJson {
  const c = new Cursor(bytes);
  const json = readScript(c, 0);
  if (c.at !== bytes.length) c.fail('bytes after the end of the script');
  return json;
}

function readScript(c: Cursor, depth: number): NativeScriptJson {
  if (depth > CBOR_RECURSION_MAX) c.fail(`a native script of more than ${CBOR_RECURSION_MAX} levels`);
  const at = c.at;
  const fields = c.array();
  const json = readKind(c, c.uint(), depth) ?? c.fail('a native script of unknown kind', at);
  c.close(fields);
  return json;
}

/** What stands behind the kind; null: the kind is not known. */
function readKind(c: Cursor, kind: number, depth: number): NativeScriptJson | null {
  switch (kind) {
    case 0:
      c.span(KEY_HASH_BYTES);
      return { type: 'sig', keyHash: toHex(c.bytes.subarray(c.start, c.stop)) };
    case 1:
      return { type: 'all', scripts: readScripts(c, depth) };
    case 2:
      return { type: 'any', scripts: readScripts(c, depth) };
    case 3:
      return { type: 'atLeast', required: Number(c.bigInt()), scripts: readScripts(c, depth) };
    case 4:
      return { type: 'after', slot: c.uint() };
    case 5:
      return { type: 'before', slot: c.uint() };
    default:
      return null;
  }
}

function readScripts(c: Cursor, depth: number): readonly NativeScriptJson[] {
  const scripts: NativeScriptJson[] = [];
  for (let i = 0, count = c.array(); c.more(count, i); i++) scripts.push(readScript(c, depth + 1));
  return scripts;
}
