/**
 * Coins in memory as bytes, one behind the other. As objects 100,000 coins are
 * 74 MB that every full garbage collection walks through, in the middle of
 * whatever the process does; as bytes they are 15 MB that it does not look into.
 *
 *   flags u8, owner u16, amount u64, txid 32, index f64, received f64, height f64,
 *   end of the lease f64, its confirmations f64, its id 32,
 *   length of the script u32, length of the holding u32, script, holding
 *
 * The owner is an index into a list that whoever has the records keeps. The
 * holding is as in a credit's row (tx-outputs.ts). What is absent is 0.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { copyBytes } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import type { CoinOwner } from '../coin-columns.ts';
import type { CoinLease, WalletCoin } from '../records.ts';
import type { CoinPlace } from '../store.ts';
import { holdingBytes, holdingOf } from './tx-outputs.ts';

const COINBASE = 1;
const OWN_CHANGE = 2;
const EVICTED = 4;
const MINED = 8;
const LEASED = 16;
const LEASED_BY_CONFIRMATIONS = 32;

const OWNER_AT = 1;
const AMOUNT_AT = 3;
const TX_ID_AT = 11;
const INDEX_AT = 43;
const RECEIVED_AT = 51;
const HEIGHT_AT = 59;
const LEASE_END_AT = 67;
const LEASE_CONFIRMATIONS_AT = 75;
const LEASE_ID_AT = 83;
const SCRIPT_LENGTH_AT = 115;
const HOLDING_LENGTH_AT = 119;
const HEAD_BYTES = 123;
const ID_BYTES = 32;
const FIRST_BYTES = 1 << 16;

/** What decides whether a coin is free. */
export interface CoinState {
  readonly isCoinbase: boolean;
  readonly isEvicted: boolean;
  readonly lease: Pick<CoinLease, 'expiresAt'> | null;
}

export class CoinRecords {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;
  #removedBytes = 0;

  /** Most bytes are of records that were removed. */
  get isSparse(): boolean {
    return 2 * this.#removedBytes > this.#end;
  }

