/**
 * What waits for a block, by what it pays: where blocks are bid for, that is, on
 * the Bitcoin family. It changes without a new block, so it is never kept by a
 * cache. Transactions themselves are in the shapes of the family.
 */
import Type from 'typebox';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers } from '../answer.ts';
import { describedStatus } from '../openapi.ts';

/** Rates that a bin begins at; the last is open. Finer where most transactions are. */
const EDGES = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000];

const count = (description: string) => Type.Integer({ minimum: 0, description });
const Bin = Type.Object(
  {
    from: Type.Number({ description: 'Satoshi for a virtual byte, at least.' }),
    to: Type.Optional(Type.Number({ description: 'And less than this; absent in the last.' })),
    count: count('Transactions.'),
    vsize: count('Their virtual bytes together.'),
  },
  { additionalProperties: false },
);
const Backlog = Type.Object(
  {
    count: count('Transactions that wait.'),
    vsize: count('Virtual bytes of those whose fee is known.'),
    bins: Type.Array(Bin, { description: 'By fee rate, from low to high, empty ones at both ends left out.' }),
  },
  { additionalProperties: false },
);

export function registerMempool(app: App, answers: NativeAnswers): void {
  const { mempool } = answers.context;
  if (mempool?.feeRates === undefined) return;
  const schema = describedStatus(
    'What waits for a block, by fee rate',
    Backlog,
    'Of the node that is followed, without transactions of unknown fee.',
  );
  app.get('/mempool', { schema }, (_request, reply) => {
    const rates = mempool.feeRates?.() ?? [];
    const vsize = rates.reduce((sum, { virtualSize }) => sum + virtualSize, 0);
    answers.name(reply);
    const document = { count: mempool.size, vsize, bins: binsOf(rates) };
    reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(document));
  });
}

function binsOf(rates: readonly { readonly rate: number; readonly virtualSize: number }[]): object[] {
  const bins = EDGES.map((from, i) => ({ from, ...(i + 1 < EDGES.length ? { to: EDGES[i + 1] } : {}), count: 0, vsize: 0 }));
  for (const { rate, virtualSize } of rates) {
    const bin = bins.findLast(({ from }) => rate >= from) ?? bins[0];
    bin.count++;
    bin.vsize += virtualSize;
  }
  const [first, last] = [bins.findIndex((bin) => bin.count > 0), bins.findLastIndex((bin) => bin.count > 0)];
  return first === -1 ? [] : bins.slice(first, last + 1);
}
