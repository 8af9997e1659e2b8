/**
 * A block from its header and its transactions as they stand alone. They have
 * the bytes of the block but for the heads of its lists, which may be written
 * with a length or without. The header has a hash over the lists, so that the
 * form in which they stood is found, and what is given is the block and nothing
 * else.
 *
 * CDDL: `block = [header, [* body], [* witnesses], {* index => auxiliary}, [* index]]`,
 * up to Mary without the last.
 */
import { blake2b256 } from '../../crypto/hash.ts';
import { concatBytes, equalBytes } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import { bareHeaderAt, ERA } from './header.ts';
import { type Span, splitTx } from './whole-tx.ts';

/** An item of a list, or an entry of a map with its key in front. */
type WriteItem = (w: CborWriter) => void;

/** Null: of Byron, whose blocks have more than transactions, or what is given does not belong together. Throws BLOCK_INVALID. */
export function joinCardanoBlock(era: number, header: Uint8Array, txs: readonly Uint8Array[]): Uint8Array | null {
  if (era <= ERA.byron) return null;
  const { bodyProof } = bareHeaderAt(new Cursor(header), era, 0);
  const parts = partsOf(era, txs);
  // Each part in both forms, with the hash of each.
  const forms = parts.map(({ isMap, items }) =>
    [true, false].map((hasLength) => {
      const bytes = written(items, isMap, hasLength);
      return { bytes, hash: blake2b256(bytes) };
    }),
  );
  for (let choice = 0; choice < 1 << forms.length; choice++) {
    const chosen = forms.map((each, i) => each[(choice >> i) & 1]);
    if (!equalBytes(blake2b256(concatBytes(...chosen.map(({ hash }) => hash))), bodyProof)) continue;
    const head = new CborWriter(16)
      .array(2)
      .uint(era)
      .array(1 + forms.length)
      .take();
    return concatBytes(head, header, ...chosen.map(({ bytes }) => bytes));
  }
  return null;
}

function partsOf(era: number, txs: readonly Uint8Array[]): { readonly isMap: boolean; readonly items: readonly WriteItem[] }[] {
  const whole = txs.map((raw) => ({ raw, parts: splitTx(raw) }));
  const span = (raw: Uint8Array, { start, end }: Span): WriteItem => {
    return (w) => w.raw(raw.subarray(start, end));
  };
  const bodies = whole.map(({ raw, parts }) => span(raw, parts.tx));
  const witnesses = whole.map(({ raw, parts }) => span(raw, parts.witnesses));
  const auxiliary = whole.flatMap(({ raw, parts }, i): WriteItem[] => {
    const own = parts.auxiliary;
    return own === null ? [] : [(w) => span(raw, own)(w.uint(i))];
  });
  const invalid = whole.flatMap(({ parts }, i): WriteItem[] => (parts.tx.valid ? [] : [(w) => w.uint(i)]));
  const lists = [
    { isMap: false, items: bodies },
    { isMap: false, items: witnesses },
    { isMap: true, items: auxiliary },
  ];
  return era >= ERA.alonzo ? [...lists, { isMap: false, items: invalid }] : lists;
}

function written(items: readonly WriteItem[], isMap: boolean, hasLength: boolean): Uint8Array {
  const w = new CborWriter(4096);
  if (hasLength) isMap ? w.map(items.length) : w.array(items.length);
  else isMap ? w.startMap() : w.startArray();
  for (const write of items) write(w);
  return (hasLength ? w : w.end()).take();
}
