/**
 * How blocks, headers and transactions of many eras are wrapped for the wire.
 * Two numberings, off by one: a wrapped block carries the era's tag (Byron has
 * two), everything else its index.
 *
 * CDDL: ouroboros-consensus-cardano/cddl/base.cddl, node-to-node/{chainsync,blockfetch}.
 */
import { Cursor } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { ENCODED_TAG } from './protocol.ts';

const BYRON_INDEX = 0;
const MALFORMED = 'expected encoded CBOR (tag 24)';

/** A header as chain-sync between nodes sends it. */
export interface WrappedHeader {
  /** The tag a block of this header carries: Byron's boundary blocks 0, its others 1, Shelley 2, ... */
  readonly era: number;
  readonly header: Uint8Array;
  /** Bytes of the whole block; only Byron's wrapping says. */
  readonly blockBytes: number | null;
}

/** A transaction: the bytes under tag 24; of Byron the item `[kind, ...]` as it stands. */
export interface WrappedTx {
  /** Index of the era: 0 Byron, 1 Shelley, ..., 6 Conway. */
  readonly eraIndex: number;
  readonly tx: Uint8Array;
}

export interface WrappedTxId {
  readonly eraIndex: number;
  readonly id: Uint8Array;
  /** Byron's kinds of mempool entry: 0 transaction, 1 delegation, 2 update proposal, 3 vote. */
  readonly byronKind?: number;
}

export function readEncoded(c: Cursor): Uint8Array {
  const at = c.at;
  if (c.tag() !== ENCODED_TAG) c.fail(MALFORMED, at);
  return c.byteString();
}

/** `tag 24 (bytes of [eraTag, block])`: gives the wrapped block inside. */
export function readWrappedBlock(item: Uint8Array): Uint8Array {
  return whole(item, readEncoded);
}

export function wrapBlock(raw: Uint8Array): Uint8Array {
  return new CborWriter(raw.length + 16).encoded(raw).take();
}

export function readWrappedHeader(item: Uint8Array): WrappedHeader {
  return whole(item, (c) => {
    const outer = c.tuple(2, 'wrapped header');
    const index = c.uint();
    if (index !== BYRON_INDEX) {
      const header = readEncoded(c);
      c.close(outer);
      return { era: index + 1, header, blockBytes: null };
    }
    const inner = c.tuple(2, 'wrapped Byron header');
    const hint = c.tuple(2, 'kind and size');
    const at = c.at;
    const era = c.uint();
    if (era > 1) c.fail(`Byron has no header of kind ${era}`, at);
    const blockBytes = c.uint();
    c.close(hint);
    const header = readEncoded(c);
    c.close(inner);
    c.close(outer);
    return { era, header, blockBytes };
  });
}

export function wrapHeader({ era, header, blockBytes }: WrappedHeader): Uint8Array {
  const w = new CborWriter(header.length + 32);
  if (era > 1)
    return w
      .array(2)
      .uint(era - 1)
      .encoded(header)
      .take();
  return w
    .array(2)
    .uint(BYRON_INDEX)
    .array(2)
    .array(2)
    .uint(era)
    .uint(blockBytes ?? 0)
    .encoded(header)
    .take();
}

/** The wrapped header of a wrapped block: what a node announces before anybody asks for the block. */
export function headerOfBlock(raw: Uint8Array): WrappedHeader {
  const c = new Cursor(raw);
  c.array();
  const era = c.uint();
  c.array();
  const start = c.at;
  c.skip();
  return { era, header: raw.subarray(start, c.at), blockBytes: era > 1 ? null : raw.length };
}

export function readTx(c: Cursor): WrappedTx {
  const outer = c.tuple(2, 'wrapped transaction');
  const eraIndex = c.uint();
  const start = c.at;
  if (eraIndex === BYRON_INDEX) c.skip();
  const tx = eraIndex === BYRON_INDEX ? c.bytes.subarray(start, c.at) : readEncoded(c);
  c.close(outer);
  return { eraIndex, tx };
}

export function writeTx(w: CborWriter, { eraIndex, tx }: WrappedTx): CborWriter {
  w.array(2).uint(eraIndex);
  return eraIndex === BYRON_INDEX ? w.raw(tx) : w.encoded(tx);
}

export function readTxId(c: Cursor): WrappedTxId {
  const outer = c.tuple(2, 'wrapped transaction id');
  const eraIndex = c.uint();
  if (eraIndex !== BYRON_INDEX) {
    const id = hash32(c);
    c.close(outer);
    return { eraIndex, id };
  }
  const inner = c.tuple(2, 'Byron transaction id');
  const byronKind = c.uint();
  const id = hash32(c);
  c.close(inner);
  c.close(outer);
  return { eraIndex, id, byronKind };
}

export function writeTxId(w: CborWriter, { eraIndex, id, byronKind }: WrappedTxId): CborWriter {
  w.array(2).uint(eraIndex);
  return eraIndex === BYRON_INDEX
    ? w
        .array(2)
        .uint(byronKind ?? 0)
        .bytes(id)
    : w.bytes(id);
}

function hash32(c: Cursor): Uint8Array {
  c.span(32);
  return c.bytes.subarray(c.start, c.stop);
}

function whole<T>(item: Uint8Array, read: (c: Cursor) => T): T {
  const c = new Cursor(item);
  const value = read(c);
  if (c.at !== item.length) c.fail('bytes after the end of the item');
  return value;
}
