/**
 * The way from a store of the library to the open store behind it. It stays in
 * this room: a program that holds a `Store` cannot reach its engine or its fold
 * (the architecture test holds everybody else to that).
 */
import type { OpenStore } from '../store/store.ts';
import { assert } from '../util/errors.ts';

const OPENED = new WeakMap<object, OpenStore>();

export function setOpened(store: object, opened: OpenStore): void {
  OPENED.set(store, opened);
}

export function openedOf(store: object): OpenStore {
  const opened = OPENED.get(store);
  assert(opened !== undefined, 'a store that `open` gave');
  return opened;
}
