/**
 * Rows of a copy for people, from those of the store: text as PostgreSQL reads
 * it, ids as people write them, amounts as decimals.
 */
import type { Network } from '../../../families/family.ts';
import { outpointIndex, outpointTxId } from '../../../ledgers/outpoint.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import { readStored } from '../../../projections/coin.ts';
import { keyOf } from '../../../projections/packed.ts';
import type { SeenRow } from '../../../projections/seen/seen.ts';
import type { TxPayment } from '../../../query/dialect.ts';
import { toHex } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import { PUBLISH_ADDRESSES_MAX, SQL_ADDRESS_CHARS_MAX } from '../../../util/limits.ts';

/** A value as text; null: NULL. */
export type Cell = string | null;
export type Cells = readonly Cell[];

/** An output as its row has it, and what it adds to balances. */
export interface OutputRow {
  readonly cells: Cells;
  readonly height: number;
  readonly address: string;
  readonly value: bigint;
  readonly assets: readonly AssetCells[];
}

export interface AssetCells {
  readonly policy: string;
  readonly name: string;
  readonly quantity: bigint;
}

export const bytea = (bytes: Uint8Array): string => `\\x${toHex(bytes)}`;
const orNull = (bytes: Uint8Array | null): Cell => (bytes === null ? null : bytea(bytes));
const flag = (is: boolean): string => (is ? 'true' : 'false');

export class SqlRows {
  private readonly network: Network;
  private readonly addresses = new Map<string, string>();

  constructor(network: Network) {
    this.network = network;
  }

  id(bytes: Uint8Array): string {
    return `\\x${this.network.dialect.formatId(bytes)}`;
  }

  /** An id as the store has it, from one of a table. */
  idBytes(bytes: Uint8Array): Uint8Array {
    return this.network.dialect.parseId(toHex(bytes));
  }

  block(row: ChainRow): Cells {
    const { dialect } = this.network;
    const { height, boundary, hash, prevHash, slot, era, txCount, size } = row;
    const time = dialect.clock.time(slot, row);
    return [
      String(height),
      flag(boundary),
      this.id(hash),
      prevHash.every((byte) => byte === 0) ? null : this.id(prevHash),
      String(slot),
      time === null ? null : new Date(time * 1000).toISOString(),
      numberOrNull(dialect.clock.epoch(slot)),
      dialect.eraName(era),
      String(txCount),
      size === 0 ? null : String(size),
      JSON.stringify(dialect.blockFields(row)),
    ];
  }

  transaction(id: Uint8Array, height: number, txIndex: number, valid: boolean, fee: bigint | null, size: number | null): Cells {
    return [this.id(id), String(height), String(txIndex), flag(valid), fee === null ? null : String(fee), numberOrNull(size)];
  }

  payment(raw: Uint8Array): TxPayment {
    return this.network.dialect.payment(raw);
  }

  outpoint(key: Uint8Array): readonly [txId: string, index: string] {
    return [this.id(outpointTxId(key)), String(outpointIndex(key))];
  }

  output(key: Uint8Array, stored: Uint8Array): OutputRow {
    const { dialect, ledger } = this.network;
    const output = readStored(stored);
    const fields = dialect.outputFields({ txId: outpointTxId(key), index: outpointIndex(key), output, spent: null });
    const address = this.address(fields.address, () => keyOf(output, 'address', ledger));
    const { paymentCredential, stakeAddress, datumHash, inlineDatum, scriptHash, scriptRef, isCollateralReturn, isCoinbase } = fields;
    const own =
      ledger.traits === null
        ? [bytea(fields.address), flag(isCoinbase)]
        : [
            orNull(paymentCredential),
            stakeAddress === null ? null : this.address(stakeAddress, () => undefined),
            orNull(inlineDatum === null ? datumHash : null),
            orNull(inlineDatum),
            orNull(scriptHash),
            orNull(scriptRef),
            flag(isCollateralReturn),
          ];
    const assets = fields.assets
      .filter(({ quantity }) => quantity > 0n)
      .map(({ policy, name, quantity }) => ({ policy: bytea(policy), name: bytea(name), quantity }));
    const cells = [...this.outpoint(key), String(output.height), address, String(output.value), ...own];
    return { cells, height: output.height, address, value: output.value, assets };
  }

  spending(txId: Uint8Array | null, input: number, height: number): Cells {
    return txId === null ? [null, null, String(height)] : [this.id(txId), String(input), String(height)];
  }

  seen(hash: Uint8Array, { bytes, height, txId, index }: SeenRow): Cells {
    return [bytea(hash), bytea(bytes), String(height), this.id(txId), numberOrNull(index)];
  }

  /** `keyOfOwner`: the hash that stands for an owner whose address cannot be written, or is longer than an index takes. */
  private address(owner: Uint8Array, keyOfOwner: () => Uint8Array | undefined): string {
    const name = Buffer.from(owner.buffer, owner.byteOffset, owner.length).toString('latin1');
    const known = this.addresses.get(name);
    if (known !== undefined) return known;
    let text = this.network.dialect.addressText(owner);
    if (text === null || text.length > SQL_ADDRESS_CHARS_MAX) {
      const key = keyOfOwner();
      assert(key !== undefined, 'an owner has a key');
      text = `hash:${toHex(key)}`;
    }
    if (this.addresses.size >= PUBLISH_ADDRESSES_MAX) this.addresses.clear();
    this.addresses.set(name, text);
    return text;
  }
}

function numberOrNull(value: number | null): Cell {
  return value === null ? null : String(value);
}
