/**
 * What is said of a store while it is followed, besides where it is: one line for
 * each thing that happens in a projection and that an operator should hear of. A
 * projection that has something to say has a line here.
 */
import { watchDivergence } from './cardano/cage-divergence.ts';
import type { OpenStore } from './store.ts';

const watchPruning = ({ txs }: OpenStore, tell: (line: string) => void): (() => void) => txs?.onRemark(tell) ?? (() => {});

const REMARKS = [watchDivergence, watchPruning];

/** Begins to tell; returns how to stop. */
export function watchRemarks(store: OpenStore, tell: (line: string) => void): () => void {
  const stops = REMARKS.map((watch) => watch(store, tell));
  return () => {
    for (const stop of stops) stop();
  };
}
