/**
 * A chain that grows and forks, a store of it, and a reader of the store's
 * events. What was unspent after each block is written down by the producer when
 * the block is made, so that the reader can be held against it at every event.
 *
 * The reader is a program with a database: it takes an event in and stores the
 * position in one transaction, or crashes before that, and comes back with the
 * position it stored last.
 */
import assert from 'node:assert/strict';
import { EventReaders } from '../../src/events/event-readers.ts';
import type { BlockEvent, RollbackEvent, StoreEvent, StoreEvents } from '../../src/events/store-events.ts';
import { outpointIndex, outpointTxId } from '../../src/ledgers/outpoint.ts';
import { readStored } from '../../src/projections/coin.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { UNSPENT } from '../../src/projections/utxo.ts';
import { bitcoinDialect } from '../../src/query/bitcoin/dialect.ts';
import type { Utxo } from '../../src/query/utxo.ts';
import type { Fold } from '../../src/state/fold.ts';
import { pruneStep, readPruned } from '../../src/state/pruned.ts';
import { toHex } from '../../src/util/bytes.ts';
import type { BitcoinRig } from '../support/bitcoin-rig.ts';
import type { Rig } from '../support/harness.ts';
import { PATIENCE_MS } from '../support/patience.ts';

interface WorldBlock {
  readonly hash: Uint8Array;
  readonly height: number;
  readonly slot: number;
}

type Unspent = ReadonlyMap<string, bigint>;

const NOTHING: Unspent = new Map();

/** What both families' rigs have. */
interface WorldRig {
  readonly fold: Fold;
  readonly projections: readonly Projection[];
  readonly blocks: readonly WorldBlock[];
  /** Makes a block, and says what is unspent then. */
  mine(): Unspent;
  /** Hands the blocks from that number on to the fold. */
  apply(from: number, sizes: readonly number[]): void;
  drop(depth: number): void;
  restart(): Promise<void>;
  close(): Promise<void>;
  readonly dialect: { parseId(text: string): Uint8Array };
}

const nameOf = (txId: Uint8Array, index: number): string => `${toHex(txId)}#${index}`;

export function cardanoWorld(rig: Rig): EventWorld {
  const { devnet } = rig;
  return new EventWorld({
    get fold() {
      return rig.fold;
    },
    projections: rig.projections,
    blocks: devnet.chain.blocks,
    mine() {
      devnet.chain.mine();
      return new Map(Array.from(devnet.chain.utxos.values(), ({ txId, index, lovelace }) => [nameOf(txId, index), lovelace]));
    },
    apply: (from, sizes) => rig.apply(devnet.blocks(from), sizes),
    drop: (depth) => devnet.chain.rollback(depth),
    restart: () => rig.restart(),
    close: () => rig.close(),
    dialect: { parseId: (text) => Buffer.from(text, 'hex') },
  });
}

export function bitcoinWorld(rig: BitcoinRig): EventWorld {
  const { chain } = rig;
  return new EventWorld({
    get fold() {
      return rig.fold;
    },
    projections: rig.projections,
    blocks: chain.blocks,
    mine() {
      chain.mine();
      return new Map(Array.from(chain.utxos.values(), ({ txId, index, value }) => [nameOf(txId, index), value]));
    },
    apply: (from, sizes) => rig.apply(chain.blocks.slice(from), sizes),
    drop: (depth) => chain.rollback(depth),
    restart: () => rig.restart(),
    close: () => rig.close(),
    dialect: bitcoinDialect(chain.network),
  });
}

export class EventWorld {
  readers: EventReaders;
  private readonly rig: WorldRig;
  private readonly unspentAfter = new Map<string, Unspent>();

  constructor(rig: WorldRig) {
    this.rig = rig;
    this.readers = this.newReaders();
  }

  get fold(): Fold {
    return this.rig.fold;
  }

  get blocks(): readonly WorldBlock[] {
    return this.rig.blocks;
  }

  /** Hash of the newest block; '' before the first. */
  get tip(): string {
    const tip = this.blocks.at(-1);
    return tip === undefined ? '' : toHex(tip.hash);
  }

  /** Height up to which what blocks did is forgotten. */
  get forgotten(): number {
    const { spent, deltas } = readPruned(this.fold.engine);
    return this.fold.options.selfContained ? deltas : Math.max(spent, deltas);
  }

  forward(count: number, sizes: readonly number[]): void {
    const from = this.blocks.length;
    for (let i = 0; i < count; i++) {
      const unspent = this.rig.mine();
      this.unspentAfter.set(this.tip, unspent);
    }
    this.rig.apply(from, sizes);
  }

