/**
 * A node that leads a random life on a transaction store, as a real one would:
 * it takes transactions in, sees double spends, finds blocks, loses up to W of
 * them to reorganisations, prunes after each block, and lets people lock, freeze
 * and preserve. What it does next it decides from the records of the model.
 */
import type { Random } from '../../../src/chains/random.ts';
import type { Outpoint } from '../../../src/ledgers/outpoint.ts';
import type { ChunkResult } from '../../../src/txstore/prune/chunk.ts';
import { PruneCounters } from '../../../src/txstore/prune/counters.ts';
import { runPass } from '../../../src/txstore/prune/pass.ts';
import { PRUNE_DEFAULTS } from '../../../src/txstore/prune/settings.ts';
import type { TxRecord } from '../../../src/txstore/records.ts';
import type { NewStoredTx, TxStore, TxStoreSettings } from '../../../src/txstore/store.ts';
import { equalBytes, toHex } from '../../../src/util/bytes.ts';
import type { TxStorePair } from './pair.ts';
import { checkDeleted, checkNoLeak, checkSpenders } from './properties.ts';
import { ANYBODY, idOf, NOBODY, nameOf } from './world.ts';

const ACTIONS = [
  ['tx', 30],
  ['rival', 6],
  ['block', 22],
  ['reorganise', 3],
  ['evict', 2],
  ['respend', 3],
  ['side', 3],
  ['lock', 3],
  ['freeze', 3],
  ['preserve', 3],
  ['replay', 4],
  ['again', 4],
] as const;
/** More than one page of slots has. Of so many the first are spent, and those around the end of the first page. */
const WIDE_OUTPUTS = 132;
const isSpentInLives = (index: number): boolean => index < 6 || (index >= 125 && index < WIDE_OUTPUTS);

export type RandomAction = (typeof ACTIONS)[number][0];

interface NodeBlock {
  readonly hash: Uint8Array;
  readonly height: number;
  readonly coinbase: Uint8Array;
  readonly txs: readonly Uint8Array[];
}

export class RandomNode {
  readonly #random: Random;
  readonly #pair: TxStorePair;
  readonly #settings: TxStoreSettings;
  readonly #chain: NodeBlock[] = [];
  /** What passes have deleted that was final, with its inputs. */
  readonly #final: TxRecord[] = [];
  /** What passes have deleted that had lost. */
  readonly #lost: TxRecord[] = [];
  readonly counts = new Map<string, number>();
  #seen = { calls: -1, records: [] as readonly TxRecord[], byId: new Map<string, TxRecord>() as ReadonlyMap<string, TxRecord> };
  readonly #parallelChunks: number;
  #names = 0;
  #height = 1;
  #prunedTo = 0;
  #preservedTo = 0;

  /** `parallelChunks`: of passes. */
  constructor(random: Random, pair: TxStorePair, settings: TxStoreSettings, parallelChunks: number) {
    this.#random = random;
    this.#pair = pair;
    this.#settings = settings;
    this.#parallelChunks = parallelChunks;
  }

