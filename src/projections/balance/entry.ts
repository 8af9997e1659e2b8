/** The balances in the table of projections: of addresses and of stake credentials, behind one switch. */
import type { SwitchedEntry } from '../entry.ts';
import { type BalanceKind, balanceProjection } from './balance.ts';
import { BalanceCheck } from './check.ts';

const setting = {
  key: 'utxo.balances',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Keep the balance of every address and stake credential, so that asking for one costs the same however many outputs it has.',
} as const;

function balanceOf(kind: BalanceKind): SwitchedEntry<typeof setting> {
  return {
    name: `balance.${kind}`,
    from: 'outputs',
    setting,
    supports: ({ keyKinds }) => keyKinds.includes(kind),
    make: ({ traits }) => balanceProjection(kind, traits),
    check: (inspection) => new BalanceCheck(inspection, kind),
  };
}

export const addressBalance = balanceOf('address');
export const stakeBalance = balanceOf('stake');
