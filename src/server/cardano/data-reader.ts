/**
 * Reads what a transaction of Cardano gives to scripts and says beside its
 * outputs, inside the page: Plutus data, scripts and metadata as plain values,
 * bytes as hex. It runs in the browser, where it is loaded with all it imports
 * (`page/browser-modules.ts`) once a view has something of the kind to show.
 */
import { type Metadatum, readMetadata, readMetadatum } from '../../ledgers/cardano/metadata.ts';
import { type NativeScriptJson, nativeScriptJson } from '../../ledgers/cardano/native-script.ts';
import { type PlutusJson, plutusJson } from '../../ledgers/cardano/plutus-json.ts';
import { splitTx } from '../../ledgers/cardano/whole-tx.ts';
import { readTxWitnesses } from '../../ledgers/cardano/witnesses.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';

/** CDDL: `script = [0, native_script] / [1.., bytes]`. */
const SCRIPT_NATIVE = 0;

export interface ShownScript {
  /** `native`, or `plutusV1` and up. */
  readonly type: string;
  /** What a native one asks for; null: it is of Plutus. */
  readonly native: NativeScriptJson | null;
  /** Bytes of the script itself. */
  readonly size: number;
}

/** A datum or script that came with a transaction. */
export interface ShownWitness {
  readonly kind: 'datum' | 'script';
  readonly hash: string;
  /** The datum, or `[kind, script]`. */
  readonly cbor: string;
}

/** What stands under a label: texts and numbers as texts, each with its kind. */
export type ShownMetadatum =
  | { readonly text: string }
  | { readonly int: string }
  | { readonly bytes: string }
  | { readonly list: readonly ShownMetadatum[] }
  | { readonly map: readonly { readonly k: ShownMetadatum; readonly v: ShownMetadatum }[] };

/** Plutus data, as cardano-cli writes it. Throws where it is none. */
export function readData(cbor: string): PlutusJson {
  return plutusJson(fromHex(cbor));
}

/** A script as outputs carry it: `[kind, script]`. Throws where it is none. */
export function readScript(cbor: string): ShownScript {
  const bytes = fromHex(cbor);
  const cursor = new Cursor(bytes);
  cursor.tuple(2, 'script');
  const kind = cursor.uint();
  const from = cursor.at;
  if (kind !== SCRIPT_NATIVE) return { type: `plutusV${kind}`, native: null, size: cursor.byteString().length };
  cursor.skip();
  return { type: 'native', native: nativeScriptJson(bytes.subarray(from, cursor.at)), size: cursor.at - from };
}

/** Datums and scripts in the witnesses and the auxiliary data of a whole transaction; none of Byron. Throws where it is none. */
export function readTxParts(cbor: string): readonly ShownWitness[] {
  const raw = fromHex(cbor);
  const { isByron, witnesses, auxiliary } = splitTx(raw);
  if (isByron) return [];
  const found = readTxWitnesses(
    raw.subarray(witnesses.start, witnesses.end),
    auxiliary === null ? null : raw.subarray(auxiliary.start, auxiliary.end),
  );
  return [...found.witnesses, ...found.auxiliary].map(({ kind, item }) => ({ kind, hash: toHex(item.hash), cbor: toHex(item.bytes) }));
}

/** The metadata in auxiliary data, label by label. Throws where it is none. */
export function readLabels(auxiliary: string): readonly { readonly label: string; readonly value: ShownMetadatum }[] {
  return readMetadata(fromHex(auxiliary)).map(({ label, value }) => ({ label: label.toString(), value: shown(readMetadatum(value)) }));
}

function shown(item: Metadatum): ShownMetadatum {
  switch (item.kind) {
    case 'text':
      return { text: item.value };
    case 'bytes':
      return { bytes: toHex(item.value) };
    case 'int':
      return { int: item.value.toString() };
    case 'list':
      return { list: item.items.map(shown) };
    case 'map':
      return { map: item.entries.map(([k, v]) => ({ k: shown(k), v: shown(v) })) };
  }
}
