/**
 * A change of what the store keeps, in words: what is being filled and how far
 * it is, what was dropped.
 */
import type { OpenStore, StoreStatus } from '../store/store.ts';
import type { Context } from './context.ts';
import { counted } from './format.ts';

/** `index.asset 34.1%, datums 34.1%`; empty when there is nothing to fill. */
export function fillText(fills: StoreStatus['fills']): string {
  return fills.map(({ projection, done }) => `${projection} ${percent(done)}`).join(', ');
}

/** Not rounded up: what is not done does not say 100. */
export function percent(share: number): string {
  return `${(Math.floor(1000 * share) / 10).toFixed(1)}%`;
}

/** Said once, before the work begins. */
export function remarkShape({ output }: Context, store: OpenStore): void {
  const { removed } = store.reshaped;
  if (removed.length > 0) output.remark(`switched off, and dropped: ${removed.join(', ')}`);
  const fills = store.fills();
  if (fills.length === 0) return;
  output.remark(`filling ${fillText(fills)} from ${counted(store.fold.head?.utxos ?? 0, 'unspent output')}`);
}
