/**
 * Query rows as JSON documents (`json.ts`). Pure over a query and its network;
 * the command line and the server give the same documents because of it.
 *
 * Answers have a hundred thousand rows at times, so nothing is worked out twice
 * that rows share, and fields are set one by one, in the order they are shown.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import { isUndated } from '../projections/coin.ts';
import type { TxRow } from '../projections/transactions.ts';
import { Cursor } from '../util/cbor.ts';
import { UnspentError } from '../util/errors.ts';
import { amountsJson } from './amounts.ts';
import { type BlockLookup, BlockPositions } from './block-positions.ts';
import { type Dialect, hexOf, type Writable } from './dialect.ts';
import type { HistoryRow } from './history.ts';
import type {
  BalanceJson,
  BlockJson,
  OwnerTxJson,
  PendingUtxoJson,
  PlaceJson,
  PointJson,
  SeenJson,
  SpentJson,
  TxJson,
  UtxoJson,
} from './json.ts';
import type { Seen } from './seen.ts';
import { isPending, type Utxo } from './utxo.ts';
import type { Balance } from './view.ts';

export type * from './json.ts';

const SCRIPT_HASH_BYTES = 28;

export function renderPoint<P extends Point | null>(
  point: P,
  { formatId }: Pick<Dialect, 'formatId'>,
): PointJson | (P extends null ? null : never) {
  if (point === null) return null as P extends null ? null : never;
  return { height: point.height, slot: point.slot, hash: formatId(point.hash) };
}

export function renderBalance({ utxos, value, assets }: Balance, { currency }: Pick<Dialect, 'currency'>): BalanceJson {
  const text = value.toString();
  return { utxo_count: utxos, [currency.field]: text, amounts: amountsJson(currency.unit, text, assets) };
}

/** Renders rows of one query. It remembers blocks and owners: answers are full of the same ones. */
export class Renderer {
  private readonly dialect: Dialect;
  private readonly places: BlockPositions;
  private readonly write: ReturnType<Dialect['outputWriter']>;

  constructor(query: BlockLookup, dialect: Dialect) {
    this.dialect = dialect;
    this.places = new BlockPositions(query, dialect);
    this.write = dialect.outputWriter();
  }

  utxo(utxo: Utxo): UtxoJson {
    const { txId, index, output, spent } = utxo;
    const json = { tx_hash: this.dialect.formatId(txId), output_index: index } as Writable<UtxoJson>;
    this.write(utxo, json);
    this.place(output.height, output.slot, json);
    if (isUndated(output.txIndex)) json.at_or_before = true;
    if (spent !== null) this.spent(spent, json);
    return json;
  }

  /** One that a transaction in no block makes. */
  pendingUtxo(utxo: Utxo): PendingUtxoJson {
    const { txId, index, spent } = utxo;
    const json = { tx_hash: this.dialect.formatId(txId), output_index: index } as Writable<PendingUtxoJson>;
    this.write(utxo, json);
    json.pending = true;
    if (spent !== null) this.spent(spent, json);
    return json;
  }

  tx(txId: Uint8Array, row: TxRow): TxJson {
    const name = this.dialect.formatId(txId);
    const block = this.places.block(row.height);
    if (block === null) throw new UnspentError('STORE_DAMAGED', `transaction ${name} names block ${row.height}, which is not there`);
    const json = { tx_hash: name, tx_index: row.txIndex, valid: row.valid } as Writable<TxJson>;
    this.place(row.height, block.row.slot, json);
    return json;
  }

  /** A transaction in the list of an owner. */
  ownerTx({ id, height, txIndex, fundedCount, fundedSum, spentCount, spentSum }: HistoryRow & { readonly id: Uint8Array }): OwnerTxJson {
    const json = { tx_hash: this.dialect.formatId(id), tx_index: txIndex } as Writable<OwnerTxJson>;
    const block = this.places.block(height);
    if (block === null) throw new UnspentError('STORE_DAMAGED', `transaction ${json.tx_hash} names block ${height}, which is not there`);
    this.place(height, block.row.slot, json);
    json.received_outputs = fundedCount;
    json.received_amount = fundedSum.toString();
    json.spent_outputs = spentCount;
    json.spent_amount = spentSum.toString();
    return json;
  }

  block(row: ChainRow): BlockJson {
    const { height, slot, hash, prevHash, era, txCount, size } = row;
    const { formatId, clock, eraName, blockFields } = this.dialect;
    const json = { hash: formatId(hash), height, slot } as Writable<BlockJson>;
    const [epoch, time, name] = [clock.epoch(slot), clock.time(slot, row), eraName(era)];
    if (epoch !== null) json.epoch = epoch;
    if (time !== null) json.block_time = time;
    if (name !== null) json.era = name;
    // A store that began with a snapshot knows neither of the block it began with.
    if (size > 0) {
      json.tx_count = txCount;
      json.size = size;
    }
    if (prevHash.some((byte) => byte !== 0)) json.previous_hash = formatId(prevHash);
    return Object.assign(json, blockFields(row));
  }

  /** A datum or a script: the hash of a datum has 32 bytes, that of a script 28. */
  seen(hash: Uint8Array, { bytes, txId, index, height, slot }: Seen): SeenJson {
    const script = hash.length === SCRIPT_HASH_BYTES ? scriptFields(hash, bytes) : {};
    const json = { hash: hexOf(hash), ...script, cbor: hexOf(bytes), tx_hash: this.dialect.formatId(txId) } as Writable<SeenJson>;
    if (index !== null) json.output_index = index;
    this.place(height, slot, json);
    return json;
  }

  private spent({ txId, slot, height }: NonNullable<Utxo['spent']>, json: Writable<Partial<SpentJson>>): void {
    if (txId !== null) json.spent_tx_hash = this.dialect.formatId(txId);
    if (isPending({ height })) {
      json.spent_pending = true;
      return;
    }
    const { block, epoch, time } = this.places.at(height, slot);
    json.spent_at_slot = slot;
    json.spent_at_block = height;
    if (block !== null) json.spent_at_block_hash = block.name;
    if (time !== null) json.spent_block_time = time;
    if (epoch !== null) json.spent_epoch = epoch;
  }

  private place(height: number, slot: number, json: Writable<PlaceJson>): void {
    const { block, epoch, time } = this.places.at(height, slot);
    json.slot = slot;
    json.block = height;
    if (block !== null) json.block_hash = block.name;
    if (epoch !== null) json.epoch = epoch;
    if (time !== null) json.block_time = time;
  }
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
