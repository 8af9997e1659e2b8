/** The service `Sync`: the tip, blocks, and what happens to the chain. */
import type { ServiceImpl } from '@connectrpc/connect';
import { sync as messages, type syncConnect } from '@utxorpc/spec/lib/index.mjs';
import { UnspentError } from '../../../../util/errors.ts';
import type { UtxoRpcBackend } from './backend.ts';
import { newMessage } from './message-init.ts';

export function syncService(backend: UtxoRpcBackend): Partial<ServiceImpl<typeof syncConnect.SyncService>> {
  return {
    readTip(_request, { signal }) {
      return backend.read(signal, (query) => {
        const tip = backend.tip(query);
        if (tip === null) throw new UnspentError('NOT_FOUND', 'the store has no block yet');
        return newMessage(messages.ReadTipResponse, { tip, timestamp: tip.timestamp });
      });
    },
  };
}