  /** So many blocks are undone, if the horizon allows it. */
  back(depth: number): boolean {
    const to = this.blocks.at(-1 - depth) ?? null;
    const horizon = this.fold.horizonHeight;
    if (horizon !== null && (to === null || to.height <= horizon)) return false;
    this.fold.rollback(to);
    this.rig.drop(Math.min(depth, this.blocks.length));
    return true;
  }

  prune(blocksMax: number): void {
    const { fold, projections } = this.rig;
    pruneStep(fold.engine, projections, fold.head?.height ?? 0, fold.options, blocksMax);
  }

  /** As after a stop of the process. */
  async restart(): Promise<void> {
    this.readers.close();
    assert.equal(this.readers.heldSnapshots, 0);
    await this.rig.restart();
    this.readers = this.newReaders();
  }

  async close(): Promise<void> {
    this.readers.close();
    assert.equal(this.readers.heldSnapshots, 0);
    await this.rig.close();
  }

  unspentAt(hash: string): Unspent {
    if (hash === '') return NOTHING;
    const unspent = this.unspentAfter.get(hash);
    assert.ok(unspent !== undefined, `the chain once had block ${hash}`);
    return unspent;
  }

  isOnChain(hash: string): boolean {
    return hash === '' || this.blocks.some((block) => toHex(block.hash) === hash);
  }

  /** What the store itself says is unspent now. */
  stored(): ReadonlyMap<string, Row> {
    return new Map(
      Array.from(this.fold.engine.scan(UNSPENT), ([key, stored]) => {
        const { value, height } = readStored(stored);
        return [nameOf(outpointTxId(key), outpointIndex(key)), { value, height, spentAt: null }];
      }),
    );
  }

  private newReaders(): EventReaders {
    return new EventReaders(this.rig.fold, this.rig.fold.ledger, this.rig.dialect);
  }
}

interface Row {
  readonly value: bigint;
  readonly height: number;
  /** Null: unspent. */
  readonly spentAt: number | null;
}

/** What the reader's database holds. */
interface Database {
  readonly position: string;
  readonly rows: ReadonlyMap<string, Row>;
  /** Blocks it has, oldest first, with the one it began at. */
  readonly chain: readonly { readonly hash: string; readonly height: number }[];
}

export class EventReader {
  readonly counts = { applied: 0, undone: 0, rollback: 0, crashes: 0 };
  private readonly world: EventWorld;
  private database: Database;
  private events: StoreEvents | null = null;
  private isFirst = true;
  /** Height of the horizon when it took in the last event, where that was of the newest commit; -1: it could be any. */
  horizon = -1;
  /** Height it read the state at; what was spent up to there it never knew. */
  private readAt = -1;

  /** Begins at the origin, or with the state as it is. */
  constructor(world: EventWorld, from: 'origin' | 'now') {
    this.world = world;
    this.database = { position: 'origin', rows: new Map(), chain: [] };
    if (from === 'now') this.readAnew();
  }

  get isAttached(): boolean {
    return this.events !== null;
  }

  get at(): { readonly hash: string; readonly height: number } {
    return this.database.chain.at(-1) ?? { hash: '', height: -1 };
  }

  get hasEverything(): boolean {
    return this.at.hash === this.world.tip;
  }

  /** Blocks it is at or above that the chain does not have any more. */
  get depthOfFork(): number {
    const { chain } = this.database;
    const shared = chain.findLastIndex(({ hash }) => this.world.isOnChain(hash));
    return this.at.height - (chain[shared]?.height ?? -1);
  }

  attach(): void {
    this.events = this.world.readers.read({ after: this.database.position }, (event) => event);
    this.isFirst = true;
  }

  /** Takes the next event in and stores the position with it; `crash`: it never gets to that. */
  async take(crash: boolean): Promise<void> {
    assert.ok(this.events !== null && (!this.hasEverything || this.isFirst), 'there is something to wait for');
    assert.equal(this.events.isCurrent, false);
    const { done, value } = await inTime(this.events.next());
    assert.ok(done !== true, 'the events go on');
    assert.equal(this.events.position, value.position);
    if (value.kind === 'rollback' && (value.to?.height ?? -1) < this.readAt) {
      this.counts.rollback++;
      this.readAnew();
      return;
    }
    const after = this.transaction(value);
    this.isFirst = false;
    if (crash) this.detach();
    else {
      this.database = after;
      this.horizon = value.kind === 'applied' ? (this.world.fold.horizonHeight ?? -1) : -1;
    }
  }

  /** It is gone; what it has stored is not. */
  detach(): void {
    this.counts.crashes++;
    this.events?.end();
    this.events = null;
  }

