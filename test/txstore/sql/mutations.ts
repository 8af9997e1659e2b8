/**
 * Each fail-safe rule (F1 to F15) is switched off once, and so is what other
 * implementations forgot; the story that is to show it must fail then, on this
 * store.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { answerOfThread } from '../../support/thread.ts';

export interface MutationWork {
  /** The rule that is switched off. */
  readonly rule: string;
  /** Below src/txstore. */
  readonly file: string;
  /** Stands once in the file. */
  readonly from: string;
  readonly to: string;
  /** The beginning of the title of a story, the crashes of crashes.ts, or a chain from which records are missing. */
  readonly shownBy: string;
}

const CHILD_VERSION = 'now === null ? facts.hasTombstone(txId) : now === version';
const PARENT_VERSION = 'facts.parent.version !== parent.version || facts.parent.deleteAtHeight !== parent.deleteAtHeight';

/** Rule, file, text, text without the rule, story. */
export type Mutation = readonly [string, string, string, string, string];

const MUTATIONS: readonly Mutation[] = [
  ['F1 proof for every child', 'rules/stability.ts', "hasTombstone ? 'stable' : 'child_missing'", "'stable'", 'SD14'],
  ['F2 what cannot be read', 'rules/stability.ts', "=== 'failed') return 'read_error'", "=== 'failed') return 'stable'", 'SD15'],
  ['F3 references', 'sql/candidates.ts', '(t.unmined_since IS NOT NULL OR t.is_conflicting = 1)', '1 = 0', 'SD34'],
  ['F4 a child that changed', 'rules/verdict.ts', CHILD_VERSION, 'true', 'SD47'],
  ['F4 a parent that changed', 'rules/verdict.ts', PARENT_VERSION, 'false', 'SD47'],
  ['F5 tombstones', 'sql/removal.ts', 'await writeTombstones(tx, finals, deleted, removal.height)', '0', 'SD18'],
  ['F6 a gate that nobody can ask', 'rules/gates.ts', "return 'state_unknown'", 'return null', 'SD36'],
  ['F7 reorganisations', 'rules/gates.ts', 'if (conditions.isReorganising)', 'if (false)', 'SD36'],
  ['F7 a reset', 'rules/gates.ts', 'if (conditions.isResetting)', 'if (false)', 'SD36'],
  ['F7 catching up', 'rules/gates.ts', 'if (conditions.isCatchingUp &&', 'if (false &&', 'SD36'],
  ['F7 a block that is not finished', 'rules/gates.ts', 'if (conditions.appliedHeight < request.height)', 'if (false)', 'SD36'],
  [
    'F7 gates between the steps of a pass',
    'prune/pass.ts',
    "if (reason !== null) return { end: 'closed'",
    "if (false) return { end: 'closed'",
    'SD48',
  ],
  ['F8 the retention', 'rules/settings.ts', 'if (retention > 0 && retention < window)', 'if (false)', 'SD54'],
  ['F8 the window', 'rules/settings.ts', 'if (window < depthMax)', 'if (false)', 'SD54'],
  [
    'F9 the earliest height',
    'rules/mining.ts',
    'isOnBestChain ? null : (record.unminedSince ?? height)',
    'isOnBestChain ? null : height',
    'SD35',
  ],
  [
    'F9 the earliest height, of a block that is gone',
    'rules/mining.ts',
    'isMined ? record.unminedSince : (record.unminedSince ?? height)',
    'isMined ? record.unminedSince : height',
    'SD35',
  ],
  ['F12 spenders that are missing', 'conflicts.ts', '=== null) throw txRefusal.missing(', '=== null) void txRefusal.missing(', 'SD65 F12'],
  ['F12 both ids', 'conflicts.ts', '{ missing: txId, neededBy: tx.txId }', '{ missing: txId }', 'SD65 F12'],
  [
    'F12 holders that are missing',
    'conflicts.ts',
    'txRefusal.missing([{ missing: holder, neededBy: parent.txId }])',
    'txRefusal.notFound([holder])',
    'SD65 F12',
  ],
  [
    'F12 parents of the unmined',
    'prune/pass.ts',
    'return missing.map((txId) => neededBy.get(toHex(txId))!);',
    'return [];',
    'SD29 a parent',
  ],
  ['F12 whoever runs passes', 'prune/pruner.ts', 'this.#options.onMissing?.(pass.missing)', 'void pass.missing', 'SD29 a parent'],
  [
    'F12 parents that a block spends of',
    'chain/connect.ts',
    'if (parent === undefined) throw txRefusal.missing([{ missing: spend.txId, neededBy: spender.txId }]);',
    'if (parent === undefined) return;',
    'chain',
  ],
  [
    'F12 holders that a block beats',
    'chain/connect.ts',
    'throw txRefusal.missing([{ missing: loserId, neededBy: parent.txId }])',
    'return',
    'chain',
  ],
  ['F10 preservations', 'rules/deletion.ts', 'state.preserveUntil !== null', 'false', 'SD28'],
  ['F10 the later of two preservations', 'sql/store.ts', 'Math.max(', 'Math.min(', 'SD28'],
  ['F11 what was kept comes again', 'sql/candidates.ts', 'WHERE delete_at_height <= ', 'WHERE delete_at_height = ', 'SD04'],
  ['F12 what is missing is told', 'sql/store.ts', 'throw txRefusal.missing(', 'void txRefusal.missing(', 'SD20'],
  ['F13 a dry run', 'prune/chunk.ts', 'if (settings.dryRun) return', 'if (false) return', 'SD60'],
  ['F14 heights do not wrap', 'rules/heights.ts', 'isHeight(height) && isHeight(blocks) && isHeight(sum) ? sum : null', 'sum', 'SD55'],
  ['F15 one transaction', 'sql/store.ts', 'write((tx) => removeRows(', 'writeOne((tx) => removeRows(', 'crashes'],
  ['F1 losers give back what they hold', 'conflicts.ts', 'unspendOutputs(unit, [spend], false);', '', 'SD63 what'],
  ['F1 what was final stays spent', 'conflicts.ts', 'if (unit.tombstoneHeight(txId, loser.txId) !== null) continue;', '', 'SD63 a final'],
  [
    'children of every page',
    'sql/candidates.ts',
    'AND o.spent_by_hash IS NOT NULL',
    'AND o.spent_by_hash IS NOT NULL AND o.idx < 128',
    'SD12',
  ],
  ['best chain only', 'rules/stability.ts', 'if (isOnBestChain && ', 'if (', 'SD33'],
  ['due only if mined', 'rules/deletion.ts', 'state.unminedSince === null', 'true', 'SD20'],
  ['no spend by what was pruned', 'rules/slots.ts', 'if (isPruned) throw', 'if (false) throw', 'SD18'],
  [
    'no reorganisation below what a pass relied on',
    'rules/mining.ts',
    'stableFrom !== null && stableFrom <= prunedHeight',
    'false',
    'SD07',
  ],
];

