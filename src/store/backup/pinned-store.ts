/**
 * One block of an open store, held for a backup: its rows as a snapshot, and
 * where the engine can, its files. Both are of the same commit, because both are
 * taken in the thread of the fold, between two blocks.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PINNED_FOLDER } from '../../engine/directory.ts';
import type { ColumnSpec, Reader } from '../../engine/engine.ts';
import type { OwnedEngine } from '../../engine/open.ts';
import { type PinnedFiles, releaseFiles } from '../../engine/pinned-files.ts';
import type { OpenStore } from '../store.ts';

export interface PinnedStore {
  readonly columns: readonly ColumnSpec[];
  readonly reader: Reader;
  /** Null: the rows have to be copied. */
  readonly files: PinnedFiles | null;
  release(): void | Promise<void>;
}

/** Only the files: for whoever reads the rows in another thread. */
export function pinStoreFiles({ engine, data }: Pick<OpenStore, 'engine' | 'data'>): PinnedFiles | null {
  return (engine as Partial<OwnedEngine>).pinFiles?.(join(data, PINNED_FOLDER)) ?? null;
}

/** What a process that was killed during a backup has left. Whoever calls has the store open: nobody else does. */
export function dropPins(data: string): void {
  rmSync(join(data, PINNED_FOLDER), { recursive: true, force: true });
}

/** In the thread of the fold. */
export function pinStore(store: Pick<OpenStore, 'engine' | 'data'>): PinnedStore {
  const { columns } = store.engine;
  const files = pinStoreFiles(store);
  const reader = store.engine.snapshot(columns.map(({ name }) => name));
  return {
    columns,
    reader,
    files,
    release() {
      reader.release();
      if (files !== null) releaseFiles(files);
    },
  };
}
