/**
 * The file of a node's `dumptxoutset`, in any of its three forms: with a head
 * of its own ('utxo' 0xff, version 2, the network's magic) and coins grouped by
 * transaction; and the older ones without, in which every coin has its whole
 * outpoint. Of the older two, one counts the chain's transactions in its head
 * and the other does not; nothing tells them apart but what follows.
 *
 * The file is read in stretches and gives whole transactions, in ascending order
 * of their ids, with their outputs in order: LevelDB has those of a transaction
 * with more than 16,000 outputs in another one.
 *
 * Source: Bitcoin Core, node/utxo_snapshot.h, rpc/blockchain.cpp
 * (`WriteUTXOSnapshot`), validation.cpp (`PopulateAndValidateSnapshot`).
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../../files/regular.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/networks.ts';
import { OUTPUT_FLAG } from '../../../ledgers/bitcoin/transaction.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { compareBytes, copyBytes, readU32, readU32LE, toHex, writeU32 } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { DUMP_READ_BYTES, NODE_SET_BATCH_BYTES, OUTPUTS_PER_TX_MAX } from '../../../util/limits.ts';
import type { NodeOutput } from '../../node-set.ts';
import { COIN_BYTES_MAX, CoinReader, cut, damaged, OUTPUT_BYTES_MAX } from './coin.ts';

/** 'utxo' and a byte that no text has. */
const MAGIC = Uint8Array.of(0x75, 0x74, 0x78, 0x6f, 0xff);
const VERSION = 2;
const HASH_BYTES = 32;
const HEAD_BYTES = { grouped: MAGIC.length + 2 + 4 + HASH_BYTES + 8, counted: HASH_BYTES + 8 + 4, plain: HASH_BYTES + 8 } as const;
/** Of a record and what stands in front of it: an id, a count, an index. */
const RECORD_BYTES_MAX = TXID_BYTES + 5 + 5 + COIN_BYTES_MAX;
/** Coins that are looked at to tell the two older forms apart. */
const PROBED_COINS = 16;

export type DumpForm = keyof typeof HEAD_BYTES;

interface DumpHead {
  readonly form: DumpForm;
  /** Of the network; null: the form does not say. */
  readonly magic: number | null;
  /** Of the block the set is of, in the order of a header. */
  readonly blockHash: Uint8Array;
  readonly count: number;
}

export class DumpFile {
  readonly path: string;
  readonly head: DumpHead;
  private readonly file: number;
  private readonly size: number;
  private readonly reader: CoinReader;
  private readonly buffer: Uint8Array;
  /** Where in the file the buffer ends. */
  private position = 0;
  /** The id of the last transaction, and of a coin that was read and belongs to the next one. */
  private lastId: Uint8Array | null = null;

  /** Throws IO for what is no regular file, SNAPSHOT_INVALID for what is no dump. */
  constructor(path: string, { mweb }: Pick<BitcoinNetwork, 'mweb'>) {
    this.path = path;
    this.reader = new CoinReader(mweb);
    this.file = openRegular(path, 'refuse');
    try {
      this.size = fstatSync(this.file).size;
      this.buffer = new Uint8Array(Math.min(DUMP_READ_BYTES, this.size + 1));
      this.head = this.told(() => this.readHead());
    } catch (error) {
      closeSync(this.file);
      throw error;
    }
  }

  close(): void {
    closeSync(this.file);
  }

  /** All of it, some megabytes at a time, each ending with a whole transaction. Throws SNAPSHOT_INVALID. */
  *batches(): Generator<readonly NodeOutput[], void, undefined> {
    this.seek(HEAD_BYTES[this.head.form]);
    this.lastId = null;
    let left = this.head.count;
    while (left > 0) {
      const outputs = this.told(() => this.batch(left));
      left -= outputs.length;
      yield outputs;
    }
    this.told(() => {
      this.fill(1);
      if (this.reader.at < this.reader.end) throw damaged(`bytes behind its last output, of which it counts ${this.head.count}`);
    });
  }