/** On every store, whatever else is switched off there. */
const EVERYWHERE = ['F12 ', 'F15 '];

export function isEverywhere([rule]: Mutation): boolean {
  return EVERYWHERE.some((name) => rule.startsWith(name));
}

/** Those of the rules that all stores share. */
export const RULE_MUTATIONS = MUTATIONS.filter(([, file]) => !file.startsWith('sql/'));

/** `files`: the beginning of the names of those that are changed. */
export function runMutations(databases: TestDatabases, files = ''): void {
  const mutations = MUTATIONS.filter((mutation) => mutation[1].startsWith(files) || isEverywhere(mutation));
  runMutationsOn(databases.name, mutations, () => databases.freshUrl());
}

/** `urlOf`: of a database that is fresh for each; `engine:memory`, `engine:rocks` and `engine:sqlite` are the embedded store. */
export function runMutationsOn(name: string, mutations: readonly Mutation[], urlOf: () => Promise<string>): void {
  describe(`transaction store: rules that are switched off, on ${name}`, () => {
    for (const [rule, file, from, to, shownBy] of mutations) {
      it(`${shownBy} fails without: ${rule}`, async () => {
        const mutation: MutationWork = { rule, file, from, to, shownBy };
        const worker = new URL('./mutation-worker.ts', import.meta.url);
        const failure = await answerOfThread<string | null>(worker, { ...mutation, url: await urlOf() });
        assert.notEqual(failure, null, 'the story is told as if nothing were missing');
      });
    }
  });
}