  /** What the advice of EXPIRED says: the state as it is, and the events after its block. */
  readAnew(): void {
    this.events?.end();
    const { blocks, readers } = this.world;
    this.events = readers.read({}, (event) => event);
    this.isFirst = true;
    this.horizon = -1;
    this.readAt = blocks.at(-1)?.height ?? -1;
    this.database = {
      position: this.events.position,
      rows: this.world.stored(),
      chain: blocks.map((block) => ({ hash: toHex(block.hash), height: block.height })),
    };
  }

  /** Everything there is to hear, then the reader has what the store has. */
  async drain(): Promise<void> {
    while (!this.hasEverything) await this.take(false);
    assert.equal(this.events?.isCurrent, true);
    assertSame(unspentIn(this.database.rows), unspentIn(this.world.stored()));
  }

  private transaction(event: StoreEvent): Database {
    this.counts[event.kind]++;
    if (event.kind === 'rollback') {
      assert.ok(this.isFirst, 'only while nobody listened is anything lost');
      return this.rollback(event);
    }
    return event.kind === 'applied' ? this.applied(event) : this.undone(event);
  }

  private applied({ block, created, spent, position, txs }: BlockEvent): Database {
    const { chain } = this.database;
    const hash = toHex(block.hash);
    if (chain.length > 0) assert.equal(toHex(block.prevHash), chain.at(-1)?.hash, 'a block follows the one before it');
    assert.equal(txs.length, block.txCount);
    const rows = new Map(this.database.rows);
    for (const utxo of created) {
      assert.equal(utxo.spent, null);
      assert.ok(!rows.has(name(utxo)), `${name(utxo)} is created once`);
      rows.set(name(utxo), { value: utxo.output.value, height: block.height, spentAt: null });
    }
    for (const utxo of spent) {
      assert.equal(utxo.spent?.height, block.height);
      const row = rows.get(name(utxo));
      assert.deepEqual([row?.value, row?.spentAt], [utxo.output.value, null], `${name(utxo)} is spent once`);
      rows.set(name(utxo), { ...row!, spentAt: block.height });
    }
    return this.checked({ position, rows, chain: [...chain, { hash, height: block.height }] }, hash);
  }

  private undone({ block, created, spent, position }: BlockEvent): Database {
    const { chain } = this.database;
    assert.equal(toHex(block.hash), chain.at(-1)?.hash, 'blocks are undone newest first');
    const rows = new Map(this.database.rows);
    for (const utxo of spent) {
      const row = rows.get(name(utxo));
      // What was spent before a reader read the state anew is not in its database.
      assert.deepEqual([row?.value ?? utxo.output.value, row?.spentAt ?? block.height], [utxo.output.value, block.height]);
      rows.set(name(utxo), { value: utxo.output.value, height: row?.height ?? utxo.output.height, spentAt: null });
    }
    for (const utxo of created) {
      assert.equal(rows.get(name(utxo))?.spentAt, null, `${name(utxo)} is unspent before it is gone`);
      rows.delete(name(utxo));
    }
    return this.checked({ position, rows, chain: chain.slice(0, -1) }, chain.at(-2)?.hash ?? '');
  }

  private rollback({ to, position }: RollbackEvent): Database {
    const height = to?.height ?? -1;
    const rows = new Map<string, Row>();
    for (const [key, row] of this.database.rows) {
      if (row.height > height) continue;
      rows.set(key, row.spentAt !== null && row.spentAt > height ? { ...row, spentAt: null } : row);
    }
    const hash = to === null ? '' : toHex(to.hash);
    const chain = this.database.chain.slice(0, 1 + this.database.chain.findLastIndex((block) => block.hash === hash));
    assert.equal(chain.at(-1)?.hash ?? '', hash, 'back at a block the reader had');
    return this.checked({ position, rows, chain }, hash);
  }

  private checked(database: Database, hash: string): Database {
    assertSame(unspentIn(database.rows), this.world.unspentAt(hash));
    return database;
  }
}

/** What must come; a reader that is told nothing is a failure that says so. */
async function inTime<T>(coming: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('there are events, and the reader is told none')), PATIENCE_MS);
  return await Promise.race([coming, late]).finally(() => clearTimeout(timer));
}

function name({ txId, index }: Utxo): string {
  return nameOf(txId, index);
}

function unspentIn(rows: ReadonlyMap<string, Row>): Unspent {
  return new Map(Array.from(rows).flatMap(([key, { value, spentAt }]) => (spentAt === null ? [[key, value] as const] : [])));
}

function assertSame(actual: Unspent, expected: Unspent): void {
  assert.equal(actual.size, expected.size, 'as many outputs are unspent');
  for (const [key, value] of expected) assert.equal(actual.get(key), value, key);
}
