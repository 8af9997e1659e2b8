/**
 * What an address or a stake credential holds: lovelace and every asset. As it
 * is kept, where the store keeps balances; otherwise added up from the outputs,
 * in slices, because there may be many.
 */
import Type from 'typebox';
import type { KeyKind } from '../../../ledgers/ledger.ts';
import { BalanceSum } from '../../../query/balance.ts';
import { renderBalance } from '../../../query/render.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers, Produce } from '../answer.ts';
import { addressKey, stakeKey } from '../keys.ts';
import { described } from '../openapi.ts';
import { BalanceQuery, PATH, ref } from '../schemas.ts';

export function registerBalances(app: App, answers: NativeAnswers): void {
  const { dialect, ledger } = answers.context.network;
  const balanceOf =
    (kind: KeyKind, key: Uint8Array): Produce =>
    ({ query, view, task }) => {
      if (query.storedBalance(kind, key) !== null) return JSON.stringify(renderBalance(view.balance(kind, key), dialect));
      const sum = new BalanceSum(ledger.traits);
      const add = (utxo: Parameters<BalanceSum['add']>[0]): boolean => {
        sum.add(utxo);
        return true;
      };
      return task.inSlices(view.byKey(kind, key), add, () => JSON.stringify(renderBalance(sum.end(), dialect)));
    };

  const addressSchema = {
    ...described('Balances', 'What an address holds', { json: ref('Balance') }),
    params: Type.Object({ address: PATH.address }),
    querystring: BalanceQuery,
  };
  app.get('/addresses/:address/balance', { schema: addressSchema }, (request, reply) => {
    answers.give(request, reply, balanceOf('address', addressKey(request.params.address, dialect)));
  });

  if (!ledger.keyKinds.includes('stake')) return;
  const stakeSchema = {
    ...described('Balances', 'What a stake credential holds', { json: ref('Balance') }),
    params: Type.Object({ stake: PATH.stake }),
    querystring: BalanceQuery,
  };
  app.get('/stake/:stake/balance', { schema: stakeSchema }, (request, reply) => {
    answers.give(request, reply, balanceOf('stake', stakeKey(request.params.stake, dialect)));
  });
}