  /** Of the model, after the last call. */
  get #records(): readonly TxRecord[] {
    if (this.#seen.calls !== this.#pair.calls) {
      const records = this.#pair.model.records();
      this.#seen = { calls: this.#pair.calls, records, byId: new Map(records.map((record) => [toHex(record.txId), record])) };
    }
    return this.#seen.records;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  async step(): Promise<RandomAction> {
    const action = this.#random.weighted(ACTIONS);
    await this[action]();
    return action;
  }

  #newTx(inputs: NewStoredTx['inputs']): NewStoredTx {
    const count = this.#random.chance(0.01) ? WIDE_OUTPUTS : this.#random.int(4);
    const outputs = Array.from({ length: count }, () => ({ amount: 1n, script: this.#random.chance(0.05) ? NOBODY : ANYBODY }));
    return { txId: idOf(`t${this.#names++}`), inputs, outputs };
  }

  /** Outputs that a new transaction may spend. */
  #unspent(): NewStoredTx['inputs'] {
    const parents = this.#records.filter(({ isConflicting, isLocked }) => !isConflicting && !isLocked);
    return parents.flatMap(({ txId, outputs }) =>
      outputs.flatMap(({ slot }, index) =>
        isSpentInLives(index) && slot?.state === 'unspent' && (slot.spendableFrom ?? 0) <= this.#height ? [{ txId, index }] : [],
      ),
    );
  }

  async tx(): Promise<void> {
    const unspent = [...this.#unspent()];
    if (unspent.length === 0) return;
    this.#random.shuffle(unspent);
    const tx = this.#newTx(unspent.slice(0, 1 + this.#random.int(2)));
    await this.#pair.must('a spend', (store) => store.spend([tx], this.#height));
    await this.#pair.must('a new transaction', (store) => store.create([tx], this.#height));
    this.#count('tx');
  }

  /** A transaction that spends what another unmined one holds. */
  async rival(): Promise<void> {
    const held = this.#records.flatMap(({ txId, outputs, isConflicting }) =>
      isConflicting
        ? []
        : outputs.flatMap(({ slot }, index) => (slot?.spender && this.#isUnmined(slot.spender.txId) ? [{ txId, index }] : [])),
    );
    if (held.length === 0) return;
    const tx = { ...this.#newTx([this.#random.pick(held)]), isConflicting: true };
    await this.#pair.must('a rival', (store) => store.create([tx], this.#height));
    this.#count('rival');
  }

  #find(txId: Uint8Array): TxRecord | undefined {
    return this.#records.length === 0 ? undefined : this.#seen.byId.get(toHex(txId));
  }

  #isUnmined(txId: Uint8Array): boolean {
    const unminedSince = this.#find(txId)?.unminedSince;
    return unminedSince !== null && unminedSince !== undefined;
  }

  async block(): Promise<void> {
    this.#height++;
    const winner = this.#random.chance(0.4) ? this.#winner() : undefined;
    if (winner !== undefined) {
      await this.#pair.must('a winner', (store) => store.processConflicting([winner.txId], this.#height));
      this.#count('winner');
    }
    const txs = this.#mineable(winner);
    const coinbase = { ...this.#newTx([]), txId: idOf(`c${this.#names++}`) };
    const block = { hash: idOf(`b${this.#names++}`), height: this.#height };
    await this.#pair.must('a coinbase', (store) =>
      store.create([{ ...coinbase, outputs: [...coinbase.outputs, { amount: 1n, script: ANYBODY }] }], this.#height),
    );
    const mined = [coinbase.txId, ...txs].map((txId, index) => ({ txId, index }));
    await this.#pair.must('a block', (store) => store.setMined(mined, block, true, this.#height));
    this.#chain.push({ ...block, coinbase: coinbase.txId, txs: mined.map(({ txId }) => txId) });
    this.#count('block');
    await this.prune();
  }

  /** A conflicting record whose rivals are all unmined, and whose parents are mined. */
  #winner(): TxRecord | undefined {
    const able = this.#records.filter(
      ({ isConflicting, unminedSince, inputs }) =>
        isConflicting &&
        unminedSince !== null &&
        inputs.length > 0 &&
        inputs.every(({ txId, index }) => {
          const parent = this.#find(txId);
          const slot = parent?.outputs[index]?.slot;
          if (parent === undefined || parent.isConflicting || parent.unminedSince !== null || slot?.state === 'frozen') return false;
          return slot?.spender ? this.#isUnmined(slot.spender.txId) : (slot?.spendableFrom ?? 0) <= this.#height;
        }),
    );
    return able.length === 0 ? undefined : this.#random.pick(able);
  }

  /** Unmined transactions whose parents are mined, or are in the block before them. */
  #mineable(winner: TxRecord | undefined): Uint8Array[] {
    const chosen = new Map<string, Uint8Array>();
    const pool = this.#records.filter(
      ({ unminedSince, isConflicting, inputs }) => unminedSince !== null && !isConflicting && inputs.length > 0,
    );
    for (let round = 0; round < 3; round++) {
      for (const { txId, inputs } of pool) {
        const isReady = inputs.every((input) => chosen.has(toHex(input.txId)) || this.#find(input.txId)?.unminedSince === null);
        const isWanted = txId === winner?.txId || (winner !== undefined && toHex(txId) === toHex(winner.txId)) || this.#random.chance(0.4);
        if (isReady && isWanted) chosen.set(toHex(txId), txId);
      }
    }
    return [...chosen.values()];
  }

  /** P8: chunks of any size and number decide alike. Returns what they decide to delete. */
  async #decide(): Promise<readonly Uint8Array[]> {
    const dry = await Promise.all(
      [
        [1, 1],
        [2, 3],
        [1000, 1],
      ].map(([chunkParents, parallelChunks]) => this.#pass(this.#pair.model, { chunkParents, parallelChunks, dryRun: true })),
    );
    const [wanted, ...others] = dry.map(({ deleted }) => namesOf(deleted));
    for (const other of others) if (other !== wanted) throw new Error(`P8 does not hold: ${other} instead of ${wanted}`);
    return dry[0].deleted;
  }

  /** P1, P7 and P8 around a pass. */
  async prune(): Promise<void> {
    if (this.#height <= this.#prunedTo) return;
    const before = this.#records;
    const decided = await this.#decide();
    const all = await this.#pair.each((store) => this.#passes(store));
    for (const passes of all) {
      const missed = without(decided, passes[0].deleted);
      if (missed.length > 0) throw new Error(`P8 does not hold: ${namesOf(missed)} stay`);
      for (const [n, { deleted }] of passes.entries()) if (n > 0) this.#checkExcused(before, deleted, passes[n - 1].deleted);
    }
    const gone = all.map((passes) => passes.flatMap(({ deleted }) => deleted));
    if (new Set(gone.map(namesOf)).size > 1) throw new Error(`deletes ${namesOf(gone[1])}, the model ${namesOf(gone[0])}`);
    const kept = new Set(all.map((passes) => keptOf(passes[passes.length - 1])));
    if (kept.size > 1) throw new Error(`keeps others than the model: ${[...kept].join(' and ')}`);
    this.#prunedTo = this.#height;
    checkDeleted(this.#records, gone[0], this.#height, this.#settings.window);
    const records = before.filter(({ txId }) => without([txId], gone[0]).length === 0);
    for (const record of records) if (record.inputs.length > 0) (record.isConflicting ? this.#lost : this.#final).push(record);
    checkSpenders(this.#records, this.#final);
    for (const _ of records) this.#count('pruned');
  }

  /** Until nothing goes any more: how many passes losers take hangs on chunks, which no two stores have alike. */
  async #passes(store: TxStore): Promise<readonly ChunkResult[]> {
    const passes = [await this.#pass(store, { chunkParents: 3, parallelChunks: this.#parallelChunks })];
    do passes.push(await this.#pass(store, {}));
    while (passes[passes.length - 1].deleted.length > 0);
    return passes;
  }

  /** P7: only a parent of a loser that went in the pass before can go in the next. */
  #checkExcused(before: readonly TxRecord[], deleted: readonly Uint8Array[], earlier: readonly Uint8Array[]): void {
    const losers = before.filter(({ txId, isConflicting }) => isConflicting && without([txId], earlier).length === 0);
    const excused = losers.flatMap(({ inputs }) => inputs.map(({ txId }) => txId));
    const others = without(deleted, excused);
    if (others.length > 0) throw new Error(`P7 does not hold: ${namesOf(others)} go in a second pass`);
  }

  async #pass(store: TxStore, settings: object): Promise<ChunkResult> {
    const heights = { requested: this.#height, allowed: this.#height, window: this.#settings.window };
    const context = { store, settings: { ...PRUNE_DEFAULTS, ...settings }, heights, counters: new PruneCounters(), now: () => 0 };
    const results: ChunkResult[] = [];
    await runPass(context, { onDecided: (result) => void results.push(result) });
    return { deleted: results.flatMap(({ deleted }) => deleted), kept: results.flatMap(({ kept }) => kept) };
  }

  /** P3: whatever the window allows can be undone, and everything that is undone is still there. */
  async reorganise(): Promise<void> {
    const deepest = this.#chain.filter(({ height }) => height + this.#settings.window > this.#prunedTo).length;
    const wanted = 1 + this.#random.int(this.#random.chance(0.3) ? this.#settings.window : 3);
    const depth = Math.min(deepest, this.#chain.length - 1, wanted);
    for (let n = 0; n < depth; n++) {
      const { hash, txs, coinbase } = this.#chain.pop()!;
      if (this.#random.chance(0.7)) await this.#pair.must('P3: to undo a block', (store) => store.unsetMined(txs, hash, this.#height));
      else await this.#pair.must('P3: to leave a branch', (store) => store.markOnBestChain(txs, false, this.#height));
      await this.#pair.must('P3: to undo a coinbase', (store) => store.setConflicting([coinbase], true, this.#height));
      this.#height--;
      this.#count('undone');
    }
  }

  #pool(): readonly TxRecord[] {
    return this.#records.filter(({ unminedSince, isConflicting, inputs }) => unminedSince !== null && !isConflicting && inputs.length > 0);
  }

  async evict(): Promise<void> {
    const leaves = this.#pool().filter(
      ({ outputs, conflictingChildren }) => outputs.every(({ slot }) => !slot?.spender) && conflictingChildren.length === 0,
    );
    if (leaves.length === 0) return;
    const { txId, inputs } = this.#random.pick(leaves);
    const spends = inputs.map((outpoint, vin) => ({ outpoint, spender: { txId, vin } }));
    await this.#pair.must('an eviction', (store) => store.unspend(spends, this.#height));
    await this.#pair.must('a deletion', (store) => store.delete([txId]));
    this.#count('evict');
  }

  async respend(): Promise<void> {
    const pool = this.#pool();
    if (pool.length === 0) return;
    const { txId, inputs } = this.#random.pick(pool);
    // An output that was reassigned cannot be spent again where a reorganisation went back below its height.
    if (this.#isSpendableLater(inputs[0])) return;
    await this.#pair.tell((store) => store.unspend([{ outpoint: inputs[0], spender: { txId, vin: 0 } }], this.#height));
    await this.#pair.must('to spend again', (store) => store.spend([{ txId, inputs }], this.#height, { ignoreLocked: true }));
    this.#count('respend');
  }

  #isSpendableLater({ txId, index }: Outpoint): boolean {
    const parent = this.#records.find((record) => equalBytes(record.txId, txId));
    return (parent?.outputs[index]?.slot?.spendableFrom ?? 0) > this.#height;
  }

  async side(): Promise<void> {
    const pool = this.#pool();
    if (pool.length === 0) return;
    const { txId } = this.#random.pick(pool);
    const block = { hash: idOf(`s${this.#names++}`), height: 1 + this.#random.int(this.#height) };
    await this.#pair.must('a side block', (store) => store.setMined([{ txId, index: 0 }], block, false, this.#height));
    this.#count('side');
  }

  async lock(): Promise<void> {
    if (this.#records.length === 0) return;
    const { txId, isLocked } = this.#random.pick(this.#records);
    await this.#pair.must('a lock', (store) => store.setLocked([txId], !isLocked, this.#height));
    this.#count('lock');
  }

  async freeze(): Promise<void> {
    const records = this.#records.filter(({ outputs }) => outputs.length > 0);
    const frozen = records.filter(({ outputs }) => outputs.some(({ slot }) => slot?.state === 'frozen'));
    if (records.length === 0) return;
    const isEnd = frozen.length > 0 && this.#random.chance(0.6);
    const { txId, outputs } = this.#random.pick(isEnd ? frozen : records);
    const known = outputs.findIndex(({ slot }) => slot?.state === 'frozen');
    const outpoint = { txId, index: isEnd ? known : this.#random.int(outputs.length + 1) };
    const action = isEnd ? this.#random.pick(['unfreeze', 'unfreeze', 'reassign'] as const) : 'freeze';
    const answer = await this.#pair.tell((store) =>
      action === 'reassign' ? store.reassign(outpoint, idOf('new'), 2, this.#height) : store[action]([outpoint], this.#height),
    );
    this.#count('refused' in answer ? answer.refused : action);
  }

  async preserve(): Promise<void> {
    if (this.#records.length === 0) return;
    const { txId } = this.#random.pick(this.#records);
    const until = this.#height + this.#random.int(8);
    this.#preservedTo = Math.max(this.#preservedTo, until);
    await this.#pair.must('a preservation', (store) => store.preserve([txId], until, this.#height));
    this.#count('preserve');
  }

  /** P6. */
  async replay(): Promise<void> {
    if (this.#final.length === 0) return;
    const { txId, inputs } = this.#random.pick(this.#final);
    const answer = await this.#pair.tell((store) =>
      store.spend([{ txId, inputs }], this.#height, { ignoreLocked: true, ignoreConflicting: true }),
    );
    if (!('refused' in answer)) throw new Error(`P6 does not hold: ${nameOf(txId)} is spent once more`);
    this.#count(answer.refused);
  }

  /** A loser that was deleted was never final: where what it spends is unspent, it may come once more. */
  async again(): Promise<void> {
    const unspent = new Set(this.#unspent().map(({ txId, index }) => `${toHex(txId)}${index}`));
    const able = this.#lost.filter(
      (tx) => this.#find(tx.txId) === undefined && tx.inputs.every(({ txId, index }) => unspent.has(`${toHex(txId)}${index}`)),
    );
    if (able.length === 0) return;
    const { txId, inputs, outputs } = this.#random.pick(able);
    await this.#pair.must('to spend as a loser did', (store) => store.spend([{ txId, inputs }], this.#height));
    await this.#pair.must('a loser once more', (store) => store.create([{ txId, inputs, outputs }], this.#height));
    this.#count('again');
  }

  /** P4: time passes, and nothing else; from the end of the last preservation on W + R + 1 blocks. */
  async rest(): Promise<void> {
    const { window, retention } = this.#settings;
    const until = Math.max(this.#height, this.#prunedTo, this.#preservedTo) + window + retention + 1;
    while (this.#height < until) {
      this.#height++;
      await this.prune();
    }
    checkNoLeak(this.#records, this.#height, this.#settings.window);
  }
}

function namesOf(txIds: readonly Uint8Array[]): string {
  return txIds.map(nameOf).sort().join(' ');
}

function keptOf({ kept }: ChunkResult): string {
  return kept.map(({ txId, reason }) => `${nameOf(txId)} ${reason}`).join(', ');
}

function without(txIds: readonly Uint8Array[], others: readonly Uint8Array[]): readonly Uint8Array[] {
  const left = new Set(others.map((txId) => toHex(txId)));
  return txIds.filter((txId) => !left.has(toHex(txId)));
}
