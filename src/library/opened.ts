/**
 * The open store behind a `Store`, for the other doors of the library. Programs
 * cannot reach it: no door exports this file.
 */
import type { OpenStore } from '../store/store.ts';
import { assert } from '../util/errors.ts';

const opened = new WeakMap<object, OpenStore>();

/** Told by each `Store` when it is made. */
export function rememberOpened(store: object, open: OpenStore): void {
  opened.set(store, open);
}

export function openedOf(store: object): OpenStore {
  const found = opened.get(store);
  assert(found !== undefined, 'a store is what `open` gave');
  return found;
}
