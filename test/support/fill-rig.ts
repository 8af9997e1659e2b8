/**
 * A fold whose projections are switched on and off while it is at work, and
 * what must be true of it at any moment: the columns of a projection that is
 * filling are those of an unspent set that ends at its cursor; the columns of
 * one that is ready are those of a store that had it from the first block.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ColumnSpec, Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import type { Block, Ledger } from '../../src/ledgers/ledger.ts';
import { CHAIN } from '../../src/projections/chain.ts';
import type { Coin } from '../../src/projections/coin.ts';
import { coinOfRow } from '../../src/projections/packed.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { UNSPENT } from '../../src/projections/utxo.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { deleteFill, type FillLimits, Fills, readFills, writeFillStart } from '../../src/state/fill.ts';
import { Fold } from '../../src/state/fold.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { compareBytes, toHex } from '../../src/util/bytes.ts';
import { assertSameRows, type Devnet, type Dump, dump, KEEP_ALL, memoryRig, type Rig, type RigOptions, rowsOf } from './harness.ts';
import { keep } from './keep.ts';

const OPTIONS = { utxo: true, partial: false, selfContained: false, pruneDepth: 2160, rollbackWindow: 4320, fsync: false };

/** Everything a store can keep, made anew. */
export function everyProjection(devnet: Devnet): readonly Projection[] {
  return selectProjections(KEEP_ALL, devnet.ledger);
}

export function switchable(devnet: Devnet): string[] {
  return everyProjection(devnet).flatMap(({ name, fillable }) => (fillable === undefined ? [] : [name]));
}

export class FillRig {
  readonly devnet: Devnet;
  engine: Engine;
  fills!: Fills;
  fold!: Fold;
  readonly on = new Set<string>();
  private readonly openEngine: () => Promise<Engine>;
  private readonly directory: string | null;
  private readonly options: RigOptions;
  private straight: { readonly rig: Rig; readonly blocks: readonly Block[]; readonly rows: Dump } | null = null;

  private constructor(devnet: Devnet, options: RigOptions, engine: Engine, directory: string | null, openEngine: () => Promise<Engine>) {
    this.devnet = devnet;
    this.options = options;
    this.engine = engine;
    this.directory = directory;
    this.openEngine = openEngine;
    this.load();
  }

  static memory(devnet: Devnet, options: RigOptions = {}): FillRig {
    const { wrap = (engine) => engine } = options;
    const engine = wrap(openMemory(columnsOf(devnet)));
    return new FillRig(devnet, options, engine, null, async () => engine);
  }

  static async rocks(devnet: Devnet, options: RigOptions = {}): Promise<FillRig> {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-fill-'));
    const open = () =>
      openEngineIn(directory, columnsOf(devnet), { kind: 'rocks', createIfMissing: true, memtableBytes: 8 << 20, cacheBytes: 8 << 20 });
    return new FillRig(devnet, options, await open(), directory, open);
  }

  /** As after a start: what is known is what the engine holds. */
  private load(): void {
    const kept = everyProjection(this.devnet).filter(({ name, fillable }) => fillable === undefined || this.on.has(name));
    this.fills = new Fills(this.engine, kept, this.devnet.ledger);
    this.fold = new Fold(this.engine, this.devnet.ledger, this.fills.projections, { ...OPTIONS, ...this.options });
  }

  async restart(): Promise<void> {
    if (this.directory !== null) {
      await this.engine.close();
      this.engine = await this.openEngine();
    }
    this.load();
  }

  switchOn(names: readonly string[]): void {
    const batch = this.engine.batch();
    for (const name of names.filter((each) => !this.on.has(each))) {
      this.on.add(name);
      if (this.fold.head !== null) writeFillStart(batch, name);
    }
    batch.commit();
    this.load();
  }

  switchOff(names: readonly string[]): void {
    for (const { name, columns, reserved } of everyProjection(this.devnet)) {
      if (!names.includes(name) || !this.on.delete(name)) continue;
      for (const column of columns) this.engine.clear(column.name);
      const batch = this.engine.batch();
      for (const key of reserved ?? []) batch.del(CHAIN, key);
      deleteFill(batch, name);
      batch.commit();
    }
    this.load();
  }

  forward(count: number, sizes: readonly number[]): void {
    const blocks = this.devnet.mine(count);
    for (let at = 0, i = 0; at < blocks.length; at += sizes[i++ % sizes.length]) {
      this.fold.apply(blocks.slice(at, at + sizes[i % sizes.length]));
    }
  }

  back(blocks: number): void {
    const depth = Math.min(blocks, this.devnet.chain.blocks.length);
    assert.equal(this.fold.rollback(this.devnet.pointBelow(depth)), depth);
    this.devnet.chain.rollback(depth);
  }

  /** To the end; returns the number of steps. */
  fill(limits?: FillLimits): number {
    let steps = 0;
    for (; !this.fills.isDone; steps++) this.fills.step(limits);
    return steps;
  }

  cursors(): ReadonlyMap<string, Uint8Array> {
    return readFills(this.engine);
  }

