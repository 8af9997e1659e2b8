/**
 * Puts a node's own unspent set into an empty database. What a node gives is no
 * coin of ours yet: the header of each stored value is made here, as a block
 * makes it, but for what nodes do not keep. Then it goes the way of a snapshot,
 * through the projections, and the head comes last.
 *
 * Transactions are numbered within their block in the order of their ids, which
 * is not the order of the chain, but gives every output an index key of its own.
 */
import type { Batch, Engine } from '../engine/engine.ts';
import type { NodeOutput, NodeSet } from '../families/family.ts';
import { type Ledger, OutputKeys } from '../ledgers/ledger.ts';
import { OUTPOINT_BYTES, outpointIndex, outpointTxId, TXID_BYTES } from '../ledgers/outpoint.ts';
import { Coin, storedBytesMax, UNDATED_TX_INDEX, UNPLACED_TX_INDEX, writeStored } from '../projections/coin.ts';
import type { Projection } from '../projections/projection.ts';
import { readSetHash, SET_HASH } from '../projections/set-hash/set-hash.ts';
import { writeStartHeight } from '../projections/start-height.ts';
import { writeBase } from '../state/base.ts';
import { compareBytes, equalBytes, toHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { HEIGHT_MAX } from '../util/limits.ts';
import { baseOf } from './base.ts';
import { WITH_BLOCKS } from './load.ts';
import { SetSum } from './sum.ts';

/** What was loaded: the block, and what the set adds up to. */
export interface LoadedSet {
  readonly point: { readonly height: number; readonly slot: number; readonly hash: string };
  readonly utxos: number;
  readonly value: string;
  readonly digest: string;
  /** Null: neither kept nor asked for. */
  readonly setHash: string | null;
}

export interface NodeSetProgress {
  readonly signal?: AbortSignal | undefined;
  /** After each batch. */
  readonly onRows?: ((rows: number) => void) | undefined;
}

/** Hashes and trees commit to what a node that lacks the blocks of its outputs cannot tell: their slots, and their bytes as they stood. */
const COMMITS_TO_BLOCKS: readonly string[] = [SET_HASH, 'csmt'];

/** Throws UNSUPPORTED when one is asked for that cannot be had from this set. */
export function checkLacks(projections: readonly Projection[], { lacks, name }: Pick<NodeSet, 'lacks' | 'name'>): void {
  const asked = lacks === 'block' ? projections.filter((each) => COMMITS_TO_BLOCKS.includes(each.name)).map((each) => each.name) : [];
  if (asked.length === 0) return;
  const why = 'it tells neither the slots of outputs nor their bytes as they stood in their blocks, and those are hashed';
  throw new UnspentError('UNSUPPORTED', `${asked.join(', ')} cannot be kept in a store that begins with the set of ${name}: ${why}`, {
    projections: asked.join(', '),
  });
}

/** On return the store is at the set's block, on the disk. Throws SNAPSHOT_INVALID, and then the database has no head. */
export async function loadNodeSet(
  engine: Engine,
  projections: readonly Projection[],
  given: NodeSet,
  ledger: Ledger,
  { signal, onRows }: NodeSetProgress,
): Promise<LoadedSet> {
  const loaded = projections.filter(({ name }) => !WITH_BLOCKS.includes(name));
  const keepsHash = loaded.some(({ name }) => name === SET_HASH);
  const sum = new SetSum(ledger, given.setHash !== null && !keepsHash);
  const maker = new CoinMaker(given, ledger);
  for await (const outputs of given.batches(signal)) {
    const coins = maker.coins(outputs);
    for (const coin of coins) sum.add(coin);
    const batch: Batch = engine.batch();
    for (const projection of loaded) projection.apply({ blocks: [], added: coins, removed: [] }, engine, batch);
    batch.commit();
    onRows?.(sum.rows);
  }
  const { utxos, value, digest, setHash: summed } = sum.end();
  const setHash = keepsHash ? ledger.setHash.summary(readSetHash(engine) ?? null).hash : summed;
  if (given.setHash !== null && setHash !== given.setHash.toLowerCase())
    throw new UnspentError('SNAPSHOT_INVALID', `the outputs of ${given.name} hash to ${setHash}, not to ${given.setHash}`, {
      wanted: given.setHash,
    });
  const base = baseOf({ point: maker.point(sum.newest), era: given.era, header: toHex(given.header) }, ledger);
  const batch = engine.batch();
  for (const { name, startsLate } of projections) if (startsLate === true) writeStartHeight(batch, name, base.row.height + 1);
  writeBase(batch, base, { utxos, value, missing: 0 }, given.lacks);
  batch.commit({ fsync: true });
  const { height, slot, hash } = base.row;
  return { point: { height, slot, hash: ledger.formatId(hash) }, utxos, value: value.toString(), digest, setHash };
}

/** Makes coins of what a node gives. */
class CoinMaker {
  private readonly given: NodeSet;
  private readonly ledger: Ledger;
  private readonly facts: ReturnType<Ledger['headers']['read']>;
  private readonly keys = new OutputKeys();
  /** Transactions seen by the height of their block; at 0 where blocks are not told. */
  private ranks = new Uint32Array(1024);
  private last: { readonly key: Uint8Array; readonly height: number } | null = null;

  constructor(given: NodeSet, ledger: Ledger) {
    this.given = given;
    this.ledger = ledger;
    this.facts = ledger.headers.read(given.header, given.era);
  }

  /** The block of the set; `newest`: the greatest height among its outputs. Throws SNAPSHOT_INVALID. */
  point(newest: number): { readonly height: number; readonly slot: number; readonly hash: string; readonly boundary: boolean } {
    const hash = this.ledger.formatId(this.facts.hash);
    const { place } = this.facts;
    if (place !== null) return { ...place, hash };
    const { height } = this.given;
    if (newest < 0 || (height !== null && newest !== height)) {
      // What a coinbase pays cannot be spent for a hundred blocks, so the newest output is of the block itself.
      const said =
        height === null ? 'it has no output' : `its block stands at height ${height}, and its newest output is of height ${newest}`;
      throw this.invalid(`is not the whole set of its block: ${said}`);
    }
    return { height: newest, slot: newest, hash, boundary: false };
  }

  coins(outputs: readonly NodeOutput[]): Coin[] {
    const room = outputs.reduce((bytes, { start, end }) => bytes + storedBytesMax(end - start), 0);
    const slab = new Uint8Array(room);
    const coins: Coin[] = [];
    let at = 0;
    for (const output of outputs) {
      const end = this.write(output, slab, at);
      coins.push(new Coin(output.bytes, output.keyAt, slab, at, end, false));
      at = end;
    }
    return coins;
  }

  private write(output: NodeOutput, slab: Uint8Array, at: number): number {
    const { bytes, start, end, flags } = output;
    const { ledger, keys } = this;
    const place = this.placeOf(output);
    try {
      const create = ledger.readOutput(bytes, start, end);
      if (create.end !== end) throw new UnspentError('BLOCK_INVALID', `${end - create.end} bytes stand behind it`);
      ledger.findKeys(bytes, create, keys);
      return writeStored(slab, at, place, place.txIndex, bytes, { ...create, flags }, keys);
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      throw this.invalid(`has an output ${this.nameOf(output)} that does not decode: ${error.message}`, error);
    }
  }

  /** Where it stands, as far as that is known. Throws where outputs do not ascend, or one is of a later block than the set. */
  private placeOf(output: NodeOutput): { readonly height: number; readonly slot: number; readonly txIndex: number } {
    const { bytes, keyAt, height } = output;
    const key = bytes.subarray(keyAt, keyAt + OUTPOINT_BYTES);
    const { last } = this;
    if (last !== null && compareBytes(last.key, key) >= 0)
      throw this.invalid(`has an output ${this.nameOf(output)} that does not come behind the one before it`);
    const isNew = last === null || !equalBytes(last.key.subarray(0, TXID_BYTES), key.subarray(0, TXID_BYTES));
    const of = height ?? this.facts.place?.height ?? 0;
    const limit = this.given.height ?? HEIGHT_MAX;
    if (of > limit) throw this.invalid(`has an output ${this.nameOf(output)} of height ${of}, and is of height ${limit}`);
    if (!isNew && of !== last.height)
      throw this.invalid(`has outputs of one transaction at heights ${last.height} and ${of} (${this.nameOf(output)})`);
    this.last = { key, height: of };
    const rank = this.rank(height ?? 0, isNew);
    if (height === null) return { height: of, slot: this.facts.place?.slot ?? of, txIndex: UNDATED_TX_INDEX + rank };
    return { height, slot: height, txIndex: UNPLACED_TX_INDEX + rank };
  }

  private rank(height: number, isNew: boolean): number {
    if (height >= this.ranks.length) {
      const more = new Uint32Array(2 * height);
      more.set(this.ranks);
      this.ranks = more;
    }
    if (isNew) this.ranks[height]++;
    return this.ranks[height] - 1;
  }

  private nameOf({ bytes, keyAt }: NodeOutput): string {
    return `${this.ledger.formatId(outpointTxId(bytes, keyAt))}#${outpointIndex(bytes, keyAt)}`;
  }

  private invalid(what: string, cause?: unknown): UnspentError {
    return new UnspentError('SNAPSHOT_INVALID', `${this.given.name} ${what}`, { name: this.given.name }, cause);
  }
}
