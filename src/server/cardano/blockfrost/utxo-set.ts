/**
 * Outputs that a caller brings along for an evaluation, because they are in no
 * block yet: `{cbor, additionalUtxoSet: [[{txId, index}, {address, value, ...}]]}`.
 * Clients differ in how they spell names (`additionalUtxoset`, `datum_hash`) and
 * in whether amounts are numbers or strings.
 */
import type { NamedOutput } from '../../../evaluation/cardano/request.ts';
import { type Asset, parseUnit } from '../../../ledgers/asset.ts';
import { parseAddress } from '../../../ledgers/cardano/index.ts';
import { encodeOutput } from '../../../ledgers/cardano/transaction-write.ts';
import { TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { EVALUATION_OUTPUTS_MAX } from '../../../util/limits.ts';
import { hexParameter, wrongParameter } from '../../http/parameters.ts';

type Fields = Readonly<Record<string, unknown>>;

const DATUM_HASH_BYTES = 32;
const PLUTUS = /^plutus:v([1-9])$/;

/** Throws USAGE. `cbor` is what was given as the transaction. */
export function readUtxoSet(body: unknown): { readonly cbor: Uint8Array; readonly additional: readonly NamedOutput[] } {
  const given = parseBody(body);
  const set = given['additionalUtxoSet'] ?? given['additionalUtxoset'] ?? [];
  if (!Array.isArray(set) || set.length > EVALUATION_OUTPUTS_MAX)
    throw wrongParameter('additionalUtxoSet', `it is a list of at most ${EVALUATION_OUTPUTS_MAX} pairs of an input and its output`);
  return { cbor: Buffer.from(textOf(given, 'cbor'), 'latin1'), additional: set.map(readPair) };
}

function parseBody(body: unknown): Fields {
  try {
    return fieldsOf(JSON.parse(Buffer.from(body instanceof Uint8Array ? body : []).toString('utf8')), 'body');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw wrongParameter('body', 'it is not JSON');
  }
}

function readPair(pair: unknown): NamedOutput {
  const [input, output] = Array.isArray(pair) ? pair : [];
  const { index, ...names } = fieldsOf(input, 'additionalUtxoSet');
  const txId = hexParameter(textOf(names, 'txId'), 'transaction id', TXID_BYTES);
  return { txId, index: Number(quantityOf(index, 'index')), output: outputBytes(fieldsOf(output, 'additionalUtxoSet')) };
}

function outputBytes(given: Fields): Uint8Array {
  const value = fieldsOf(given['value'], 'value');
  const hash = given['datumHash'] ?? given['datum_hash'] ?? null;
  const [datum, script] = [given['datum'] ?? null, given['script'] ?? null];
  return encodeOutput({
    address: parseAddress(textOf(given, 'address')),
    lovelace: quantityOf(value['coins'], 'coins'),
    assets: Object.entries(fieldsOf(value['assets'] ?? {}, 'assets')).map(
      ([unit, quantity]): Asset => ({ ...parseUnit(unit), quantity: quantityOf(quantity, 'assets') }),
    ),
    ...(datum === null ? {} : { datum: hexOfAny(datum, 'datum') }),
    ...(hash === null || datum !== null ? {} : { datumHash: hexParameter(String(hash), 'datum hash', DATUM_HASH_BYTES) }),
    ...(script === null ? {} : { scriptRef: scriptRef(script) }),
  });
}

/** CBOR `[kind, script]` in hex, or `{"plutus:v2": hex}`. */
function scriptRef(script: unknown): Uint8Array {
  if (typeof script === 'string') return hexOfAny(script, 'script');
  const [[language, code] = ['', '']] = Object.entries(fieldsOf(script, 'script'));
  const [, version] = PLUTUS.exec(language) ?? [];
  if (version === undefined) throw wrongParameter('script', 'it is the hex of a script, or under plutus:v1, plutus:v2 or plutus:v3');
  return new CborWriter().array(2).uint(Number(version)).bytes(hexOfAny(code, 'script')).take().slice();
}

function hexOfAny(value: unknown, field: string): Uint8Array {
  if (typeof value === 'string' && value !== '' && isHex(value)) return fromHex(value);
  throw wrongParameter(field, 'it is hex');
}

function quantityOf(value: unknown, field: string): bigint {
  if (typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : typeof value === 'string' && /^\d{1,20}$/.test(value))
    return BigInt(value as number | string);
  throw wrongParameter(field, 'it is a whole number, from 2^53 on as a string');
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw wrongParameter(name, 'it is missing, or no text');
}

function fieldsOf(value: unknown, field: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw wrongParameter(field, 'it is missing, or no object');
}
