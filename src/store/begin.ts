/**
 * Makes a store that begins with outputs from elsewhere: a snapshot, or a node's
 * own set.
 *
 * It is written into the directory the store will have, under a mark in
 * unspent.json that keeps everybody from opening it. The mark goes when all of it
 * was found to be right and is on the disk. What fails leaves nothing behind;
 * what is killed leaves the mark, and the next import begins anew.
 */
import type { Config } from '../config/schema.ts';
import { readIdentity, writeIdentity } from '../engine/directory.ts';
import type { Engine } from '../engine/engine.ts';
import { isUnspentError } from '../util/errors.ts';
import { NewDirectory, openEngine } from './directory.ts';
import type { StoreIdentity, StorePlan } from './identity.ts';
import type { ShapeChange } from './shape.ts';
import { clearUnfinished } from './unfinished.ts';

interface NewStore {
  readonly data: string;
  readonly config: Config;
  readonly shape: ShapeChange;
  readonly facts: StorePlan['facts'];
}

/** `load` puts everything into an empty database. Throws STORE_EXISTS, STORE_LOCKED, and what `load` throws. */
export async function beginStore<T>({ data, config, shape, facts }: NewStore, load: (engine: Engine) => Promise<T>): Promise<T> {
  await clearUnfinished(data, readIdentity(data) as StoreIdentity | null);
  const made = new NewDirectory(data);
  writeIdentity(data, { ...facts, ...shape.after, importing: true });
  let loaded: T;
  try {
    const engine = await openEngine(data, config, shape);
    try {
      loaded = await load(engine);
    } finally {
      await engine.close();
    }
  } catch (error) {
    if (!isUnspentError(error, 'STORE_LOCKED')) made.remove();
    throw error;
  }
  writeIdentity(data, { ...facts, ...shape.after, begun: true });
  return loaded;
}
