/**
 * Query rows as JSON: outputs, transactions and points with the field names
 * that indexers of this chain share (snake_case), bytes as hex, amounts as
 * decimal strings, absent fields left out. Pure over a query and its network;
 * the command line and the server give the same documents because of it.
 */
import {
  type CardanoNetwork,
  type DescribedOutput,
  describeOutput,
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
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import type { Query, Utxo } from './query.ts';

export interface PointJson {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

export interface AmountJson {
  /** `lovelace`, or policy and name joined. */
  readonly unit: string;
  readonly policy_id?: string;
  readonly asset_name?: string;
  readonly quantity: string;
}

/** Where on the chain something stands. */
export interface PlaceJson {
  readonly slot: number;
  readonly block: number;
  readonly block_hash?: string;
  readonly epoch: number;
  /** Unix seconds. */
  readonly block_time: number;
}

export interface SpentJson {
  /** Absent when the ledger itself removed the output. */
  readonly spent_tx_hash?: string;
  readonly spent_at_slot: number;
  readonly spent_at_block: number;
  readonly spent_at_block_hash?: string;
  readonly spent_block_time: number;
  readonly spent_epoch: number;
}

export interface UtxoJson extends PlaceJson, Partial<SpentJson> {
  readonly tx_hash: string;
  readonly output_index: number;
  readonly owner_addr: string;
  readonly owner_stake_addr?: string;
  readonly owner_payment_credential?: string;
  readonly owner_stake_credential?: string;
  readonly lovelace_amount: string;
  readonly amounts: readonly AmountJson[];
  readonly data_hash?: string;
  readonly inline_datum?: string;
  readonly script_ref?: string;
  readonly reference_script_hash?: string;
  readonly is_collateral_return: boolean;
}

export interface TxJson extends PlaceJson {
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly valid: boolean;
}

export function renderPoint(point: Point | null): PointJson | null {
  return point === null ? null : { height: point.height, slot: point.slot, hash: toHex(point.hash) };
}

/** Renders rows of one query. It remembers the last block looked up: rows come in chain order. */
export class Renderer {
  private readonly query: Query;
  private readonly network: CardanoNetwork;
  private last: ChainRow | null = null;

  constructor(query: Query, network: CardanoNetwork) {
    this.query = query;
    this.network = network;
  }

  utxo({ txId, index, output, spent }: Utxo): UtxoJson {
    const described = this.describe(txId, index, output.raw);
    return {
      tx_hash: toHex(txId),
      output_index: index,
      ...owner(described.address),
      lovelace_amount: described.lovelace.toString(),
      amounts: amounts(described),
      ...hexFields({
        data_hash: described.datumHash,
        inline_datum: described.inlineDatum,
        script_ref: described.scriptRef,
        reference_script_hash: described.scriptHash,
      }),
      is_collateral_return: (output.flags & OUTPUT_FLAG.collateralReturn) !== 0,
      ...this.place(output.height, output.slot),
      ...(spent === null ? {} : this.spent(spent)),
    };
  }

  tx(txId: Uint8Array, row: TxRow): TxJson {
    const block = this.block(row.height);
    if (block === null) throw new UnspentError('STORE_DAMAGED', `transaction ${toHex(txId)} names block ${row.height}, which is not there`);
    return { tx_hash: toHex(txId), tx_index: row.txIndex, valid: row.valid, ...this.place(row.height, block.slot) };
  }

  private spent({ txId, slot, height }: NonNullable<Utxo['spent']>): SpentJson {
    const place = this.place(height, slot);
    return {
      ...(txId === null ? {} : { spent_tx_hash: toHex(txId) }),
      spent_at_slot: place.slot,
      spent_at_block: place.block,
      ...(place.block_hash === undefined ? {} : { spent_at_block_hash: place.block_hash }),
      spent_block_time: place.block_time,
      spent_epoch: place.epoch,
    };
  }

  private place(height: number, slot: number): PlaceJson {
    const block = this.block(height);
    return {
      slot,
      block: height,
      ...(block === null ? {} : { block_hash: toHex(block.hash) }),
      epoch: slotToEpoch(this.network, slot),
      block_time: slotToTime(this.network, slot),
    };
  }

  /** The block of that height that can hold transactions: a boundary block there only stands behind it. */
  private block(height: number): ChainRow | null {
    if (this.last?.height === height) return this.last;
    let row = this.query.blockAtHeight(height);
    if (row?.boundary) {
      const before = this.query.blockByHash(row.prevHash);
      if (before?.height === height) row = before;
    }
    this.last = row;
    return row;
  }

  private describe(txId: Uint8Array, index: number, raw: Uint8Array): DescribedOutput {
    try {
      return describeOutput(raw);
    } catch (cause) {
      const key = `${toHex(txId)}#${index}`;
      throw new UnspentError('STORE_DAMAGED', `the stored output ${key} does not decode: ${(cause as Error).message}`, { key }, cause);
    }
  }
}

function owner(
  address: Uint8Array,
): Pick<UtxoJson, 'owner_addr' | 'owner_stake_addr' | 'owner_payment_credential' | 'owner_stake_credential'> {
  const read = readAddress(address);
  const stakeAddress = stakeAddressOf(read);
  return {
    owner_addr: formatAddress(address),
    ...(stakeAddress === null ? {} : { owner_stake_addr: formatAddress(stakeAddress) }),
    ...hexFields({ owner_payment_credential: read.payment?.hash ?? null, owner_stake_credential: read.stake?.hash ?? null }),
  };
}

function amounts({ lovelace, assets }: DescribedOutput): AmountJson[] {
  const coins = { unit: 'lovelace', quantity: lovelace.toString() };
  return [
    coins,
    ...assets.map(({ policy, name, quantity }) => {
      const [policyId, assetName] = [toHex(policy), toHex(name)];
      return { unit: policyId + assetName, policy_id: policyId, asset_name: assetName, quantity: quantity.toString() };
    }),
  ];
}

function hexFields<K extends string>(fields: Readonly<Record<K, Uint8Array | null>>): Partial<Record<K, string>> {
  const out: Partial<Record<K, string>> = {};
  for (const key in fields) {
    const bytes = fields[key];
    if (bytes !== null) out[key] = toHex(bytes);
  }
  return out;
}