  private readHead(): DumpHead {
    this.seek(0);
    this.fill(HEAD_BYTES.grouped);
    const { bytes, end } = this.reader;
    if (end < HEAD_BYTES.plain) throw new UnspentError('SNAPSHOT_INVALID', 'it is too short to be a dump of an unspent set');
    if (compareBytes(bytes.subarray(0, MAGIC.length), MAGIC) !== 0) return this.olderHead();
    if (end < HEAD_BYTES.grouped) throw cut();
    const version = bytes[MAGIC.length] | (bytes[MAGIC.length + 1] << 8);
    if (version !== VERSION)
      throw new UnspentError('SNAPSHOT_INVALID', `it is of version ${version}; this program reads version ${VERSION}`, { version });
    const at = MAGIC.length + 2;
    return { form: 'grouped', magic: readU32(bytes, at), ...facts(bytes, at + 4) };
  }

  private olderHead(): DumpHead {
    const older = facts(this.reader.bytes, 0);
    for (const form of ['counted', 'plain'] as const) if (this.fits(form, older.count)) return { form, magic: null, ...older };
    throw new UnspentError('SNAPSHOT_INVALID', 'it is not what a node writes with dumptxoutset');
  }

  /** Whether its first coins are coins, in order, if its head has that form. */
  private fits(form: 'counted' | 'plain', count: number): boolean {
    if (count === 0) return this.size === HEAD_BYTES[form];
    this.seek(HEAD_BYTES[form]);
    const scratch = new Uint8Array(OUTPOINT_BYTES + OUTPUT_BYTES_MAX);
    let last: Uint8Array | null = null;
    try {
      for (let i = 0; i < Math.min(count, PROBED_COINS); i++) {
        this.fill(RECORD_BYTES_MAX);
        this.olderKey(scratch, 0);
        this.reader.coin(scratch, OUTPOINT_BYTES);
        const id = scratch.slice(0, TXID_BYTES);
        if (last !== null && compareBytes(id, last) < 0) return false;
        last = id;
      }
      return count > PROBED_COINS || this.position - (this.reader.end - this.reader.at) === this.size;
    } catch (error) {
      if (isUnspentError(error, 'SNAPSHOT_INVALID')) return false;
      throw error;
    }
  }

  /** `left`: how many coins the file has yet. */
  private batch(left: number): NodeOutput[] {
    const slab = new Slab();
    const outputs: NodeOutput[] = [];
    while (outputs.length < left && slab.bytes < NODE_SET_BATCH_BYTES) this.transaction(slab, outputs, left - outputs.length);
    return outputs;
  }

  private transaction(slab: Slab, outputs: NodeOutput[], left: number): void {
    const first = outputs.length;
    if (this.head.form === 'grouped') this.group(slab, outputs, left);
    else this.coinsOfOneId(slab, outputs, left);
    const id = idOf(outputs[first]);
    if (this.lastId !== null && compareBytes(id, this.lastId) <= 0)
      throw damaged(`transaction ${name(id)}, which does not come behind the one before it`);
    this.lastId = id.slice();
    this.sort(outputs, first);
  }

  private group(slab: Slab, outputs: NodeOutput[], left: number): void {
    const { reader } = this;
    this.fill(RECORD_BYTES_MAX);
    const idAt = reader.take(TXID_BYTES);
    const id = reader.bytes.slice(idAt, idAt + TXID_BYTES);
    const count = reader.compact();
    if (count === 0 || count > Math.min(left, OUTPUTS_PER_TX_MAX)) throw damaged(`a transaction of ${count} outputs`);
    for (let i = 0; i < count; i++) {
      this.fill(RECORD_BYTES_MAX);
      const { bytes, at } = slab.room();
      copyBytes(id, 0, bytes, at, TXID_BYTES);
      writeU32(bytes, at + TXID_BYTES, this.indexOf(reader.compact()));
      outputs.push(this.output(slab, bytes, at));
    }
  }

  private coinsOfOneId(slab: Slab, outputs: NodeOutput[], left: number): void {
    const first = outputs.length;
    for (let i = 0; i < left; i++) {
      this.fill(RECORD_BYTES_MAX);
      const { bytes, end, at: next } = this.reader;
      if (i > 0 && (end - next < TXID_BYTES || compareBytes(bytes.subarray(next, next + TXID_BYTES), idOf(outputs[first])) !== 0)) return;
      const { bytes: to, at } = slab.room();
      this.olderKey(to, at);
      outputs.push(this.output(slab, to, at));
    }
  }

  /** An outpoint as it stands in messages. */
  private olderKey(to: Uint8Array, at: number): void {
    const start = this.reader.take(OUTPOINT_BYTES);
    copyBytes(this.reader.bytes, start, to, at, TXID_BYTES);
    writeU32(to, at + TXID_BYTES, this.indexOf(readU32LE(this.reader.bytes, start + TXID_BYTES)));
  }

