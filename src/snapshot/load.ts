/**
 * Puts the outputs of a snapshot into an empty database, through the projections
 * that keep them: a step with outputs and without blocks, as a fill makes it, so
 * that indexes, balances and trees follow from the set as they always do. The
 * head comes last, and only when everything was found to be right.
 */
import type { Engine } from '../engine/engine.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import type { Coin } from '../projections/coin.ts';
import type { Projection } from '../projections/projection.ts';
import { readSetHash, SET_HASH } from '../projections/set-hash/set-hash.ts';
import { writeStartHeight } from '../projections/start-height.ts';
import { writeBase } from '../state/base.ts';
import { UnspentError } from '../util/errors.ts';
import { baseOf } from './base.ts';
import { type ReadOptions, readSnapshot, type SnapshotFolder } from './read.ts';

/** These begin with the first block after the snapshot. */
export const WITH_BLOCKS: readonly string[] = ['chain', 'transactions'];
const SET = 'utxo';

/** Throws UNSUPPORTED when one is asked for that cannot be had from unspent outputs. */
export function checkLoadable(projections: readonly Projection[]): void {
  const others = projections.filter(
    ({ name, fillable, startsLate }) => !WITH_BLOCKS.includes(name) && name !== SET && fillable === undefined && startsLate !== true,
  );
  if (others.length > 0) {
    const names = others.map(({ name }) => name).join(', ');
    const message = `${names} cannot be kept in a store that begins with a snapshot: it takes every block from the first one on`;
    throw new UnspentError('UNSUPPORTED', message, { projections: names });
  }
  if (!projections.some(({ name }) => name === SET))
    throw new UnspentError('UNSUPPORTED', 'a snapshot is of the unspent set, and utxo.enabled is off');
}

/** On return the store is at the snapshot's block, on the disk. Throws SNAPSHOT_INVALID, and then the database has no head. */
export async function loadSnapshot(
  engine: Engine,
  projections: readonly Projection[],
  snapshot: SnapshotFolder,
  ledger: Ledger,
  options: Pick<ReadOptions, 'signal' | 'onRows'>,
): Promise<void> {
  const loaded = projections.filter(({ name }) => !WITH_BLOCKS.includes(name));
  const keepsHash = loaded.some(({ name }) => name === SET_HASH);
  const take = (coins: readonly Coin[]): void => {
    const batch = engine.batch();
    for (const projection of loaded) projection.apply({ blocks: [], added: coins, removed: [] }, engine, batch);
    batch.commit();
  };
  // Where the store keeps the hash it is worked out once, and what was kept is what is compared.
  const setHash = keepsHash ? (): string => ledger.setHash.summary(readSetHash(engine) ?? null).hash : undefined;
  await readSnapshot(snapshot, ledger, { ...options, take, setHash });
  const { utxos, value } = snapshot.manifest;
  const batch = engine.batch();
  const base = baseOf(snapshot.manifest, ledger);
  for (const { name, startsLate } of projections) if (startsLate === true) writeStartHeight(batch, name, base.row.height + 1);
  writeBase(batch, base, { utxos, value: BigInt(value), missing: 0 });
  batch.commit({ fsync: true });
}
