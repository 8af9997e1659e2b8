/**
 * Undo records from before schema 3, rewritten (see state/delta.ts for the format):
 * only what tells of a spent output changes in a step.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { ByteReader, ByteWriter } from '../../util/byte-writer.ts';

/** Reads what the record has of one spent output, and writes it as it shall be. */
export type RewriteSpent = (from: ByteReader, to: ByteWriter) => void;

/** The next number, from one to the other. */
export function copyVarint(from: ByteReader, to: ByteWriter): number {
  const value = from.varint();
  to.varint(value);
  return value;
}

export function rewrittenDelta(bytes: Uint8Array, rewriteSpent: RewriteSpent): Uint8Array {
  const [r, w] = [new ByteReader(bytes, 'an undo record'), new ByteWriter()];
  w.u8(r.u8());
  copyVarint(r, w);
  for (let txs = copyVarint(r, w); txs > 0; txs--) {
    w.u8(r.u8());
    w.run(r.run(TXID_BYTES));
    copyVarint(r, w);
    copyVarint(r, w);
  }
  for (let spent = copyVarint(r, w); spent > 0; spent--) rewriteSpent(r, w);
  for (let undos = copyVarint(r, w); undos > 0; undos--) {
    const length = r.u8();
    w.u8(length);
    w.run(r.run(length));
    w.run(r.run(copyVarint(r, w)));
  }
  return Uint8Array.from(w.view());
}
