/** The service `Query`: parameters and eras, outputs, transactions, datums. */
import type { ServiceImpl } from '@connectrpc/connect';
import { query as messages, type queryConnect } from '@utxorpc/spec/lib/index.mjs';
import { decodeProtocolParameters } from '../../../../ledgers/cardano/protocol-parameters.ts';
import { outpointKey, TXID_BYTES } from '../../../../ledgers/outpoint.ts';
import { Transactions } from '../../../../query/cardano/transactions.ts';
import type { Query } from '../../../../query/query.ts';
import type { Utxo } from '../../../../query/utxo.ts';
import { toHex } from '../../../../util/bytes.ts';
import { UnspentError } from '../../../../util/errors.ts';
import { UTXORPC_ITEMS_MAX, UTXORPC_LOOKUPS_MAX } from '../../../../util/limits.ts';
import type { Task } from '../../../http/work/task.ts';
import { holdMessage, type UtxoRpcBackend, type UtxoRpcPoint } from './backend.ts';
import { eraMessages } from './era-message.ts';
import { masked } from './field-mask.ts';
import { type MessageInit, newMessage } from './message-init.ts';
import { fractionMessage } from './numbers.ts';
import { utxoMessage } from './output-message.ts';
import { parametersMessage } from './parameters-message.ts';
import { dataMessage } from './plutus-message.ts';
import { searchUtxos } from './search.ts';
import { txMessage } from './tx-message.ts';

const DATUM_HASH_BYTES = 32;

export function queryService(backend: UtxoRpcBackend): Partial<ServiceImpl<typeof queryConnect.QueryService>> {
  const tipOf = (query: Query): UtxoRpcPoint | undefined => backend.tip(query) ?? undefined;
  return {
    async readParams({ fieldMask }, context) {
      const parameters = parametersMessage(decodeProtocolParameters((await backend.context.ledger()).parameters), fractionMessage);
      const ledgerTip = await backend.read(context, tipOf);
      return masked(
        newMessage(messages.ReadParamsResponse, { values: { params: { case: 'cardano', value: parameters } }, ledgerTip }),
        fieldMask,
      );
    },

    readEraSummary({ fieldMask }) {
      const summaries = eraMessages(backend.network);
      return masked(newMessage(messages.ReadEraSummaryResponse, { summary: { case: 'cardano', value: { summaries } } }), fieldMask);
    },

    readGenesis() {
      throw new UnspentError('UNSUPPORTED', 'the genesis files are not kept here, only what the store needs of them');
    },

    readUtxos({ keys, fieldMask }, context) {
      checkCount(keys.length, 'keys');
      const outpoints = keys.map(({ hash, index }) => outpointKey(hashOf(hash, TXID_BYTES, 'keys'), index));
      return backend.read(context, (query, task) => {
        const items: MessageInit<messages.AnyUtxoData>[] = [];
        const take = (utxo: Utxo | null): boolean => {
          if (utxo !== null && utxo.spent === null) items.push(heldUtxo(task, utxo));
          return true;
        };
        const result = () => masked(newMessage(messages.ReadUtxosResponse, { items, ledgerTip: tipOf(query) }), fieldMask);
        return task.inSlices(
          lookedUp(outpoints, (some) => query.outpoints(some)),
          take,
          result,
        );
      });
    },

    searchUtxos(request, context) {
      return backend.read(context, async (query, task) => {
        const { utxos: items, nextToken } = await searchUtxos(backend, query, task, request, (utxo) => heldUtxo(task, utxo));
        return masked(newMessage(messages.SearchUtxosResponse, { items, nextToken, ledgerTip: tipOf(query) }), request.fieldMask);
      });
    },

    readTx({ hash, fieldMask }, context) {
      const id = hashOf(hash, TXID_BYTES, 'hash');
      return backend.read(context, (query, task) => {
        const tx = new Transactions(query).byId(id);
        if (tx === null) throw new UnspentError('NOT_FOUND', `there is no transaction ${toHex(id)} on our chain`);
        const { raw, slot, height, blockHash } = tx;
        holdMessage(task, raw.length);
        const found: MessageInit<messages.AnyChainTx> = {
          nativeBytes: raw,
          chain: { case: 'cardano', value: txMessage(tx) },
          blockRef: backend.point({ slot, height, hash: blockHash }),
        };
        return masked(newMessage(messages.ReadTxResponse, { tx: found, ledgerTip: tipOf(query) }), fieldMask);
      });
    },

    readData({ keys, fieldMask }, context) {
      checkCount(keys.length, 'keys');
      const hashes = keys.map((key) => hashOf(key, DATUM_HASH_BYTES, 'keys'));
      return backend.read(context, (query, task) => {
        const values: MessageInit<messages.AnyChainDatum>[] = [];
        const take = (key: Uint8Array): boolean => {
          const datum = query.datum(key);
          if (datum === null) return true;
          holdMessage(task, datum.bytes.length);
          values.push(datumMessage(key, datum.bytes));
          return true;
        };
        const result = () => masked(newMessage(messages.ReadDataResponse, { values, ledgerTip: tipOf(query) }), fieldMask);
        return task.inSlices(hashes, take, result);
      });
    },
  };
}

function heldUtxo(task: Task, utxo: Utxo): MessageInit<messages.AnyUtxoData> {
  holdMessage(task, utxo.output.raw.length);
  return utxoMessage(utxo);
}

/** In the order of the keys; a few are looked up at once. */
function* lookedUp<Row>(keys: readonly Uint8Array[], lookUp: (keys: readonly Uint8Array[]) => readonly Row[]): Generator<Row, void, void> {
  for (let at = 0; at < keys.length; at += UTXORPC_LOOKUPS_MAX) yield* lookUp(keys.slice(at, at + UTXORPC_LOOKUPS_MAX));
}

function datumMessage(key: Uint8Array, nativeBytes: Uint8Array): MessageInit<messages.AnyChainDatum> {
  const value = dataMessage(nativeBytes);
  return { key, nativeBytes, parsedState: value === undefined ? { case: undefined } : { case: 'cardano', value } };
}

export function checkCount(count: number, field: string): void {
  if (count > UTXORPC_ITEMS_MAX)
    throw new UnspentError('LIMIT', `${field} has ${count} entries, more than ${UTXORPC_ITEMS_MAX}`, { field, limit: UTXORPC_ITEMS_MAX });
}

export function hashOf(bytes: Uint8Array, length: number, field: string): Uint8Array {
  if (bytes.length === length) return bytes;
  throw new UnspentError('USAGE', `a hash in ${field} has ${length} bytes, not ${bytes.length}`, { field });
}
