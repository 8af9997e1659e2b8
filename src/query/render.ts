/**
 * Query rows as JSON documents (`json.ts`). Pure over a query and its network;
 * the command line and the server give the same documents because of it.
 *
 * Answers have a hundred thousand rows at times, so nothing is worked out twice
 * that rows share, and fields are set one by one, in the order they are shown.
 */
import {
  type CardanoNetwork,
  type DescribedOutput,
  eraName,
  formatAddress,
  OUTPUT_FLAG,
  readAddress,
  slotToEpoch,
  slotToTime,
  stakeAddressOf,
} from '../ledgers/cardano/index.ts';
import type { Point } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { TxRow } from '../projections/transactions.ts';
import { Cursor } from '../util/cbor.ts';
import { UnspentError } from '../util/errors.ts';
import { describeStored } from './describe-stored.ts';
import type { AmountJson, BalanceJson, BlockJson, PlaceJson, PointJson, SeenJson, SpentJson, TxJson, UtxoJson } from './json.ts';
import { type Blocks, Places } from './places.ts';
import type { Seen } from './seen.ts';
import type { Utxo } from './utxo.ts';
import type { Balance } from './view.ts';

export type * from './json.ts';

const SCRIPT_HASH_BYTES = 28;

/** Owners remembered at most: a few hundred bytes each. */
const OWNERS_MAX = 4096;

type Draft<T> = { -readonly [K in keyof T]: T[K] };
type Owner = Pick<UtxoJson, 'owner_addr' | 'owner_stake_addr' | 'owner_payment_credential' | 'owner_stake_credential'>;

export function renderPoint(point: Point | null): PointJson | null {
  return point === null ? null : { height: point.height, slot: point.slot, hash: hexOf(point.hash) };
}

export function renderBalance({ utxos, lovelace, assets }: Balance): BalanceJson {
  const text = lovelace.toString();
  return { utxo_count: utxos, lovelace_amount: text, amounts: amounts(text, assets) };
}

/** Renders rows of one query. It remembers blocks and owners: answers are full of the same ones. */
export class Renderer {
  private readonly network: CardanoNetwork;
  private readonly places: Places;
  private readonly owners = new Map<string, Owner>();

  constructor(query: Blocks, network: CardanoNetwork) {
    this.network = network;
    this.places = new Places(query, network);
  }

  utxo({ txId, index, output, spent }: Utxo): UtxoJson {
    const described = describeStored(txId, index, output.raw);
    const { datumHash, inlineDatum, scriptRef, scriptHash } = described;
    const owner = this.owner(described.address);
    const lovelace = described.lovelace.toString();
    const json = { tx_hash: hexOf(txId), output_index: index, owner_addr: owner.owner_addr } as Draft<UtxoJson>;
    if (owner.owner_stake_addr !== undefined) json.owner_stake_addr = owner.owner_stake_addr;
    if (owner.owner_payment_credential !== undefined) json.owner_payment_credential = owner.owner_payment_credential;
    if (owner.owner_stake_credential !== undefined) json.owner_stake_credential = owner.owner_stake_credential;
    json.lovelace_amount = lovelace;
    json.amounts = amounts(lovelace, described.assets);
    if (datumHash !== null) json.data_hash = hexOf(datumHash);
    if (inlineDatum !== null) json.inline_datum = hexOf(inlineDatum);
    if (scriptRef !== null) json.script_ref = hexOf(scriptRef);
    if (scriptHash !== null) json.reference_script_hash = hexOf(scriptHash);
    json.is_collateral_return = (output.flags & OUTPUT_FLAG.collateralReturn) !== 0;
    this.place(output.height, output.slot, json);
    if (spent !== null) this.spent(spent, json);
    return json;
  }

  tx(txId: Uint8Array, row: TxRow): TxJson {
    const block = this.places.block(row.height);
    if (block === null) throw new UnspentError('STORE_DAMAGED', `transaction ${hexOf(txId)} names block ${row.height}, which is not there`);
    const json = { tx_hash: hexOf(txId), tx_index: row.txIndex, valid: row.valid } as Draft<TxJson>;
    this.place(row.height, block.row.slot, json);
    return json;
  }

