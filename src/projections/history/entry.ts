/** The history in the table of projections: transactions and what happened to scripts and addresses, and to each kind of credential. */
import type { KeyKind, Ledger } from '../../ledgers/ledger.ts';
import type { SettingReader } from '../../util/setting.ts';
import { type BuiltInEntry, type SwitchedEntry, unsupported } from '../entry.ts';
import { paymentIndex, stakeIndex } from '../index/entry.ts';
import { HistoryCheck } from './check.ts';
import { isHistoryElsewhere } from './elsewhere.ts';
import { historyProjection } from './history.ts';
import { KeyHistoryCheck } from './key-check.ts';
import { keyHistoryName, keyHistoryProjection } from './key-history.ts';

const SETTING = {
  key: 'utxo.history',
  type: 'boolean',
  default: false,
  shapesStore: true,
  doc: 'Keep every transaction, what happened to every address, credential and script, and who spent what. Esplora and Electrum clients ask for it, and the clients of Cardano that ask for transactions or for spent outputs. Cardano: can be switched on later, and then begins with the next block.',
} as const;

export const historyEntry = {
  name: 'history',
  from: 'outputs',
  setting: SETTING,
  supports: ({ txBytes }) => txBytes !== undefined,
  make: (ledger: Ledger, readSetting?: SettingReader) =>
    historyProjection(
      ledger,
      ledger.txBytes ?? unsupported(ledger, 'a history'),
      forgetsBelow(ledger, readSetting),
      leaves(ledger, readSetting),
    ),
  check: (inspection) => new HistoryCheck(inspection),
} as const satisfies BuiltInEntry;

/**
 * How far below a block that can never be undone any more. Where blocks are put together again from their transactions
 * age is no reason to forget one: `txs.boundHistory` knows which can go.
 */
function forgetsBelow({ joinBlock }: Ledger, readSetting: SettingReader = () => 0): number | null {
  const depth = Number(readSetting('utxo.historyDepth'));
  if (depth === 0 || joinBlock !== undefined) return null;
  const settled = readSetting('utxo.delta.selfContained') === true ? 'utxo.rollbackWindow' : 'utxo.pruneDepth';
  return Math.max(0, depth - Number(readSetting(settled)));
}

/** Whose clients cannot be told "from here on" (Electrum, Esplora) keeps all of it. Throws UNSUPPORTED. */
function leaves(ledger: Ledger, readSetting: SettingReader = () => ''): boolean {
  if (!isHistoryElsewhere(readSetting)) return false;
  return ledger.joinBlock === undefined ? true : unsupported(ledger, 'a history that is in a published copy alone');
}

/** Kept where the unspent outputs are found by such a key, too. */
function byKey(kind: KeyKind, beside: BuiltInEntry): SwitchedEntry<typeof SETTING> {
  return {
    name: keyHistoryName(kind),
    from: 'outputs',
    setting: SETTING,
    onlyBeside: beside,
    supports: ({ txBytes, keyKinds }) => txBytes !== undefined && keyKinds.includes(kind),
    make: (ledger, readSetting) => keyHistoryProjection(kind, leaves(ledger, readSetting)),
    check: (inspection) => new KeyHistoryCheck(inspection, kind),
  };
}

export const paymentHistory = byKey('payment', paymentIndex);
export const stakeHistory = byKey('stake', stakeIndex);
