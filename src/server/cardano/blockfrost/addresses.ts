/**
 * What an address holds, and what it is.
 */
import type { FastifyInstance } from 'fastify';
import { formatAddress, stakeAddressOf } from '../../../ledgers/cardano/index.ts';
import type { Balance } from '../../../query/view.ts';
import type { BlockfrostAnswers } from './answer.ts';
import { balanceOf } from './balance.ts';
import { type OutputHolder, parseHolder } from './holder.ts';
import { amountsOf } from './output-json.ts';

export function registerAddresses(app: FastifyInstance, answers: BlockfrostAnswers): void {
  app.get('/addresses/:address', (request, reply) => {
    const text = (request.params as { readonly address: string }).address;
    const holder = parseHolder(text, answers.network);
    const document = ({ value, assets }: Balance): object => summaryOf(text, holder, amountsOf(value, assets));
    answers.give(request, reply, (query) => {
      const balance = balanceOf(query, answers, holder.pattern, request.task);
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
