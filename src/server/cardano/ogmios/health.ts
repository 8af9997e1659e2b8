/** `/health` as Ogmios has it: where the store is, and how far behind its source. */
import { needCardano } from '../../../families/cardano.ts';
import { eraName, slotToEpoch } from '../../../ledgers/cardano/index.ts';
import { epochToSlot, slotToTime } from '../../../ledgers/cardano/time.ts';
import { hexOf } from '../../../query/dialect.ts';
import { VERSION } from '../../../util/version.ts';
import type { ServerContext } from '../../context.ts';
import type { JsonValue } from './json-text.ts';

export function healthOf(context: ServerContext): JsonValue {
  const { parameters: network } = needCardano(context.network, 'Ogmios');
  const { state, sourceTip } = context.live.status;
  const lease = context.reads.lease();
  try {
    const { head } = lease.query;
    const row = head === null ? null : lease.query.blockAtHeight(head.height);
    const share = sourceTip === null || sourceTip.slot === 0 || head === null ? null : Math.min(1, head.slot / sourceTip.slot);
    const epoch = head === null ? null : slotToEpoch(network, head.slot);
    return {
      startTime: isoTime(network.systemStart),
      lastKnownTip: head === null ? null : { slot: head.slot, id: hexOf(head.hash), height: head.height },
      lastTipUpdate: head === null ? null : isoTime(slotToTime(network, head.slot)),
      networkSynchronization: share === null ? null : Number(share.toFixed(5)),
      currentEra: row === null ? null : eraName(row.era),
      currentEpoch: epoch,
      slotInEpoch: head === null || epoch === null ? null : head.slot - epochToSlot(network, epoch),
      connectionStatus: state === 'following' ? 'connected' : 'disconnected',
      network: network.name,
      version: `unspent ${VERSION}`,
    };
  } finally {
    lease.release();
  }
}

export function isoTime(seconds: number): string {
  return new Date(1000 * seconds).toISOString().replace('.000Z', 'Z');
}
