/**
 * What Cardano's readers expect: bech32 addresses with their credentials,
 * lovelace and assets, datums and scripts, slots and epochs.
 */

import { blake2b224, blake2b256 } from '../../crypto/hash.ts';
import {
  addressText,
  type CardanoNetwork,
  describeWholeTx,
  eraName,
  formatAddress,
  OUTPUT_FLAG,
  parseAddress,
  parseCredential,
  readAddress,
  slotToEpoch,
  slotToTime,
  splitTx,
  stakeAddressOf,
} from '../../ledgers/cardano/index.ts';
import type { ChainRow } from '../../projections/chain.ts';
import { fromHex } from '../../util/bytes.ts';
import { amountsJson } from '../amounts.ts';
import { bufferOf, type Dialect, type Holder, hexOf, type OutputFields, type TxPayment, type Writable } from '../dialect.ts';
import type { BlockJson, PlacelessUtxoJson, UtxoJson } from '../json.ts';
import type { Utxo } from '../utxo.ts';
import { describeStored } from './describe-stored.ts';
import { transactionJson } from './transaction-json.ts';

const HASH_BYTES = 32;
/** Owners remembered at most. Rows of one list have the same ones; more of them only outlive young collections where each read is of another owner. */
const OWNERS_MAX = 512;
export const CARDANO_CURRENCY = { unit: 'lovelace', name: 'ada', decimals: 6, field: 'lovelace_amount' } as const;

type Owner = Pick<UtxoJson, 'owner_addr' | 'owner_stake_addr' | 'owner_payment_credential' | 'owner_stake_credential'>;

export function cardanoDialect(network: CardanoNetwork): Dialect {
  return {
    formatId: hexOf,
    parseId: (text) => fromHex(text, HASH_BYTES),
    currency: CARDANO_CURRENCY,
    clock: { epoch: (slot) => slotToEpoch(network, slot), time: (slot) => slotToTime(network, slot) },
    addressKey: (text) => blake2b224(parseAddress(text)),
    addressText: formatAddress,
    payment,
    holder,
    credentials: { parse: parseCredential, stakeIn: (address) => readAddress(address).stake?.hash ?? null },
    owner(text) {
      const bytes = parseAddress(text);
      return { hash: blake2b256(bytes), bytes };
    },
    outputWriter() {
      const owners = new OwnerTexts();
      return (utxo, json) => writeOutput(utxo, owners, json);
    },
    outputFields,
    blockFields,
    eraName,
    transaction: transactionJson,
  };
}

function payment(raw: Uint8Array): TxPayment {
  const whole = splitTx(raw);
  const { spends, creates, valid } = whole.tx;
  const paid = creates.reduce((sum, { valueHi, valueLo }) => sum + (BigInt(valueHi) << 32n) + BigInt(valueLo), 0n);
  const fee = valid && !whole.isByron ? describeWholeTx(raw, whole).fee : null;
  return { size: raw.length, fee, inputs: spends.length, paid };
}

function holder(text: string): Holder {
  if (/^stake_(shared_)?vkh1/i.test(text)) return { kind: 'stake', key: parseCredential(text).hash };
  const address = parseAddress(text);
  const read = readAddress(address);
  return read.kind === 'reward' ? { kind: 'stake', key: read.stake.hash } : { kind: 'address', key: blake2b224(address) };
}

function writeOutput({ txId, index, output }: Utxo, owners: OwnerTexts, json: Writable<PlacelessUtxoJson>): void {
  const described = describeStored(txId, index, output.raw);
  const { datumHash, inlineDatum, scriptRef, scriptHash } = described;
  const owner = owners.of(described.address);
  const lovelace = described.lovelace.toString();
  if (owner.owner_addr !== undefined) json.owner_addr = owner.owner_addr;
  if (owner.owner_stake_addr !== undefined) json.owner_stake_addr = owner.owner_stake_addr;
  if (owner.owner_payment_credential !== undefined) json.owner_payment_credential = owner.owner_payment_credential;
  if (owner.owner_stake_credential !== undefined) json.owner_stake_credential = owner.owner_stake_credential;
  json.lovelace_amount = lovelace;
  json.amounts = amountsJson(CARDANO_CURRENCY.unit, lovelace, described.assets);
  if (datumHash !== null) json.data_hash = hexOf(datumHash);
  if (inlineDatum !== null) json.inline_datum = hexOf(inlineDatum);
  if (scriptRef !== null) json.script_ref = hexOf(scriptRef);
  if (scriptHash !== null) json.reference_script_hash = hexOf(scriptHash);
  json.is_collateral_return = (output.flags & OUTPUT_FLAG.collateralReturn) !== 0;
}

/** Owners as documents name them. It remembers them: answers are full of the same ones. */
export class OwnerTexts {
  private readonly known = new Map<string, Owner>();

  of(address: Uint8Array): Owner {
    const name = bufferOf(address).toString('latin1');
    const known = this.known.get(name);
    if (known !== undefined) return known;
    if (this.known.size === OWNERS_MAX) this.known.clear();
    const owner = renderOwner(address);
    this.known.set(name, owner);
    return owner;
  }
}

function renderOwner(address: Uint8Array): Owner {
  const read = readAddress(address);
  const { payment, stake } = read;
  const stakeAddress = stakeAddressOf(read);
  return {
    owner_addr: addressText(address, read),
    ...(stakeAddress === null ? {} : { owner_stake_addr: formatAddress(stakeAddress) }),
    ...(payment === null ? {} : { owner_payment_credential: hexOf(payment.hash) }),
    ...(stake === null ? {} : { owner_stake_credential: hexOf(stake.hash) }),
  };
}

function outputFields({ txId, index, output }: Utxo): OutputFields {
  const { address, lovelace, assets, datumHash, inlineDatum, scriptRef, scriptHash } = describeStored(txId, index, output.raw);
  const read = readAddress(address);
  return {
    address,
    value: lovelace,
    assets,
    datumHash,
    inlineDatum,
    scriptRef,
    scriptHash,
    isCollateralReturn: (output.flags & OUTPUT_FLAG.collateralReturn) !== 0,
    isCoinbase: false,
    paymentCredential: read.payment?.hash ?? null,
    stakeCredential: read.stake?.hash ?? null,
    stakeAddress: stakeAddressOf(read),
  };
}

function blockFields({ extra }: ChainRow): Partial<BlockJson> {
  return extra.length > 0 ? { issuer: hexOf(extra) } : {};
}