  /** What holds after every commit. */
  assertInvariant(when: string): void {
    const cursors = this.cursors();
    assert.deepEqual(
      this.fills.progress().map(({ projection }) => projection),
      everyProjection(this.devnet).flatMap(({ name }) => (cursors.has(name) ? [name] : [])),
      `${when}: what is filling`,
    );
    const every = everyProjection(this.devnet);
    const off = every.filter(({ name, fillable }) => fillable !== undefined && !this.on.has(name));
    const on = every.filter((projection) => !off.includes(projection));
    assertAsCursorsSay(this.engine, on, this.devnet.ledger, when);
    for (const { name } of off.flatMap(({ columns }) => columns)) assertSameRows(rowsOf(this.engine, name), [], `${when}: ${name} is off`);
    for (const key of off.flatMap(({ reserved }) => reserved ?? []))
      assert.equal(this.engine.get(CHAIN, key), undefined, `${when}: it is off`);
  }

  /** What a store has that kept everything from the first block, a block at a time. The last one goes on where the chain has only grown since. */
  private fromGenesis(): Dump {
    const blocks = this.devnet.blocks();
    if (this.straight?.blocks.some((block, i) => block !== blocks[i]) ?? true)
      this.straight = { rig: memoryRig(this.devnet, this.options), blocks: [], rows: new Map() };
    const { rig, blocks: known, rows } = this.straight!;
    if (known.length > 0 && known.length === blocks.length) return rows;
    for (const block of blocks.slice(known.length)) rig.fold.apply([block]);
    this.straight = { rig, blocks, rows: dump(rig.engine) };
    return this.straight.rows;
  }

  /** Everything that is ready is what it would be had it been on from the start; the rest of the store, too. */
  assertAsFromGenesis(when: string): void {
    const expected = this.fromGenesis();
    const filling = this.cursors();
    const isReady = ({ name, fillable }: Projection): boolean => fillable === undefined || (this.on.has(name) && !filling.has(name));
    const every = everyProjection(this.devnet);
    const unready = every.filter((projection) => !isReady(projection)).flatMap(({ reserved }) => (reserved ?? []).map((key) => toHex(key)));
    const ready = (row: string): boolean => !isFillRow(row) && !unready.includes(row.slice(0, row.indexOf(' ')));
    for (const { columns, fillable } of every.filter(isReady)) {
      for (const column of columns) {
        const actual = rowsOf(this.engine, column.name).filter(ready);
        if (fillable === 'outputs') assertNoneInvented(actual, expected.get(column.name)!, `${when}: ${column.name}`);
        else assertSameRows(actual, expected.get(column.name)!.filter(ready), `${when}: ${column.name}`);
      }
    }
    const seen = (name: string) => this.on.has(name) && !filling.has(name);
    const wanted = { projections: keep(...['datums', 'scripts'].filter(seen)) };
    assert.deepEqual(verifyStore(this.engine, this.devnet.ledger, wanted).faults, [], `${when}: every unspent output has its row`);
  }

  async close(): Promise<void> {
    await this.engine.close();
    if (this.directory !== null) rmSync(this.directory, { recursive: true, force: true });
  }
}

/** What is a function of the unspent set is that function of the outputs up to its cursor. */
export function assertAsCursorsSay(engine: Engine, projections: readonly Projection[], ledger: Ledger, when: string): void {
  const cursors = readFills(engine);
  const coins = Array.from(engine.scan(UNSPENT), ([key, value]) => coinOfRow(key, value, ledger));
  for (const projection of projections.filter(({ fillable }) => fillable === 'exact')) {
    // The column of the chain, for rows of its own there.
    const scratch = openMemory([...projection.columns, { name: CHAIN, access: 'order', weight: 1 }]);
    const batch = scratch.batch();
    projection.apply({ blocks: [], added: upTo(coins, cursors.get(projection.name)), removed: [] }, scratch, batch);
    batch.commit();
    for (const { name } of projection.columns) assertSameRows(rowsOf(engine, name), rowsOf(scratch, name), `${when}: ${name}`);
    for (const key of projection.reserved ?? [])
      assert.deepEqual(engine.get(CHAIN, key), scratch.get(CHAIN, key), `${when}: ${projection.name}`);
  }
}

function columnsOf(devnet: Devnet): ColumnSpec[] {
  return [...everyProjection(devnet).flatMap((projection) => projection.columns), deltaColumn];
}

/** A cursor undefined: all. */
function upTo(coins: readonly Coin[], cursor: Uint8Array | undefined): readonly Coin[] {
  return cursor === undefined ? coins : coins.filter(({ keyBytes }) => compareBytes(keyBytes, cursor) <= 0);
}

/** `ff` and `fill.` in the column of the chain. */
function isFillRow(row: string): boolean {
  return row.startsWith(`ff${Buffer.from('fill.').toString('hex')}`);
}

/** Hashes and their bytes are those the whole chain shows; the place may be a later one. */
function assertNoneInvented(actual: readonly string[], whole: readonly string[], what: string): void {
  const known = new Map(whole.map((row) => row.split(' ') as [string, string]));
  for (const row of actual) {
    const [hash, value] = row.split(' ');
    const other = known.get(hash);
    assert.ok(other !== undefined, `${what}: ${hash} was never seen on this chain`);
    assert.equal(value.slice(PLACE_DIGITS), other.slice(PLACE_DIGITS), `${what}: the bytes of ${hash}`);
  }
}

/** Of height, slot, transaction and output index. */
const PLACE_DIGITS = 2 * (4 + 8 + 32 + 4);
