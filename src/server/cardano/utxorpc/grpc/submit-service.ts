/** The service `Submit`: transactions on their way to the chain. */
import type { ServiceImpl } from '@connectrpc/connect';
import { submit as messages, type submitConnect } from '@utxorpc/spec/lib/index.mjs';
import { UnspentError } from '../../../../util/errors.ts';
import type { UtxoRpcBackend } from './backend.ts';
import { newMessage } from './message-init.ts';

export function submitService(backend: UtxoRpcBackend): Partial<ServiceImpl<typeof submitConnect.SubmitService>> {
  return {
    async submitTx({ tx }) {
      const ref: Uint8Array[] = [];
      // One after the other: a later one may spend what an earlier one makes.
      for (const each of tx) ref.push(await backend.context.submit(rawTx(each)));
      return newMessage(messages.SubmitTxResponse, { ref });
    },
  };
}

/** Throws USAGE. */
function rawTx({ type }: messages.AnyChainTx): Uint8Array {
  if (type.case === 'raw' && type.value.length > 0) return type.value;
  throw new UnspentError('USAGE', 'a transaction is its CBOR, in raw', { field: 'tx' });
}
