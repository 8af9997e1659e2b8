/** Each fail-safe rule is switched off once on the embedded store, and so is what it does in a way of its own. */
import type { DatabaseKind } from '../../src/engine/directory.ts';
import { isEverywhere, type Mutation, RULE_MUTATIONS, runMutationsOn } from './sql/mutations.ts';

const IN_PLACE = 'embedded/prune-in-place.ts';
const MUTATIONS: readonly Mutation[] = [
  ...RULE_MUTATIONS,
  ['F3 references', 'embedded/removal.ts', '.mayHave(parent) === false) return null', '.mayHave(parent) !== null) return null', 'SD34'],
  ['F4 what was written since', 'embedded/removal.ts', 'unit.resume(height) ? unit : null', '(unit.resume(height), unit)', 'SD47'],
  ['F10 the later of two preservations', 'embedded/index.ts', 'Math.max(tx.state.preserveUntil ?? 0, until)', 'until', 'SD28'],
  ['F10 preservations that have not ended', 'embedded/index.ts', 'TX_PRESERVED, upTo(height)', 'TX_PRESERVED, {}', 'SD28'],
  ['F5 tombstones', 'embedded/removal.ts', 'unit.addTombstone(parent, tx.txId);', '', 'SD18'],
  [
    'F11 what was kept comes again',
    'embedded/index.ts',
    '...upTo(allowedHeight), ...(after === null ? {} :',
    '...upTo(allowedHeight), ...(after === null ? { gte: heightKey(allowedHeight) } :',
    'SD04',
  ],
  ['F12 what is missing is told', 'embedded/index.ts', 'throw txRefusal.missing(', 'void txRefusal.missing(', 'SD20'],
  ['F15 one batch', 'embedded/write.ts', 'if (row === null) writeDeleted(', 'batch.commit(); if (row === null) writeDeleted(', 'batches'],
  [
    'the index says what the record says',
    'embedded/write.ts',
    'if (to === null || row === null) return;',
    'if (to === null || row === null || from === to) return;',
    'batches',
  ],
  ['F1 the age of children, in place', IN_PLACE, 'isDeep(minedAt[child], heights.requested, heights.window)', 'true', 'SD01'],
  ['F1 children that are gone, in place', IN_PLACE, 'return this.#hasPruned(n, childAt[child]);', 'return true;', 'SD14'],
  ['F3 references, in place', IN_PLACE, 'cache.loadReferences(engine).mayHave(table.bytes, table.idAt[n])', 'false', 'SD34'],
  ['F5 tombstones, in place', IN_PLACE, 'if (slot !== null) this.#tombstones.push({ of: parent, slot });', '', 'SD19'],
  ['F5 parents that are gone, in place', IN_PLACE, 'if (this.#isGoing[parent] === true) continue;', '', 'in place'],
  ['6.2 what is not allowed yet, in place', IN_PLACE, 'reasonOfRecord(head, heights.allowed)', 'reasonOfRecord(head, 1e9)', 'in place'],
  ['F15 what was not committed, in place', IN_PLACE, 'cache.written(mark);', '', 'fails'],
  [
    'F15 one batch, of a pass',
    IN_PLACE,
    'const tombstones = this.#tombstones.sort(',
    'batch.commit(); const tombstones = this.#tombstones.sort(',
    'batches',
  ],
  [
    'F15 one batch, of what a pass proves',
    'embedded/index.ts',
    '        blobsDeleted = this.putRemoved(deleted, batch);',
    '        blobsDeleted = this.putRemoved(deleted, batch); batch.commit();',
    'batches',
  ],
  [
    'F15 one batch, of spends',
    'embedded/spend-in-place.ts',
    'putTotals(batch, totals);',
    'batch.commit(); putTotals(batch, totals);',
    'batches',
  ],
  [
    'F15 one batch, of creates',
    'embedded/create-in-place.ts',
    'putTotals(batch, { records',
    'batch.commit(); putTotals(batch, { records',
    'batches',
  ],
  [
    'F12 transactions of a block that is undone',
    'chain/connect.ts',
    'if (tx === undefined) throw txRefusal.missing([{ missing: txId }]);',
    'if (tx === undefined) continue;',
    'chain',
  ],
  ['the index as it was', 'embedded/due-row.ts', '|| mark !== this.mark', '', 'index'],
  ['F5 tombstones that leave the record', 'embedded/unit.ts', 'this.#moveTombstone(tx, pruned);', '', 'SD19'],
  [
    'F5 tombstones of spends in place',
    'embedded/spend-in-place.ts',
    'if (head.hasPruned && isPrunedSpender(rows.bytes, head.prunedPlace(), head.slotsPlace(), txId)) return true;',
    '',
    'SD19',
  ],
  ['children of every page', 'embedded/unit.ts', 'first < outputCount;', 'first < Math.min(outputCount, TX_PAGE_SLOTS);', 'SD12'],
  [
    'spends in place that are undone',
    'embedded/spend-in-place.ts',
    'for (let n = 0; n < this.#count; n++) {',
    'for (let n = 0; n < 0; n++) {',
    'refused',
  ],
  ['marks that are undone', 'embedded/spend-in-place.ts', 'head.deleteAtHeight = heightOf(this.#dueBefore[n]);', '', 'refused'],
  [
    'creates in place that are undone',
    'embedded/create-in-place.ts',
    'this.#work.cache.rows.forget(txs[n].txId)',
    'void txs[n]',
    'refused',
  ],
];

export function runEmbeddedMutations(): void {
  runMutationsOn('the embedded store', MUTATIONS, async () => 'engine:memory');
}

/** On an engine that programs have. */
export function runDiskMutations(kind: DatabaseKind): void {
  // What is in place runs on an engine in memory, whatever is asked for.
  const mutations = MUTATIONS.filter((mutation) => isEverywhere(mutation) && mutation[4] !== 'fails');
  runMutationsOn(`the engine ${kind}`, mutations, async () => `engine:${kind}`);
}
