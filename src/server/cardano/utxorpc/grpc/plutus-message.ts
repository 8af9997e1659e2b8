/**
 * Plutus data and scripts as UTxO RPC writes them. Constructors keep the tags
 * they have in CBOR; an integer that does not fit into 64 bits is the bytes of
 * its size, of a negative one those of -1 - n, as in CBOR.
 */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import { type NativeScriptJson, nativeScriptJson } from '../../../../ledgers/cardano/native-script.ts';
import { constructorTag, type PlutusData, readPlutusData, TAG_ANY_CONSTRUCTOR } from '../../../../ledgers/cardano/plutus-data.ts';
import { fromHex } from '../../../../util/bytes.ts';
import { whereReadable } from '../../where-readable.ts';
import type { MessageInit } from './message-init.ts';
import { INT64, uint32 } from './numbers.ts';

type DataMessage = MessageInit<cardano.PlutusData>;
type NativeMessage = MessageInit<cardano.NativeScript>;

/** Undefined where the data is nested too deeply to be taken apart: its bytes stand beside it. */
export function dataMessage(bytes: Uint8Array): DataMessage | undefined {
  const data = whereReadable(() => readPlutusData(bytes));
  return data === null ? undefined : messageOf(data);
}

function messageOf(data: PlutusData): DataMessage {
  switch (data.kind) {
    case 'constructor': {
      const tag = constructorTag(data.number);
      const name = tag === null ? { tag: TAG_ANY_CONSTRUCTOR, anyConstructor: BigInt(data.number) } : { tag };
      return { plutusData: { case: 'constr', value: { ...name, fields: data.fields.map(messageOf) } } };
    }
    case 'map':
      return {
        plutusData: {
          case: 'map',
          value: { pairs: data.entries.map(([key, value]) => ({ key: messageOf(key), value: messageOf(value) })) },
        },
      };
    case 'list':
      return { plutusData: { case: 'array', value: { items: data.items.map(messageOf) } } };
    case 'int':
      return { plutusData: { case: 'bigInt', value: integerMessage(data.value) } };
    case 'bytes':
      return { plutusData: { case: 'boundedBytes', value: data.value } };
  }
}

function integerMessage(value: bigint): MessageInit<cardano.BigInt> {
  if (value >= INT64.min && value <= INT64.max) return { bigInt: { case: 'int', value } };
  return value > 0n
    ? { bigInt: { case: 'bigUInt', value: sizeBytes(value) } }
    : { bigInt: { case: 'bigNInt', value: sizeBytes(-1n - value) } };
}

function sizeBytes(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
}

/** Undefined: of a kind that the messages do not have, or nested too deeply to be taken apart. */
export function scriptMessage({
  kind,
  script,
}: {
  readonly kind: number;
  readonly script: Uint8Array;
}): MessageInit<cardano.Script> | undefined {
  switch (kind) {
    case 0: {
      const native = whereReadable(() => nativeScriptJson(script));
      return native === null ? undefined : { script: { case: 'native', value: nativeMessage(native) } };
    }
    case 1:
      return { script: { case: 'plutusV1', value: script } };
    case 2:
      return { script: { case: 'plutusV2', value: script } };
    case 3:
      return { script: { case: 'plutusV3', value: script } };
    default:
      return undefined;
  }
}

function nativeMessage(json: NativeScriptJson): NativeMessage {
  switch (json.type) {
    case 'sig':
      return { nativeScript: { case: 'scriptPubkey', value: fromHex(json.keyHash) } };
    case 'all':
      return { nativeScript: { case: 'scriptAll', value: { items: json.scripts.map(nativeMessage) } } };
    case 'any':
      return { nativeScript: { case: 'scriptAny', value: { items: json.scripts.map(nativeMessage) } } };
    case 'atLeast':
      return { nativeScript: { case: 'scriptNOfK', value: { k: uint32(json.required), scripts: json.scripts.map(nativeMessage) } } };
    case 'after':
      return { nativeScript: { case: 'invalidBefore', value: BigInt(json.slot) } };
    case 'before':
      return { nativeScript: { case: 'invalidHereafter', value: BigInt(json.slot) } };
  }
}
