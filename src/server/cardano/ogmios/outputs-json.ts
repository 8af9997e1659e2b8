/**
 * Outputs as Ogmios reads and writes them: those that a request for an
 * evaluation brings along, and those that the store is asked for.
 */
import type { NamedOutput } from '../../../evaluation/cardano/request.ts';
import type { Asset } from '../../../ledgers/asset.ts';
import { type DescribedOutput, formatAddress, parseAddress } from '../../../ledgers/cardano/index.ts';
import { encodeOutput } from '../../../ledgers/cardano/transaction-write.ts';
import { describeStored } from '../../../query/cardano/describe-stored.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Utxo } from '../../../query/utxo.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { UnspentError } from '../../../util/errors.ts';
import { EVALUATION_OUTPUTS_MAX } from '../../../util/limits.ts';
import type { JsonValue } from './json-text.ts';
import { ada } from './parameters-json.ts';
import { SCRIPT_LANGUAGES, scriptJson } from './script-json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Throws USAGE. */
export function outputsOf(list: unknown): NamedOutput[] {
  if (!Array.isArray(list)) throw wrong('additionalUtxo is a list');
  if (list.length > EVALUATION_OUTPUTS_MAX) throw wrong(`additionalUtxo has ${list.length} entries, more than ${EVALUATION_OUTPUTS_MAX}`);
  return list.map((entry) => outputOf(fieldsOf(entry, 'an entry of additionalUtxo')));
}

/** `{transaction: {id}, index}`. Throws USAGE. */
export function refOf(entry: unknown): { readonly txId: Uint8Array; readonly index: number } {
  const { transaction, index } = fieldsOf(entry, 'an output reference');
  const txId = hexField(fieldsOf(transaction, 'transaction')['id'], 'the id of a transaction');
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) throw wrong('the index of an output is a number from 0 on');
  return { txId, index };
}

function outputOf(entry: Fields): NamedOutput {
  const { address, value, datumHash, datum, script } = entry;
  if (typeof address !== 'string') throw wrong('an output has an address');
  const amounts = fieldsOf(value, 'value');
  const assets = Object.entries(amounts).flatMap(([policy, names]): Asset[] => (policy === 'ada' ? [] : assetsOf(policy, names)));
  const output = encodeOutput({
    address: parseAddress(address),
    lovelace: quantityOf(fieldsOf(amounts['ada'], 'ada')['lovelace']),
    assets,
    datum: optional(datum, 'a datum'),
    datumHash: optional(datumHash, 'the hash of a datum'),
    scriptRef: script === undefined || script === null ? undefined : scriptOf(fieldsOf(script, 'script')),
  });
  return { ...refOf(entry), output };
}

function assetsOf(policy: string, names: unknown): Asset[] {
  return Object.entries(fieldsOf(names, 'assets of a policy')).map(([name, quantity]) => ({
    policy: hexField(policy, 'a policy'),
    name: name === '' ? new Uint8Array(0) : hexField(name, 'the name of an asset'),
    quantity: quantityOf(quantity),
  }));
}

/** `[kind, script]`: that of a native script is an item of its own, any other a byte string. */
function scriptOf({ language, cbor }: Fields): Uint8Array {
  const kind = SCRIPT_LANGUAGES.indexOf(String(language));
  if (kind < 0) throw wrong(`a script is of one of ${SCRIPT_LANGUAGES.join(', ')}`);
  const bytes = hexField(cbor, 'the cbor of a script');
  const w = new CborWriter(bytes.length + 16).array(2).uint(kind);
  return (kind === 0 ? w.raw(bytes) : w.bytes(bytes)).take();
}

export function outputJson({ txId, index, output: { raw } }: Utxo): JsonValue {
  return { transaction: { id: hexOf(txId) }, index, ...describedOutputJson(describeStored(txId, index, raw)) };
}

export function describedOutputJson(output: DescribedOutput): Readonly<Record<string, JsonValue | undefined>> {
  const { address, lovelace, assets, datumHash, inlineDatum, scriptRef } = output;
  return {
    address: formatAddress(address),
    value: { ...ada(lovelace), ...assetsJson(assets) },
    datumHash: datumHash === null ? undefined : hexOf(datumHash),
    datum: inlineDatum === null ? undefined : hexOf(inlineDatum),
    script: scriptRef === null ? undefined : scriptJson(scriptRef),
  };
}

/** By policy and name. */
export function assetsJson(assets: readonly Asset[]): Readonly<Record<string, JsonValue>> {
  const byPolicy = Map.groupBy(assets, (asset) => hexOf(asset.policy));
  return Object.fromEntries(
    Array.from(byPolicy, ([policy, own]) => [policy, Object.fromEntries(own.map(({ name, quantity }) => [hexOf(name), quantity]))]),
  );
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw wrong(`${what} is an object`);
}

function optional(value: unknown, what: string): Uint8Array | undefined {
  return value === undefined || value === null ? undefined : hexField(value, what);
}

function hexField(value: unknown, what: string): Uint8Array {
  if (typeof value === 'string' && value !== '' && isHex(value)) return fromHex(value);
  throw wrong(`${what} is hex`);
}

function quantityOf(value: unknown): bigint {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  if (isNumber || (typeof value === 'string' && /^\d{1,20}$/.test(value))) return BigInt(value);
  throw wrong('a quantity is a whole number from 0 to 2^53 - 1, or the digits of a larger one as text');
}

function wrong(message: string): UnspentError {
  return new UnspentError('USAGE', message);
}
