/**
 * What several readers want of one moment, in few statements: all keys of a
 * column in one, scans each in one of their own, all of them at the same time.
 */
import type { RemoteSnapshot } from './contract.ts';
import type { Want } from './messages.ts';
import { packRows, packValues, unpackKeys } from './pack.ts';

/** In the order of what is wanted. Throws what the snapshot throws. */
export async function fetchAll(snapshot: RemoteSnapshot, wants: readonly Want[]): Promise<Uint8Array<ArrayBuffer>[]> {
  const found: Promise<Uint8Array<ArrayBuffer>>[] = [];
  const columns = new Map<string, { readonly place: number; readonly keys: Uint8Array[] }[]>();
  wants.forEach((want, place) => {
    if (want.kind === 'scan') found[place] = snapshot.scan(want.column, want.range).then(packRows);
    else columns.set(want.column, [...(columns.get(want.column) ?? []), { place, keys: unpackKeys(want.keys) }]);
  });
  for (const [column, parts] of columns) {
    const values = snapshot.getMany(
      column,
      parts.flatMap(({ keys }) => keys),
    );
    let start = 0;
    for (const { place, keys } of parts) {
      const from = start;
      start += keys.length;
      found[place] = values.then((all) => packValues(all.slice(from, from + keys.length)));
    }
  }
  return Promise.all(found);
}
