/**
 * What a transaction store may be started with (F8). A window that is smaller
 * than the deepest reorganisation lets a pass delete what that reorganisation
 * needs, so such settings are refused.
 */
import { UnspentError } from '../../util/errors.ts';
import type { TxStoreSettings } from '../store.ts';
import { isHeight } from './heights.ts';

/** The deepest reorganisation that the node accepts, in blocks. `force`: retention below the window is accepted. */
export interface ReorganisationLimit {
  readonly depthMax: number;
  readonly force?: boolean;
}

/** Throws CONFIG. */
export function checkTxStoreSettings({ retention, window }: TxStoreSettings, { depthMax, force = false }: ReorganisationLimit): void {
  const refuse = (words: string): UnspentError => new UnspentError('CONFIG', words, { retention, window, depthMax });
  for (const [name, value] of Object.entries({ retention, window, depthMax }))
    if (!isHeight(value)) throw refuse(`the ${name} of the transaction store is a number of blocks, not ${value}`);
  if (force) return;
  if (window < depthMax)
    throw refuse(`a window of ${window} blocks is smaller than the deepest reorganisation that is accepted (${depthMax})`);
  if (retention > 0 && retention < window) throw refuse(`a retention of ${retention} blocks is smaller than the window of ${window}`);
}
