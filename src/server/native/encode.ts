/**
 * Outputs as they stand in an answer: a JSON document, or an entry in CBOR, the
 * interchange record with the name of its output.
 */
import type { Utxo } from '../../query/query.ts';
import { encodeOutputEntry } from '../../query/records.ts';
import { isPending } from '../../query/utxo.ts';
import type { EncodedRow, RowEncoder } from '../http/rows.ts';
import type { ReadContext } from './answer.ts';

/** What stands for an output that is not known. */
export const NOTHING: Readonly<Record<ReadContext['form'], EncodedRow>> = { json: 'null', cbor: Uint8Array.of(0xf6) };

export function encoderOf({ form, renderer, recorder }: ReadContext): RowEncoder<Utxo> {
  if (form === 'json') return (utxo) => JSON.stringify(isPending(utxo.output) ? renderer.pendingUtxo(utxo) : renderer.utxo(utxo));
  return (utxo) => encodeOutputEntry(recorder.entry(utxo));
}
