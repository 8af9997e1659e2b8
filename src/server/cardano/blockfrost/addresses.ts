/**
 * What an address holds, added up: as it is kept, where the store keeps
 * balances, otherwise from its outputs, in slices, because there may be many.
 */
import type { FastifyInstance } from 'fastify';
import { formatAddress, stakeAddressOf } from '../../../ledgers/cardano/index.ts';
import { BalanceSum } from '../../../query/balance.ts';
import type { Query } from '../../../query/query.ts';
import type { Balance } from '../../../query/view.ts';
import type { Task } from '../../http/work/task.ts';
import type { BlockfrostAnswers } from './answer.ts';
import { type OutputHolder, parseHolder } from './holder.ts';
import { amountsOf } from './output-json.ts';

export function registerAddresses(app: FastifyInstance, answers: BlockfrostAnswers): void {
  app.get('/addresses/:address', (request, reply) => {
    const text = (request.params as { readonly address: string }).address;
    const holder = parseHolder(text, answers.network);
    const document = ({ value, assets }: Balance): object => summaryOf(text, holder, amountsOf(value, assets));
    answers.give(request, reply, (query) => {
      const balance = balanceOf(query, answers, holder, request.task);
      return balance instanceof Promise ? balance.then(document) : document(balance);
    });
  });
}

function summaryOf(text: string, { address, bytes }: OutputHolder, amount: readonly object[]): object {
  const stake = bytes === null ? null : stakeAddressOf(bytes);
  return {
    address: bytes === null ? text : formatAddress(bytes),
    amount,
    stake_address: stake === null ? null : formatAddress(stake),
    type: address?.kind === 'byron' ? 'byron' : 'shelley',
    script: address === null ? text.toLowerCase().startsWith('script') : address.payment?.kind === 'script',
  };
}

function balanceOf(query: Query, { traits }: BlockfrostAnswers, { pattern }: OutputHolder, task: Task): Balance | Promise<Balance> {
  const { kind, key } = pattern;
  const stored = query.storedBalance(kind, key);
  if (stored !== null) return stored;
  const sum = new BalanceSum(traits);
  const add = (utxo: Parameters<BalanceSum['add']>[0]): boolean => {
    sum.add(utxo);
    return true;
  };
  return task.inSlices(query.byKey(kind, key), add, () => sum.end());
}
