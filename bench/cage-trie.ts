/**
 * One trie as the projection of cages keeps it, on RocksDB: how insertions,
 * proofs and the list of all facts behave as it grows. Facts are written by the
 * parts of the projection that write them; there are no blocks around them.
 */
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import type { Engine, Reader } from '../src/engine/engine.ts';
import { openEngineIn } from '../src/engine/open.ts';
import { CageChanges } from '../src/projections/cardano/cage/changes.ts';
import {
  CAGE,
  CAGE_NODES,
  CAGE_VALUES,
  cageColumns,
  encodeFact,
  encodeToken,
  encodeTrie,
  factKey,
  tokenKey,
  trieKey,
} from '../src/projections/cardano/cage/rows.ts';
import { TrieCache } from '../src/projections/cardano/cage/trie-cache.ts';
import { CageTries } from '../src/projections/cardano/cage/tries.ts';
import { CageQuery, type CageToken } from '../src/query/cardano/cage.ts';
import { ByteWriter } from '../src/util/byte-writer.ts';
import { utf8 } from '../src/util/bytes.ts';
import { round, temporary } from './support.ts';

/** Microseconds. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

interface SizeFigures {
  readonly facts: number;
  readonly insert: Spread;
  /** Microseconds of processor time of the fold's thread for one insertion: a busy machine changes it little. */
  readonly insertCpu: number;
  /** Nodes that one insertion reads from the engine, the top included. */
  readonly insertReads: number;
  readonly proof: Spread;
}

export interface TrieFigures {
  readonly sizes: readonly SizeFigures[];
  /** An insertion at the largest size to one at the smallest, both at p50. */
  readonly insertGrowth: number;
  /** The same of processor time. */
  readonly insertCpuGrowth: number;
  /** Megabytes of nodes in memory at the largest size. */
  readonly cacheMb: number;
  readonly listing: { readonly facts: number; readonly perSecond: number; readonly grownMb: number };
}

const SMALL_FACTS = 10_000;
/** At each size; the first ones compile the code and are not counted. */
const MEASURED = 2000;
const WARMING = 500;
/** Facts of one commit while it grows. */
const GROW_FACTS = 1000;
const TRIE = 0;
const ID = { policy: new Uint8Array(28).fill(1), name: new Uint8Array(32).fill(2) };

export async function measureTrie(facts: number): Promise<TrieFigures> {
  const folder = temporary('cage-trie');
  const { engine: settings } = loadConfig({ env: {} }).config;
  const engine = await openEngineIn(join(folder.path, 'db'), cageColumns, { ...settings, createIfMissing: true });
  try {
    const trie = new GrowingTrie(engine);
    const sizes = [Math.min(SMALL_FACTS, facts), facts].map((size) => trie.measureAt(size));
    return {
      sizes,
      insertGrowth: round(sizes[1].insert.p50 / sizes[0].insert.p50, 2),
      insertCpuGrowth: round(sizes[1].insertCpu / sizes[0].insertCpu, 2),
      cacheMb: trie.cacheMb,
      listing: trie.list(),
    };
  } finally {
    await engine.close();
    folder.remove();
  }
}

class GrowingTrie {
  private readonly engine: Engine;
  private readonly cache = new TrieCache();
  private readonly writer = new ByteWriter();
  private facts = 0;
  private root = new Uint8Array(32);
  private nodesRead = 0;
  private readonly view: Reader;

  constructor(engine: Engine) {
    this.engine = engine;
    const count = (column: string, keys: number): void => {
      if (column === CAGE_NODES) this.nodesRead += keys;
    };
    this.view = {
      get: (column, key) => {
        count(column, 1);
        return engine.get(column, key);
      },
      getMany: (column, keys) => {
        count(column, keys.length);
        return engine.getMany(column, keys);
      },
      scan: (column, options) => engine.scan(column, options),
    };
  }

  get cacheMb(): number {
    return round(this.cache.bytesKept / 1e6, 1);
  }

