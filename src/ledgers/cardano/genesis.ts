/**
 * Genesis as unspent outputs: what existed before the first block. Each entry
 * becomes a Grant whose bytes are the output as it would have stood in a block,
 * so that the store keeps one kind of value.
 *
 * Source: cardano-ledger, Byron `GenesisUTxO.hs` and Shelley `Genesis.hs`.
 */
import { base64url } from '@scure/base';
import { blake2b256 } from '../../crypto/hash.ts';
import { fromHex, isHex, utf8 } from '../../util/bytes.ts';
import { ARRAY, Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import type { GenesisOutput } from '../ledger.ts';
import { isRedeemAddress, parseAddress, readAddress } from './address.ts';
import { redeemAddress } from './byron-address.ts';
import { OUTPUT_FLAG } from './decode.ts';
import { canonicalJson, integerField, type JsonObject, lovelaceField, objectField, parseGenesis, wrong } from './genesis-json.ts';

const REDEEM_KEY_BYTES = 32;

export interface GenesisUtxos {
  /** There from the start: non-AVVM balances, then AVVM sales. Zero amounts included, as Byron keeps them. */
  readonly byron: readonly GenesisOutput[];
  /** There when Shelley begins from genesis: initialFunds of private networks. */
  readonly shelley: readonly GenesisOutput[];
}

/** The part of a Byron genesis that makes outputs. */
export interface ByronBalances {
  readonly magic: number;
  /** base58 Byron address to decimal lovelace. */
  readonly nonAvvmBalances: JsonObject;
  /** base64url redeem key to decimal lovelace. */
  readonly avvmDistr: JsonObject;
}

/** From the text of the two files. Throws GENESIS_WRONG. */
export function genesisUtxos(byronText: string, shelleyText: string): GenesisUtxos {
  const byron = parseGenesis(byronText, 'byron');
  const shelley = parseGenesis(shelleyText, 'shelley');
  return {
    byron: byronGrants({
      magic: integerField(objectField(byron, 'protocolConsts'), 'protocolMagic'),
      nonAvvmBalances: objectField(byron, 'nonAvvmBalances'),
      avvmDistr: objectField(byron, 'avvmDistr'),
    }),
    shelley: shelleyGrants(objectField(shelley, 'initialFunds', true)),
  };
}

export function byronGrants({ magic, nonAvvmBalances, avvmDistr }: ByronBalances): GenesisOutput[] {
  return [
    ...Object.keys(nonAvvmBalances).map((text) => byronGrant(byronAddress(text), lovelaceField(nonAvvmBalances, text))),
    ...Object.keys(avvmDistr).map((text) => byronGrant(redeemAddress(redeemKey(text), magic), lovelaceField(avvmDistr, text))),
  ];
}

function shelleyGrants(initialFunds: JsonObject): GenesisOutput[] {
  return Object.keys(initialFunds).map((text) => shelleyGrant(shelleyAddress(text), lovelaceField(initialFunds, text)));
}

/** What the first block of a Byron chain names as its previous hash. */
export function byronGenesisHash(text: string): Uint8Array {
  return blake2b256(utf8(canonicalJson(parseGenesis(text, 'byron'))));
}

/** Of the file as it is: a space more or less is another hash. */
export function shelleyGenesisHash(text: string): Uint8Array {
  return blake2b256(utf8(text));
}

/** An output of no value: gone when Byron's state becomes Shelley's. For `Transition.drops`. */
export function isZeroOutput(raw: Uint8Array, start: number, end: number): boolean {
  const cursor = new Cursor(raw, start, end);
  // Only Byron made such outputs, and Byron knew only the array form.
  if (cursor.peek() !== ARRAY) return false;
  cursor.array();
  cursor.skip();
  if (cursor.peek() === ARRAY) return false;
  cursor.uint64();
  return cursor.hi === 0 && cursor.lo === 0;
}

/** An output at a redeem address: gone when Shelley's state becomes Allegra's. For `Transition.drops`. */
export function isRedeemOutput(raw: Uint8Array, start: number, end: number): boolean {
  const cursor = new Cursor(raw, start, end);
  if (cursor.peek() !== ARRAY) return false;
  cursor.array();
  if (cursor.peek() === ARRAY) {
    const from = cursor.at;
    cursor.skip();
    return isRedeemAddress(raw, from, cursor.at);
  }
  cursor.span();
  return isRedeemAddress(raw, cursor.start, cursor.stop);
}

function byronGrant(address: Uint8Array, amount: bigint): GenesisOutput {
  return grant(address, new CborWriter().array(2).raw(address).bigUint(amount).take(), 1, amount);
}

function shelleyGrant(address: Uint8Array, amount: bigint): GenesisOutput {
  const write = new CborWriter().array(2).bytes(address);
  const addressStart = write.length - address.length;
  return grant(address, write.bigUint(amount).take(), addressStart, amount);
}

/** A genesis output has no transaction: its id is the hash of its address, its index 0. */
function grant(address: Uint8Array, raw: Uint8Array, addressStart: number, amount: bigint): GenesisOutput {
  return {
    txId: blake2b256(address),
    raw,
    create: {
      index: 0,
      start: 0,
      end: raw.length,
      addressStart,
      addressEnd: addressStart + address.length,
      valueHi: Number(amount >> 32n),
      valueLo: Number(amount & 0xffff_ffffn),
      flags: OUTPUT_FLAG.genesis,
    },
  };
}

function byronAddress(text: string): Uint8Array {
  let address: Uint8Array;
  try {
    address = parseAddress(text);
  } catch (cause) {
    throw wrong(`nonAvvmBalances: '${text.slice(0, 120)}' is not a Byron address`, cause);
  }
  if (readAddress(address).kind !== 'byron') throw wrong(`nonAvvmBalances: '${text.slice(0, 120)}' is not a Byron address`);
  return address;
}

/** Some files have the plain alphabet of base64, some the one for URLs. */
function redeemKey(text: string): Uint8Array {
  let key: Uint8Array;
  try {
    key = base64url.decode(text.replaceAll('+', '-').replaceAll('/', '_'));
  } catch (cause) {
    throw wrong(`avvmDistr: '${text.slice(0, 120)}' is not base64`, cause);
  }
  if (key.length !== REDEEM_KEY_BYTES)
    throw wrong(`avvmDistr: the key '${text.slice(0, 120)}' has ${key.length} bytes, not ${REDEEM_KEY_BYTES}`);
  return key;
}

function shelleyAddress(text: string): Uint8Array {
  const address = isHex(text) ? fromHex(text) : new Uint8Array();
  const { kind } = readAddress(address);
  if (kind === 'unknown' || kind === 'reward') throw wrong(`initialFunds: '${text.slice(0, 120)}' is not the hex of an address`);
  return address;
}
