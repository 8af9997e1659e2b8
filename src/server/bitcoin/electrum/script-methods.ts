/**
 * What belongs to a script: balance, history, unspent outputs, and news of it.
 */

import { formatId, scriptKey } from '../../../ledgers/bitcoin/index.ts';
import { isUnspendable } from '../../../ledgers/bitcoin/transaction.ts';
import type { Mempool } from '../../../query/bitcoin/mempool/mempool.ts';
import type { IndexedUtxo, Query } from '../../../query/query.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import type { Task } from '../../http/work/task.ts';
import type { Backend } from './backend.ts';
import type { Method, MethodCaller, Methods } from './method.ts';
import { type ScriptHash, scriptHash } from './params.ts';
import { historyEntries, mempoolEntries, tooLarge } from './scripts.ts';
import type { Subscriptions } from './subscriptions.ts';

interface Unspent {
  readonly tx_hash: string;
  readonly tx_pos: number;
  /** 0: in the mempool. */
  readonly height: number;
  readonly value: number;
}

export function scriptMethods(backend: Backend, subscriptions: Subscriptions): Methods {
  const { mempool, historyMax } = backend;
  const reading = (body: (task: Task, query: Query, key: Uint8Array) => unknown): Method =>
    ofScript(({ key }, { task }) => backend.read((query) => body(task, query, key), task));
  return {
    'blockchain.scripthash.get_balance': reading((task, query, key) => balance(task, query, mempool, key)),
    'blockchain.scripthash.get_history': reading((task, query, key) => historyEntries(task, query, mempool, key, historyMax)),
    'blockchain.scripthash.get_mempool': ofScript(({ key }) => mempoolEntries(mempool, key)),
    'blockchain.scripthash.listunspent': reading((task, query, key) => unspent(task, query, mempool, key, historyMax)),
    'blockchain.scripthash.subscribe': ofScript((script, asker) => subscriptions.add(asker, script)),
    'blockchain.scripthash.unsubscribe': ofScript((script, asker) => subscriptions.remove(asker, script)),
  };
}

function ofScript(body: (script: ScriptHash, asker: MethodCaller) => unknown): Method {
  return { names: ['scripthash'], needed: 1, run: ([given], asker) => body(scriptHash(given), asker) };
}

/** `unconfirmed` is what the mempool adds to it, which may be less than nothing. */
function balance(task: Task, query: Query, mempool: Mempool, key: Uint8Array): unknown {
  const { fundedSum, spentSum } = mempool.totals(key);
  let confirmed = 0n;
  const add = ({ output }: IndexedUtxo): boolean => {
    confirmed += output.value;
    return true;
  };
  return task.inSlices(query.byKey('address', key), add, () => ({
    confirmed: Number(confirmed),
    unconfirmed: Number(fundedSum - spentSum),
  }));
}

/** In the order of the chain, those of the mempool last; what the mempool spends is not among them. */
function unspent(task: Task, query: Query, mempool: Mempool, key: Uint8Array, max: number): unknown {
  // All of the mempool now: by the time the last row is read it may be of another point.
  const spent = spentInMempool(mempool, key);
  const unconfirmed = unspentInMempool(mempool, key);
  const list: Unspent[] = [];
  const add = ({ txId, index, output: { height, value } }: IndexedUtxo): boolean => {
    if (spent.has(outpointText(txId, index))) return true;
    if (list.length + unconfirmed.length >= max) throw tooLarge(max);
    list.push({ tx_hash: formatId(txId), tx_pos: index, height, value: Number(value) });
    return true;
  };
  return task.inSlices(query.byKey('address', key), add, () => list.concat(unconfirmed));
}

function spentInMempool(mempool: Mempool, key: Uint8Array): Set<string> {
  return new Set(mempool.byScript(key).flatMap(({ described }) => described.inputs.map(({ txId, index }) => outpointText(txId, index))));
}

function outpointText(txId: Uint8Array, index: number): string {
  return `${toHex(txId)}:${index}`;
}

function unspentInMempool(mempool: Mempool, key: Uint8Array): Unspent[] {
  return mempool
    .byScript(key)
    .flatMap(({ id, described }) =>
      described.outputs
        .filter(({ index, script }) => isOwn(script, key) && mempool.spender(id, index) === null)
        .map(({ index, value }) => ({ tx_hash: formatId(id), tx_pos: index, height: 0, value: Number(value) })),
    );
}

function isOwn(script: Uint8Array, key: Uint8Array): boolean {
  return !isUnspendable(script, 0, script.length) && equalBytes(scriptKey(script), key);
}
