/** The transaction store in the table of projections. Stores of the Bitcoin family can keep it, from their first block on. */
import { type BuiltInEntry, unsupported } from '../../projections/entry.ts';
import { TXS_SWITCH } from '../../projections/txs-switch.ts';
import type { SettingReader } from '../../util/setting.ts';
import type { TxStoreSettings } from '../store.ts';
import { TxsCheck } from './check.ts';
import { TXS_NAME, txsProjection } from './projection.ts';

export const txsEntry = {
  name: TXS_NAME,
  from: 'outputs',
  setting: TXS_SWITCH,
  supports: ({ joinBlock }) => joinBlock !== undefined,
  make: (ledger, readSetting) =>
    ledger.joinBlock === undefined ? unsupported(ledger, 'a transaction store') : txsProjection(txsSettings(readSettings(readSetting))),
  check: (inspection) => new TxsCheck(inspection),
} as const satisfies BuiltInEntry;

function readSettings(readSetting: SettingReader = () => 0): TxStoreSettings {
  return { retention: Number(readSetting('txs.retention')), window: Number(readSetting('txs.window')) };
}

/** As they are set. `txs.window` 0: as the retention. */
export function txsSettings({ retention, window }: TxStoreSettings): TxStoreSettings {
  return { retention, window: window === 0 ? retention : window };
}
