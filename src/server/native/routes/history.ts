/**
 * What happened, for stores with a history (`utxo.history`): a transaction with
 * everything it names, and the transactions of an address or a credential in the
 * order of the chain. Where the history began later than the store, the header
 * `x-history-from` says at which height.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TObject } from 'typebox';
import type { KeyKind } from '../../../ledgers/ledger.ts';
import type { Dialect } from '../../../query/dialect.ts';
import { ownerTxs } from '../../../query/owner-txs.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { ResponseBody } from '../../http/read-answer.ts';
import { joinRows } from '../../http/rows.ts';
import { makePage, type PageRows } from '../../http/slices.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers, ReadContext } from '../answer.ts';
import { addressKey, paymentKey, stakeKey } from '../keys.ts';
import { described } from '../openapi.ts';
import { announceNext, type PagePlan, planPage } from '../paging.ts';
import { historyQuery, NowQuery, PATH, ref } from '../schemas.ts';

type Params = Readonly<Record<string, string>>;

interface OwnerRoute {
  readonly path: string;
  readonly params: TObject;
  readonly kind: KeyKind;
  readonly of: string;
  key(params: Params, dialect: Dialect): Uint8Array;
}

const OWNERS: readonly OwnerRoute[] = [
  {
    path: '/addresses/:address/txs',
    params: Type.Object({ address: PATH.address }),
    kind: 'address',
    of: 'an address',
    key: ({ address }, dialect) => addressKey(address, dialect),
  },
  {
    path: '/credentials/:credential/txs',
    params: Type.Object({ credential: PATH.credential }),
    kind: 'payment',
    of: 'a payment credential',
    key: ({ credential }, dialect) => paymentKey(credential, dialect),
  },
  {
    path: '/stake/:stake/txs',
    params: Type.Object({ stake: PATH.stake }),
    kind: 'stake',
    of: 'a stake credential',
    key: ({ stake }, dialect) => stakeKey(stake, dialect),
  },
];

export function registerHistory(app: App, answers: NativeAnswers): void {
  registerTransaction(app, answers);
  const { rowsMax } = answers.context.config.server;
  const { ledger, dialect } = answers.context.network;
  for (const { path, params, kind, of, key } of OWNERS.filter((owner) => ledger.keyKinds.includes(owner.kind))) {
    const schema = {
      ...described('Transactions', `Transactions of ${of}`, {
        json: Type.Array(ref('OwnerTx')),
        paged: true,
        description: 'In the order of the chain, each with what it paid there and spent from there. Needs `utxo.history`.',
      }),
      params,
      querystring: historyQuery(rowsMax),
    };
    app.get(path, { schema }, (request, reply) => {
      const owner = { kind, key: key(request.params as Params, dialect) };
      answers.give(request, reply, (read) => {
        const plan = planPage(request.query, read, `history.${kind}`, owner.key, rowsMax);
        return onePage(request, reply, read, owner, plan);
      });
    });
  }
}

/** Only where the family says how a transaction is shown (`Dialect.transaction`). */
function registerTransaction(app: App, answers: NativeAnswers): void {
  const { dialect } = answers.context.network;
  const { transaction } = dialect;
  if (transaction === undefined) return;
  const schema = {
    ...described('Transactions', 'A transaction', {
      json: ref('Transaction'),
      description: 'With the outputs it spends and refers to, what it gives to scripts, and its CBOR. Needs `utxo.history`.',
    }),
    params: Type.Object({ tx: PATH.tx }),
    querystring: NowQuery,
  };
  app.get('/txs/:tx', { schema }, (request, reply) => {
    const { tx } = request.params;
    const txId = dialect.parseId(tx);
    answers.give(request, reply, ({ query, renderer }) => {
      const found = transaction(query, txId, renderer);
      if (found === null) throw new UnspentError('NOT_FOUND', `no transaction ${tx}`);
      return JSON.stringify(found);
    });
  });
}

function onePage(
  request: FastifyRequest,
  reply: FastifyReply,
  read: ReadContext,
  { kind, key }: { readonly kind: KeyKind; readonly key: Uint8Array },
  plan: PagePlan,
): ResponseBody | Promise<ResponseBody> {
  const { order, after, skip } = plan;
  const { query, view, renderer, task } = read;
  const startHeight = query.history().startHeightOf(kind);
  if (startHeight > 0) reply.header('x-history-from', startHeight);
  // Before the first block there is nothing.
  if (view.head === null || plan.limit === null) return '[]';
  // One more than asked for, to know whether there is a next page.
  const source = ownerTxs(query, kind, key, { order, after, limit: skip + plan.limit + 1, toHeight: view.head.height });
  const finish = ({ rows, next }: PageRows): ResponseBody => {
    if (next !== null) announceNext(request, reply, read, `history.${kind}`, plan, next);
    return joinRows(rows, 'json');
  };
  const made = makePage(task, source, { skip, limit: plan.limit }, (row) => JSON.stringify(renderer.ownerTx(row)));
  return made instanceof Promise ? made.then(finish) : finish(made);
}