  block({ height, slot, hash, prevHash, era, txCount, size, issuer }: ChainRow): BlockJson {
    const hasPrevious = prevHash.some((byte) => byte !== 0);
    return {
      ...{ hash: hexOf(hash), height, slot },
      ...{ epoch: slotToEpoch(this.network, slot), block_time: slotToTime(this.network, slot) },
      ...{ era: eraName(era), tx_count: txCount, size },
      ...(hasPrevious ? { previous_hash: hexOf(prevHash) } : {}),
      ...(issuer.length > 0 ? { issuer: hexOf(issuer) } : {}),
    };
  }

  /** A datum or a script: the hash of a datum has 32 bytes, that of a script 28. */
  seen(hash: Uint8Array, { bytes, txId, index, height, slot }: Seen): SeenJson {
    const script = hash.length === SCRIPT_HASH_BYTES ? scriptFields(hash, bytes) : {};
    const json = { hash: hexOf(hash), ...script, cbor: hexOf(bytes), tx_hash: hexOf(txId) } as Draft<SeenJson>;
    if (index !== null) json.output_index = index;
    this.place(height, slot, json);
    return json;
  }

  private spent({ txId, slot, height }: NonNullable<Utxo['spent']>, json: Draft<Partial<SpentJson>>): void {
    const { block, epoch, time } = this.places.at(height, slot);
    if (txId !== null) json.spent_tx_hash = hexOf(txId);
    json.spent_at_slot = slot;
    json.spent_at_block = height;
    if (block !== null) json.spent_at_block_hash = block.name;
    json.spent_block_time = time;
    json.spent_epoch = epoch;
  }

  private place(height: number, slot: number, json: Draft<PlaceJson>): void {
    const { block, epoch, time } = this.places.at(height, slot);
    json.slot = slot;
    json.block = height;
    if (block !== null) json.block_hash = block.name;
    json.epoch = epoch;
    json.block_time = time;
  }

  private owner(address: Uint8Array): Owner {
    const name = bufferOf(address).toString('latin1');
    const known = this.owners.get(name);
    if (known !== undefined) return known;
    if (this.owners.size === OWNERS_MAX) this.owners.clear();
    const owner = renderOwner(address);
    this.owners.set(name, owner);
    return owner;
  }
}

function renderOwner(address: Uint8Array): Owner {
  const { payment, stake } = readAddress(address);
  const stakeAddress = stakeAddressOf(address);
  return {
    owner_addr: formatAddress(address),
    ...(stakeAddress === null ? {} : { owner_stake_addr: formatAddress(stakeAddress) }),
    ...(payment === null ? {} : { owner_payment_credential: hexOf(payment.hash) }),
    ...(stake === null ? {} : { owner_stake_credential: hexOf(stake.hash) }),
  };
}

function amounts(lovelace: string, assets: DescribedOutput['assets']): AmountJson[] {
  const list: AmountJson[] = [{ unit: 'lovelace', quantity: lovelace }];
  for (const { policy, name, quantity } of assets) {
    const [policyId, assetName] = [hexOf(policy), hexOf(name)];
    list.push({ unit: policyId + assetName, policy_id: policyId, asset_name: assetName, quantity: quantity.toString() });
  }
  return list;
}

/** CDDL: `script = [0, native_script] / [1.., bytes]`. */
function scriptFields(hash: Uint8Array, cbor: Uint8Array): Pick<SeenJson, 'type' | 'script'> {
  try {
    const cursor = new Cursor(cbor);
    cursor.tuple(2, 'script');
    const kind = cursor.uint();
    const from = cursor.at;
    if (kind !== 0) return { type: `plutusV${kind}`, script: hexOf(cursor.byteString()) };
    cursor.skip();
    return { type: 'native', script: hexOf(cbor.subarray(from, cursor.at)) };
  } catch (cause) {
    const name = hexOf(hash);
    throw new UnspentError('STORE_DAMAGED', `the stored script ${name} does not decode: ${(cause as Error).message}`, { key: name }, cause);
  }
}

/** A view: the platform's own loops beat ours from a few bytes on. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function hexOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('hex');
}