  /** Returns where the record begins. */
  add(coin: WalletCoin, owner: number): number {
    const holding = holdingBytes(coin);
    const at = this.#extend(HEAD_BYTES + coin.script.length + holding.length);
    const [bytes, view] = [this.#bytes, this.#view];
    bytes[at] = flagsOf(coin);
    view.setUint16(at + OWNER_AT, owner);
    view.setBigUint64(at + AMOUNT_AT, coin.amount);
    bytes.set(coin.outpoint.txId, at + TX_ID_AT);
    view.setFloat64(at + INDEX_AT, coin.outpoint.index);
    view.setFloat64(at + RECEIVED_AT, coin.received);
    view.setFloat64(at + HEIGHT_AT, coin.height ?? 0);
    view.setFloat64(at + LEASE_END_AT, coin.lease?.expiresAt ?? 0);
    view.setFloat64(at + LEASE_CONFIRMATIONS_AT, coin.lease?.releaseAfterSpendConfs ?? 0);
    if (coin.lease !== null) bytes.set(coin.lease.id, at + LEASE_ID_AT);
    view.setUint32(at + SCRIPT_LENGTH_AT, coin.script.length);
    view.setUint32(at + HOLDING_LENGTH_AT, holding.length);
    bytes.set(coin.script, at + HEAD_BYTES);
    bytes.set(holding, at + HEAD_BYTES + coin.script.length);
    return at;
  }

  /** The coin of the record at `at`; `owners` is the list that its owner is an index into. */
  coinAt(at: number, owners: readonly CoinOwner[]): WalletCoin {
    const [bytes, view] = [this.#bytes, this.#view];
    const flags = bytes[at];
    const scriptEnd = at + HEAD_BYTES + view.getUint32(at + SCRIPT_LENGTH_AT);
    const { account, kind } = owners[view.getUint16(at + OWNER_AT)];
    return {
      outpoint: { txId: this.txIdAt(at), index: view.getFloat64(at + INDEX_AT) },
      amount: view.getBigUint64(at + AMOUNT_AT),
      script: bytes.slice(at + HEAD_BYTES, scriptEnd),
      kind,
      ...holdingOf(bytes.subarray(scriptEnd, scriptEnd + view.getUint32(at + HOLDING_LENGTH_AT))),
      account,
      received: view.getFloat64(at + RECEIVED_AT),
      isCoinbase: (flags & COINBASE) !== 0,
      height: (flags & MINED) === 0 ? null : view.getFloat64(at + HEIGHT_AT),
      isOwnChange: (flags & OWN_CHANGE) !== 0,
      isEvicted: (flags & EVICTED) !== 0,
      lease: this.#leaseAt(at),
    };
  }

  txIdAt(at: number): Uint8Array {
    return this.#bytes.slice(at + TX_ID_AT, at + TX_ID_AT + ID_BYTES);
  }

  stateAt(at: number): CoinState {
    const flags = this.#bytes[at];
    const lease = (flags & LEASED) === 0 ? null : { expiresAt: this.#view.getFloat64(at + LEASE_END_AT) };
    return { isCoinbase: (flags & COINBASE) !== 0, isEvicted: (flags & EVICTED) !== 0, lease };
  }

  /** As `compareCoins`, the coin of the record first. */
  compareAt(at: number, { amount, outpoint }: CoinPlace): number {
    const own = this.#view.getBigUint64(at + AMOUNT_AT);
    return own === amount ? this.compareOutpointAt(at, outpoint) : own < amount ? -1 : 1;
  }

  /** As `compareOutpoints`, the outpoint of the record first. */
  compareOutpointAt(at: number, outpoint: Outpoint): number {
    for (let i = 0; i < ID_BYTES; i++) {
      const difference = this.#bytes[at + TX_ID_AT + i] - outpoint.txId[i];
      if (difference !== 0) return difference;
    }
    return this.#view.getFloat64(at + INDEX_AT) - outpoint.index;
  }

  /** Nobody asks for the record any more. */
  remove(at: number): void {
    this.#removedBytes += this.#lengthAt(at);
  }

  /** The same record behind those of `to`. */
  copyTo(to: CoinRecords, at: number): number {
    const length = this.#lengthAt(at);
    const start = to.#extend(length);
    copyBytes(this.#bytes, at, to.#bytes, start, length);
    return start;
  }

  #lengthAt(at: number): number {
    return HEAD_BYTES + this.#view.getUint32(at + SCRIPT_LENGTH_AT) + this.#view.getUint32(at + HOLDING_LENGTH_AT);
  }

  #leaseAt(at: number): CoinLease | null {
    const flags = this.#bytes[at];
    if ((flags & LEASED) === 0) return null;
    return {
      id: this.#bytes.slice(at + LEASE_ID_AT, at + LEASE_ID_AT + ID_BYTES),
      expiresAt: this.#view.getFloat64(at + LEASE_END_AT),
      releaseAfterSpendConfs: (flags & LEASED_BY_CONFIRMATIONS) === 0 ? null : this.#view.getFloat64(at + LEASE_CONFIRMATIONS_AT),
    };
  }

  /** Room for so many bytes behind the last record. */
  #extend(length: number): number {
    const at = this.#end;
    this.#end += length;
    assert(this.#end < 2 ** 32, 'places of records have 32 bits');
    if (this.#end > this.#bytes.length) {
      const before = this.#bytes;
      this.#bytes = new Uint8Array(Math.max(2 * before.length, this.#end));
      this.#bytes.set(before);
      this.#view = new DataView(this.#bytes.buffer);
    }
    return at;
  }
}

function flagsOf({ isCoinbase, isOwnChange, isEvicted, height, lease }: WalletCoin): number {
  return (
    (isCoinbase ? COINBASE : 0) |
    (isOwnChange ? OWN_CHANGE : 0) |
    (isEvicted ? EVICTED : 0) |
    (height === null ? 0 : MINED) |
    (lease === null ? 0 : LEASED) |
    (lease === null || lease.releaseAfterSpendConfs === null ? 0 : LEASED_BY_CONFIRMATIONS)
  );
}
