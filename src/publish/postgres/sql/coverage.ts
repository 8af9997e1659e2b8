/** What history a copy for people has, and since when: the store may not have kept what is older, and the copy says so. */
import type { PublishedIdentity } from '../../identity.ts';

export type CoverageRow = readonly [subject: string, fromHeight: number | null, note: string];

/** `height`: of the snapshot that the copy began with. `oldest`: what came with it. */
export function coverageRows(
  { projections, settings }: PublishedIdentity,
  height: number,
  oldest: { readonly spent: number | null; readonly fees: number | null },
): readonly CoverageRow[] {
  const next = height + 1;
  const kept = (name: string): boolean => projections.includes(name);
  const spentFrom = oldest.spent ?? next;
  return [
    ['unspent', 0, 'Every unspent output is here.'],
    [
      'spent',
      spentFrom,
      `Outputs spent from this height on are here; the store had forgotten older ones when the copy began (utxo.pruneDepth).`,
    ],
    [
      'fees',
      kept('history') ? (oldest.fees ?? next) : null,
      kept('history')
        ? 'Fees and sizes are known from this height on; where a fee is what inputs have more than outputs, only if the inputs are in spent.'
        : 'The store keeps no transactions (utxo.history), so fees and sizes are null.',
    ],
    seenRow('datums', kept('datums'), settings['utxo.datums'] === true, 'datum'),
    seenRow('scripts', kept('scripts'), settings['utxo.scripts'] === true, 'script'),
  ];
}

function seenRow(subject: string, isKept: boolean, isWanted: boolean, what: string): CoverageRow {
  if (isKept) return [subject, 0, `Every ${what} that the store has seen is here.`];
  const why = isWanted ? 'is still being filled' : `is off (utxo.${subject})`;
  return [subject, null, `Only what unspent and spent outputs carry: the list of every ${what} ${why}.`];
}