  private indexOf(index: number): number {
    if (index >= OUTPUTS_PER_TX_MAX) throw damaged(`an output with the number ${index}, which no transaction has`);
    return index;
  }

  private output(slab: Slab, bytes: Uint8Array, keyAt: number): NodeOutput {
    const start = keyAt + OUTPOINT_BYTES;
    const end = this.reader.coin(bytes, start);
    slab.used(end);
    return { bytes, keyAt, start, end, height: this.reader.height, flags: this.reader.coinbase ? OUTPUT_FLAG.coinbase : 0 };
  }

  /** By their numbers. Throws where one is there twice. */
  private sort(outputs: NodeOutput[], first: number): void {
    const isAscending = (i: number): boolean => i === first || indexAt(outputs[i - 1]) < indexAt(outputs[i]);
    let i = first;
    while (i < outputs.length && isAscending(i)) i++;
    if (i === outputs.length) return;
    const sorted = outputs.splice(first).sort((a, b) => indexAt(a) - indexAt(b));
    for (const output of sorted) outputs.push(output);
    for (let j = first; j < outputs.length; j++)
      if (!isAscending(j)) throw damaged(`output ${name(idOf(outputs[j]))}:${indexAt(outputs[j])} twice`);
  }

  private seek(position: number): void {
    this.position = position;
    this.reader.bytes = this.buffer;
    this.reader.at = 0;
    this.reader.end = 0;
  }

  /** So many bytes are at hand, or all that there are. */
  private fill(wanted: number): void {
    const { reader, buffer } = this;
    if (reader.end - reader.at >= wanted) return;
    buffer.copyWithin(0, reader.at, reader.end);
    reader.end -= reader.at;
    reader.at = 0;
    while (reader.end < buffer.length) {
      const read = readSync(this.file, buffer, reader.end, buffer.length - reader.end, this.position);
      if (read === 0) return;
      reader.end += read;
      this.position += read;
    }
  }

  /** What it says of the file begins with its path. */
  private told<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      if (isUnspentError(error, 'SNAPSHOT_INVALID'))
        throw new UnspentError('SNAPSHOT_INVALID', `${this.path} is not a whole dump: ${error.message}`, {
          path: this.path,
          ...error.meta,
        });
      const { code } = error as NodeJS.ErrnoException;
      if (error instanceof UnspentError || code === undefined) throw error;
      throw new UnspentError('IO', `${this.path} cannot be read (${code})`, { path: this.path }, error);
    }
  }
}

/** Bytes of a batch: outpoint and output, one behind the other, in pieces that stay where they are. */
class Slab {
  /** Of all pieces. */
  bytes = 0;
  private piece = new Uint8Array(SLAB_BYTES_MIN);
  private at = 0;

  room(): { readonly bytes: Uint8Array; readonly at: number } {
    if (this.piece.length - this.at < OUTPOINT_BYTES + OUTPUT_BYTES_MAX) {
      this.piece = new Uint8Array(Math.min(2 * this.piece.length, SLAB_BYTES_MAX));
      this.at = 0;
    }
    return { bytes: this.piece, at: this.at };
  }

  used(end: number): void {
    this.bytes += end - this.at;
    this.at = end;
  }
}

const SLAB_BYTES_MIN = 16 * 1024;
const SLAB_BYTES_MAX = 512 * 1024;

/** Hash and count, which stand together in every form. */
function facts(bytes: Uint8Array, at: number): Pick<DumpHead, 'blockHash' | 'count'> {
  const count = readU32LE(bytes, at + HASH_BYTES) + 2 ** 32 * readU32LE(bytes, at + HASH_BYTES + 4);
  if (!Number.isSafeInteger(count)) throw damaged('a count of outputs that cannot be');
  return { blockHash: bytes.slice(at, at + HASH_BYTES), count };
}

function idOf({ bytes, keyAt }: NodeOutput): Uint8Array {
  return bytes.subarray(keyAt, keyAt + TXID_BYTES);
}

function indexAt({ bytes, keyAt }: NodeOutput): number {
  return readU32(bytes, keyAt + TXID_BYTES);
}

function name(id: Uint8Array): string {
  return toHex(id.slice().reverse());
}
