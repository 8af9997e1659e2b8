/** The transaction store in memory tells the stories of safe deletion. */
import { MemoryTxStore } from '../../src/txstore/memory/index.ts';
import { runTxScenarios } from './scenarios.ts';
import type { OpenedTxStore, OpenTxStore } from './support/world.ts';

const openMemory: OpenTxStore = async (settings, limit) => {
  const store = new MemoryTxStore(settings, limit);
  const opened: OpenedTxStore = {
    store,
    records: async () => store.records(),
    checkIndexes: async () => {},
    reopen: async () => opened,
    close: () => store.close(),
  };
  return opened;
};

runTxScenarios('in memory', openMemory);
