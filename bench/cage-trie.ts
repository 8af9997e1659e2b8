/**
 * Tries as the projection of cages keeps them, on RocksDB: how insertions, proofs
 * and the list of all facts behave in a small and a large one. Facts are written by the
 * parts of the projection that write them; there are no blocks around them.
 */
import { existsSync, readFileSync } from 'node:fs';
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

/** Microseconds, of what ran through: where the system gave the processor to others meanwhile, it is counted and left out. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly interrupted: number;
}

interface SizeFigures {
  readonly facts: number;
  readonly insert: Spread;
  /** Microseconds of processor time of the thread, on average: on a busy machine the time that passes says little. */
  readonly insertCpu: number;
  /** Nodes that one insertion reads from the engine, the top included. */
  readonly insertReads: number;
  readonly proof: Spread;
}

export interface TrieFigures {
  readonly sizes: readonly SizeFigures[];
  /** An insertion into the large trie to one into the small, both at p50. */
  readonly insertGrowth: number;
  /** The same of processor time. */
  readonly insertCpuGrowth: number;
  /** Megabytes of nodes in memory of the large trie. */
  readonly cacheMb: number;
  readonly listing: { readonly facts: number; readonly perSecond: number; readonly grownMb: number };
}

const SMALL_FACTS = 10_000;
/** Of each kind, at each size; the first ones compile the code and are not counted. */
const MEASURED = 2000;
const WARMING = 3000;
const ROUNDS = 10;
/** Facts of one commit while it grows. */
const GROW_FACTS = 1000;
const TRIE = 0;
const ID = { policy: new Uint8Array(28).fill(1), name: new Uint8Array(32).fill(2) };

export async function measureTrie(facts: number): Promise<TrieFigures> {
  return withTrie((small) =>
    withTrie((large) => {
      small.prepare(SMALL_FACTS);
      large.prepare(facts);
      // In turns, so that what else the machine does is the same for both.
      for (let i = 0; i < ROUNDS; i++) for (const trie of i % 2 === 0 ? [small, large] : [large, small]) trie.measureRound();
      const [first, last] = [small.figures(), large.figures()];
      return {
        sizes: [first, last],
        insertGrowth: round(last.insert.p50 / first.insert.p50, 2),
        insertCpuGrowth: round(last.insertCpu / first.insertCpu, 2),
        cacheMb: large.cacheMb,
        listing: large.list(),
      };
    }),
  );
}

/** In a store of its own. */
async function withTrie<T>(body: (trie: GrowingTrie) => T | Promise<T>): Promise<T> {
  const folder = temporary('cage-trie');
  const { engine: settings } = loadConfig({ env: {} }).config;
  const engine = await openEngineIn(join(folder.path, 'db'), cageColumns, { ...settings, createIfMissing: true });
  try {
    return await body(new GrowingTrie(engine));
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
  /** Of the insertions that are measured. */
  private readonly times: (number | null)[] = [];
  private cpu = 0;
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

  /** Lets it grow until only the insertions that are measured are missing. */
  prepare(size: number): void {
    const alone = WARMING + 2 * MEASURED;
    while (this.facts < size - alone) this.insert(Math.min(GROW_FACTS, size - alone - this.facts));
    this.insertAlone(WARMING);
    this.nodesRead = 0;
  }

  /** As many insertions whose processor time counts as ones whose time does: to ask whether they were interrupted takes some of it. */
  measureRound(): void {
    const before = process.threadCpuUsage();
    this.insertAlone(MEASURED / ROUNDS);
    const { user, system } = process.threadCpuUsage(before);
    this.cpu += user + system;
    for (let i = 0; i < MEASURED / ROUNDS; i++) this.times.push(micros(() => this.insert(1)));
  }

  figures(): SizeFigures {
    this.writeToken();
    const [insertCpu, insertReads] = [round(this.cpu / MEASURED, 1), round(this.nodesRead / (2 * MEASURED), 2)];
    return this.read((query, token) => {
      const proofs = Array.from({ length: MEASURED + WARMING }, (_, i) => micros(() => query.proof(token, keyOf((i * 7919) % this.facts))));
      return { facts: this.facts, insert: spreadOf(this.times), insertCpu, insertReads, proof: spreadOf(proofs.slice(WARMING)) };
    });
  }

  private insertAlone(count: number): void {
    for (let i = 0; i < count; i++) this.insert(1);
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

/** How often the system has taken the processor from this thread; null: it does not say. */
function preemptions(): string | null {
  const status = '/proc/thread-self/status';
  return existsSync(status) ? (/^nonvoluntary_ctxt_switches:\s*(\d+)$/m.exec(readFileSync(status, 'latin1'))?.[1] ?? null) : null;
}

/** Microseconds; null: others had the processor meanwhile. */
function micros(body: () => unknown): number | null {
  const before = preemptions();
  const started = performance.now();
  body();
  const passed = 1000 * (performance.now() - started);
  return preemptions() === before ? passed : null;
}

function spreadOf(times: readonly (number | null)[]): Spread {
  const sorted = times.filter((time) => time !== null).sort((a, b) => a - b);
  const at = (part: number): number => round(sorted[Math.floor(part * sorted.length)] ?? Number.NaN, 1);
  return { p50: at(0.5), p99: at(0.99), interrupted: times.length - sorted.length };
}
