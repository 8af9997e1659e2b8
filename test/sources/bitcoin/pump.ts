/**
 * The real pump, from a source into a fold on the memory engine, and what a
 * source says when nobody folds it.
 */
import assert from 'node:assert/strict';
import { openMemory } from '../../../src/engine/memory.ts';
import { type BitcoinNetwork, bitcoinLedger, decodeBlock, formatId, headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import type { Point } from '../../../src/ledgers/ledger.ts';
import { chainProjection } from '../../../src/projections/chain.ts';
import { indexProjection } from '../../../src/projections/index/by-key.ts';
import { transactionsProjection } from '../../../src/projections/transactions.ts';
import { utxoProjection } from '../../../src/projections/utxo.ts';
import { type FollowFoldOptions, type FollowResult, follow } from '../../../src/sources/follow.ts';
import type { FollowOptions, OwnChain, Run, Source } from '../../../src/sources/source.ts';
import { deltaColumn } from '../../../src/state/delta.ts';
import { Fold } from '../../../src/state/fold.ts';
import { equalBytes } from '../../../src/util/bytes.ts';
import { isUnspentError, type UnspentError } from '../../../src/util/errors.ts';
import { eventually } from '../../support/patience.ts';

export function memoryFold(network: BitcoinNetwork, window = 300): Fold {
  const ledger = bitcoinLedger(network);
  const projections = [chainProjection(), transactionsProjection(ledger), utxoProjection(ledger), indexProjection('address', ledger)];
  const engine = openMemory([...projections.flatMap(({ columns }) => columns), deltaColumn]);
  const options = { utxo: true, partial: false, selfContained: false, pruneDepth: window, rollbackWindow: window, fsync: false };
  return new Fold(engine, bitcoinLedger(network), projections, options);
}

export function pump(source: Source, fold: Fold, network: BitcoinNetwork, options: Partial<FollowFoldOptions> = {}): Promise<FollowResult> {
  return follow(source, fold, bitcoinLedger(network), {
    until: { kind: 'end' },
    follow: false,
    groupBlocks: 50,
    signal: new AbortController().signal,
    ...options,
  });
}

const running = new Set<Following>();

/** For the end of a test: whatever it left running would go on for ever. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((following) => following.stop()));
}

/** A pump that stays at the tip until it is told to stop. */
export class Following {
  readonly fold: Fold;
  readonly turns: string[] = [];
  private readonly stopping = new AbortController();
  private readonly done: Promise<FollowResult | UnspentError>;

  constructor(source: Source, network: BitcoinNetwork, fold = memoryFold(network), options: Partial<FollowFoldOptions> = {}) {
    this.fold = fold;
    running.add(this);
    const onRollback = (to: Point | null, undone: number): unknown => this.turns.push(`${to?.height ?? 'origin'} -${undone}`);
    const { signal } = this.stopping;
    this.done = pump(source, fold, network, { follow: true, signal, onRollback, ...options }).catch((error) => {
      if (!isUnspentError(error)) throw error;
      return error;
    });
  }

  /** Waits until the fold's tip is that block. */
  async reach(hash: string): Promise<void> {
    await eventually(() => assert.equal(this.fold.head === null ? null : formatId(this.fold.head.hash), hash));
  }

  async stop(): Promise<FollowResult | UnspentError> {
    this.stopping.abort();
    running.delete(this);
    return this.done;
  }

  /** The error it ends with by itself. */
  async failure(): Promise<UnspentError> {
    const end = await this.done;
    return isUnspentError(end) ? end : assert.fail('it ended well');
  }
}

/** Steps as words: `+height hash` and `-height`. */
export function steps(runs: readonly Run[]): string[] {
  return runs.flatMap(({ events }) =>
    events.map((event) => (event.kind === 'back' ? `-${event.point?.height ?? 'origin'}` : `+${event.height} ${hashOf(event.raw)}`)),
  );
}

export function hashOf(raw: Uint8Array): string {
  return formatId(headerHash(raw));
}

export function pointOf(raw: Uint8Array, height: number): Point {
  return { height, slot: height, hash: headerHash(raw) };
}

/** A reader that has these blocks, from the first on. */
export function ownChain(chain: readonly Uint8Array[], recent: readonly Point[] = []): OwnChain {
  const points = chain.map(pointOf);
  return {
    recentPoints: () => recent,
    pointOf: (hash) => points.find((point) => equalBytes(point.hash, hash)) ?? null,
    horizonHeight: null,
    blocksFrom: (height) => chain.slice(height).map((raw, i) => decodeBlock(raw, height + i)),
  };
}

export interface Told {
  readonly runs: Run[];
  readonly error: UnspentError | undefined;
}

/** Everything a source says, up to its end or its typed failure. */
export async function tell(source: Source, options: Partial<FollowOptions> = {}): Promise<Told> {
  const runs: Run[] = [];
  try {
    for await (const run of source.runs({ from: [], signal: new AbortController().signal, follow: false, ...options })) runs.push(run);
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    return { runs, error };
  }
  return { runs, error: undefined };
}
