/**
 * What readers of the Bitcoin family expect: ids written from the last byte to
 * the first, addresses where a script has one, satoshi, and times as the
 * headers of blocks say them. There are neither slots nor epochs.
 */

import { sha256 } from '../../crypto/hash.ts';
import {
  type BitcoinNetwork,
  coreType,
  decodeTx,
  describeOutput,
  formatAddress,
  formatId,
  OUTPUT_FLAG,
  parseAddress,
  parseId,
  readExtra,
  readHeader,
  scriptKey,
  txOutputs,
} from '../../ledgers/bitcoin/index.ts';
import { KEY_BYTES } from '../../ledgers/ledger.ts';
import type { ChainRow } from '../../projections/chain.ts';
import { fromHex, isHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { amountsJson } from '../amounts.ts';
import { bufferOf, type Dialect, hexOf, type OutputFields, type Writable } from '../dialect.ts';
import type { BlockJson, PlacelessUtxoJson, UtxoJson } from '../json.ts';
import type { Utxo } from '../utxo.ts';

export const BITCOIN_UNIT = 'satoshi';
/** Owners remembered at most: a few hundred bytes each. */
const OWNERS_MAX = 512;
const SCRIPT_HASH_BYTES = 32;

type Owner = Pick<UtxoJson, 'owner_addr' | 'script' | 'script_type'>;

export function bitcoinDialect(network: BitcoinNetwork): Dialect {
  return {
    formatId: idText,
    parseId,
    currency: { unit: BITCOIN_UNIT, name: network.unit, decimals: 8, field: 'satoshi_amount' },
    clock: { epoch: () => null, time: (_slot, row) => (row === null ? null : headerOf(row).time) },
    addressKey: (text) => addressKey(text, network),
    addressText: (script) => formatAddress(network, script),
    payment(raw) {
      const tx = decodeTx(raw, network.mweb);
      const paid = txOutputs(tx).reduce((sum, { value }) => sum + value, 0n);
      return { size: raw.length, fee: null, inputs: tx.spends.length, paid };
    },
    holder: (text) => ({ kind: 'address', key: addressKey(text, network) }),
    credentials: null,
    owner(text) {
      if (isHex(text, SCRIPT_HASH_BYTES)) return { hash: fromHex(text), bytes: null };
      const bytes = parseAddress(network, text);
      return { hash: sha256(bytes), bytes };
    },
    outputWriter() {
      const owners = new Map<string, Owner>();
      return (utxo, json) => writeOutput(utxo, network, owners, json);
    },
    outputFields,
    blockFields,
    eraName: () => null,
  };
}

/** As `formatId` does it, with the platform's own loops: answers are full of ids. */
function idText(id: Uint8Array): string {
  return Buffer.from(id).reverse().toString('hex');
}

/** An address, or the hash of a script as Esplora and Electrum servers write it: the first is not reversed, so neither is ours. */
function addressKey(text: string, network: BitcoinNetwork): Uint8Array {
  if (isHex(text, SCRIPT_HASH_BYTES)) return fromHex(text).subarray(0, KEY_BYTES);
  return scriptKey(parseAddress(network, text));
}

function headerOf(row: ChainRow): ReturnType<typeof readHeader> {
  return readHeader(readExtra(row.extra).header);
}

function describeStored({ txId, index, output }: Utxo): ReturnType<typeof describeOutput> {
  try {
    return describeOutput(output.raw);
  } catch (cause) {
    const key = `${formatId(txId)}#${index}`;
    throw new UnspentError('STORE_DAMAGED', `the stored output ${key} does not decode: ${(cause as Error).message}`, { key }, cause);
  }
}

function writeOutput(utxo: Utxo, network: BitcoinNetwork, owners: Map<string, Owner>, json: Writable<PlacelessUtxoJson>): void {
  const { value, script } = describeStored(utxo);
  const owner = ownerOf(script, network, owners);
  if (owner.owner_addr !== undefined) json.owner_addr = owner.owner_addr;
  if (owner.script !== undefined) json.script = owner.script;
  if (owner.script_type !== undefined) json.script_type = owner.script_type;
  const amount = value.toString();
  json.satoshi_amount = amount;
  json.amounts = amountsJson(BITCOIN_UNIT, amount, []);
  json.is_coinbase = (utxo.output.flags & OUTPUT_FLAG.coinbase) !== 0;
}

function ownerOf(script: Uint8Array, network: BitcoinNetwork, owners: Map<string, Owner>): Owner {
  const name = bufferOf(script).toString('latin1');
  const known = owners.get(name);
  if (known !== undefined) return known;
  if (owners.size === OWNERS_MAX) owners.clear();
  const address = formatAddress(network, script);
  const owner: Owner = {
    ...(address === null ? {} : { owner_addr: address }),
    script: hexOf(script),
    script_type: coreType(script, network.mweb),
  };
  owners.set(name, owner);
  return owner;
}

/** The owner of an output is its script. */
function outputFields(utxo: Utxo): OutputFields {
  const { value, script } = describeStored(utxo);
  return {
    address: script,
    value,
    assets: [],
    datumHash: null,
    inlineDatum: null,
    scriptRef: null,
    scriptHash: null,
    isCollateralReturn: false,
    isCoinbase: (utxo.output.flags & OUTPUT_FLAG.coinbase) !== 0,
    paymentCredential: null,
    stakeCredential: null,
    stakeAddress: null,
  };
}

function blockFields(row: ChainRow): Partial<BlockJson> {
  const { weight } = readExtra(row.extra);
  const { version, merkleRoot, bits, nonce } = headerOf(row);
  // Where only the header of a block is known its weight is not.
  return { ...(weight > 0 ? { weight } : {}), version, merkle_root: idText(merkleRoot), bits, nonce };
}
