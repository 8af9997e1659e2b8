/**
 * Changes of the mempool on their way between two threads: one run of bytes and
 * the lengths of its parts. A thousand transactions sent one by one would each
 * take along all of the buffer it stands in.
 */
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import { concatBytes } from '../../util/bytes.ts';

interface PackedChange {
  readonly kind: MempoolChange['kind'];
  readonly lengths: readonly number[];
  /** Of what has left. */
  readonly slot: number | undefined;
}

export interface PackedChanges {
  readonly changes: readonly PackedChange[];
  /** It has a buffer of its own, which can be transferred to another thread. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export function packChanges(changes: readonly MempoolChange[]): PackedChanges {
  const parts = changes.map(partsOf);
  return {
    changes: changes.map((change, i) => ({
      kind: change.kind,
      lengths: parts[i].map(({ length }) => length),
      slot: change.kind === 'remove' ? change.slot : undefined,
    })),
    bytes: concatBytes(...parts.flat()) as Uint8Array<ArrayBuffer>,
  };
}

export function unpackChanges({ changes, bytes }: PackedChanges): MempoolChange[] {
  let at = 0;
  return changes.map(({ kind, lengths, slot }) => {
    const parts = lengths.map((length) => {
      at += length;
      return bytes.subarray(at - length, at);
    });
    if (kind === 'reset') return { kind };
    if (kind === 'add') return { kind, txs: parts };
    return slot === undefined ? { kind, ids: parts } : { kind, ids: parts, slot };
  });
}

function partsOf(change: MempoolChange): readonly Uint8Array[] {
  if (change.kind === 'reset') return [];
  return change.kind === 'add' ? change.txs : change.ids;
}