  /** The insertions that are measured are the last ones before it has that size. */
  measureAt(size: number): SizeFigures {
    const measured = Math.min(MEASURED + WARMING, size - this.facts);
    while (this.facts < size - measured) this.insert(Math.min(GROW_FACTS, size - measured - this.facts));
    const warming = Math.min(WARMING, measured >> 1);
    for (let i = 0; i < warming; i++) this.insert(1);
    const before = { cpu: process.threadCpuUsage(), nodesRead: this.nodesRead };
    const insert = spreadOf(Array.from({ length: measured - warming }, () => micros(() => this.insert(1))));
    const { user, system } = process.threadCpuUsage(before.cpu);
    const insertCpu = round((user + system) / (measured - warming), 1);
    const insertReads = round((this.nodesRead - before.nodesRead) / (measured - warming), 2);
    this.writeToken();
    return this.read((query, token) => {
      const proofs = Array.from({ length: MEASURED + WARMING }, (_, i) => micros(() => query.proof(token, keyOf((i * 7919) % this.facts))));
      return { facts: this.facts, insert, insertCpu, insertReads, proof: spreadOf(proofs.slice(WARMING)) };
    });
  }

  /** So many new facts in one commit, with their undo, as a block would have them. */
  private insert(count: number): void {
    const changes = new CageChanges(this.view);
    const tries = new CageTries(this.view, this.cache);
    const added = Array.from({ length: count }, (_, i) => ({ key: keyOf(this.facts + i), value: utf8(`value of fact ${this.facts + i}`) }));
    for (const { key, value } of added) changes.put(CAGE_VALUES, factKey(TRIE, key), encodeFact(this.facts, value));
    this.facts += count;
    changes.put(CAGE, trieKey(TRIE), encodeTrie({ facts: this.facts, hiddenAt: null }));
    this.root = Uint8Array.from(tries.update(TRIE, added));
    changes.endBlock(this.writer);
    const batch = this.engine.batch();
    changes.flush(batch);
    tries.flush(batch);
    batch.commit();
  }

  private writeToken(): void {
    const state = { owner: new Uint8Array(28), root: this.root, terms: { tip: 0n, processTime: 1n, retractTime: 1n } };
    const token = { version: 'v2', status: 'consistent', trie: TRIE, txId: new Uint8Array(32), index: 0, state } as const;
    const batch = this.engine.batch();
    batch.put(CAGE, tokenKey(ID), encodeToken({ ...token, requestScript: null, migratedFrom: null }));
    batch.commit();
  }

  private read<T>(body: (query: CageQuery, token: CageToken) => T): T {
    const snapshot = this.engine.snapshot(cageColumns.map(({ name }) => name));
    try {
      const query = new CageQuery(snapshot);
      return body(query, query.token(ID)!);
    } finally {
      snapshot.release();
    }
  }

  /** Resident memory is looked at from a tenth of the list on: until then caches fill. */
  list(): TrieFigures['listing'] {
    return this.read((query, token) => {
      const started = performance.now();
      let [facts, first, most] = [0, 0, 0];
      for (const _ of query.facts(token)) {
        if (++facts % 1000 !== 0) continue;
        const { rss } = process.memoryUsage();
        if (facts <= this.facts / 10) first = rss;
        most = Math.max(most, rss);
      }
      const seconds = (performance.now() - started) / 1000;
      return { facts, perSecond: round(facts / seconds, 0), grownMb: round((most - first) / 1e6, 1) };
    });
  }
}

const keyOf = (number: number): Uint8Array => utf8(`fact ${number}`);

function micros(body: () => unknown): number {
  const started = performance.now();
  body();
  return 1000 * (performance.now() - started);
}

function spreadOf(times: readonly number[]): Spread {
  const sorted = [...times].sort((a, b) => a - b);
  return { p50: round(sorted[sorted.length >> 1], 1), p99: round(sorted[Math.floor(0.99 * sorted.length)], 1) };
}
