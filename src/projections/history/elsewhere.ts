/**
 * History that only a published copy has (`publish.history`): blocks that are
 * behind the horizon and in the copy leave their rows to it, and this store says
 * PRUNED of them.
 *
 *   chain: ff "elsewhere"  ->  height u32 of the first block whose history is here
 *   chain of the copy: ff "only.copy"  ->  01: stores may have forgotten what is here
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import { readU32, writeU32 } from '../../util/bytes.ts';
import type { SettingReader } from '../../util/setting.ts';
import { CHAIN, metaKey } from '../chain.ts';

/** The setting, which stands with what it is for. */
export const PUBLISH_HISTORY = {
  type: 'oneOf',
  values: ['both', 'copy'],
  default: 'both',
  shapesStore: true,
  doc: 'Cardano, with `utxo.history`: where the history of blocks is that cannot be rolled back any more. `copy`: in the published copy alone (`publish.to`, form `columns`); this store forgets it when the copy has it, says PRUNED of it, and never gets further ahead of the copy than a part of its window. For a store from its first block on.',
} as const;

export const PUBLISH_HISTORY_KEY = 'publish.history';

export function isHistoryElsewhere(readSetting: SettingReader): boolean {
  return readSetting(PUBLISH_HISTORY_KEY) === 'copy';
}

export const ELSEWHERE_KEY = metaKey('elsewhere');
export const ONLY_COPY_KEY = metaKey('only.copy');
export const ONLY_COPY = Uint8Array.of(1);

/** The height of the first block whose history is here; 0: nothing has left. */
export function readElsewhere(reader: Reader): number {
  const value = reader.get(CHAIN, ELSEWHERE_KEY);
  return value === undefined ? 0 : readU32(value, 0);
}

export function writeElsewhere(batch: Batch, height: number): void {
  const value = new Uint8Array(4);
  writeU32(value, 0, height);
  batch.put(CHAIN, ELSEWHERE_KEY, value);
}
