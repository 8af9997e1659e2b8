/**
 * Which commands the process that has a store open runs for another one: those
 * that read the store, or change it by what `StoreChanges` has. All others need
 * the store for themselves.
 */

/** By their path, with all that is below it. */
export const ANSWERED: readonly string[] = [
  'status',
  'query',
  'digest',
  'root',
  'prove',
  'cage',
  'verify',
  'prune',
  'rollback',
  'snapshot export',
  'backup',
  'changes',
  'txs status',
  'txs get',
  'txs blocked',
  'txs verify',
];

/** `path`: as `commandPath` has it. */
export function isAnswered(path: string): boolean {
  return ANSWERED.some((name) => path === name || path.startsWith(`${name} `));
}
