/**
 * Lists of a wallet, page by page: coins, leases, transactions, reorganisations
 * and events. The header `x-next-after` is the key of the next page, as in all
 * lists of the server; a reader of events goes on behind the last sequence.
 */
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { parseOutpoint } from '../../ledgers/outpoint.ts';
import { WALLET_EVENT_LOOK_MS } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import { coinJson, type WalletNotation } from '../../wallet/documents.ts';
import { entriesJson, eventJson, reorgsJson, txsJson } from '../../wallet/history-documents.ts';
import type { NumberedWalletEvent, WalletId } from '../../wallet/records.ts';
import { listReorgEffects } from '../../wallet/reorg-effects.ts';
import type { CoinPlace, WalletStore } from '../../wallet/store.ts';
import type { App } from '../http/typed.ts';
import { describedWallet, fields, TxidHex, WalletName } from './schemas.ts';
import type { WalletAccess } from './wallet-access.ts';

const PAGE_ROWS = 100;
export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: `Rows at most; default ${PAGE_ROWS}.` }));
const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'x-next-after of the page before.' });
const closed = { additionalProperties: false } as const;

/** One row more than the page has is read, so that the last page is known to be the last. */
export async function walletPage<Row>(
  reply: FastifyReply,
  limit: number | undefined,
  read: (limit: number) => Promise<readonly Row[]>,
  keyOf: (last: Row) => string,
): Promise<readonly Row[]> {
  const size = limit ?? PAGE_ROWS;
  const rows = await read(size + 1);
  if (rows.length > size) reply.header('x-next-after', keyOf(rows[size - 1]));
  return rows.slice(0, size);
}

export function registerWalletLists(app: App, access: WalletAccess): void {
  registerCoins(app, access);
  registerHistory(app, access);
  registerEvents(app, access);
}

function registerCoins(app: App, access: WalletAccess): void {
  const after = Type.Optional(
    Type.String({ pattern: '^\\d{1,20}:[0-9a-f]{64}#\\d{1,10}$', description: 'x-next-after of the page before.' }),
  );
  const querystring = Type.Object(
    { limit: Limit, after, min_confs: Type.Optional(Type.Integer({ minimum: 0, description: 'Confirmations at least.' })) },
    closed,
  );
  const schema = { ...describedWallet('Its coins, smallest first, with their leases', fields('coins')), params: WalletName, querystring };
  app.get('/:name/coins', { schema }, ({ params, query }, reply) =>
    access.answer(reply, async ({ store, notation, now }) => {
      const wallet = await store.getWallet(params.name);
      const behind = query.after === undefined ? undefined : coinPlace(notation, query.after);
      const filter = { now: now(), minConfs: query.min_confs };
      const coins = await walletPage(
        reply,
        query.limit,
        (limit) => store.listCoins(wallet.id, filter, { limit, after: behind }),
        ({ amount, outpoint }) => `${amount}:${notation.formatId(outpoint.txId)}#${outpoint.index}`,
      );
      return { coins: coins.map((coin) => coinJson(notation, wallet, coin)) };
    }),
  );
  const leaseSchema = { ...describedWallet('Its coins that somebody has reserved', fields('leases')), params: WalletName };
  app.get('/:name/leases', { schema: leaseSchema }, ({ params }, reply) =>
    access.answer(reply, async ({ store, notation, now }) => {
      const wallet = await store.getWallet(params.name);
      return { leases: (await store.listLeases(wallet.id, now())).map((coin) => coinJson(notation, wallet, coin)) };
    }),
  );
}

function coinPlace({ parseId }: WalletNotation, text: string): CoinPlace {
  const [amount, outpoint] = text.split(':');
  return { amount: BigInt(amount), outpoint: parseOutpoint(outpoint, parseId) };
}

function registerHistory(app: App, access: WalletAccess): void {
  const querystring = Type.Object(
    {
      limit: Limit,
      after: Type.Optional(TxidHex),
      grouped: Type.Optional(
        Type.Boolean({ description: 'What was replaced is told with what replaced it (`group`), and not by itself.' }),
      ),
    },
    closed,
  );
  const schema = { ...describedWallet('Its transactions, newest first', fields('transactions')), params: WalletName, querystring };
  app.get('/:name/transactions', { schema }, ({ params, query }, reply) =>
    access.answer(reply, async (wallets) => {
      const { store, notation } = wallets;
      const wallet = await store.getWallet(params.name);
      const after = query.after === undefined ? undefined : notation.parseId(query.after);
      const details = await walletPage(
        reply,
        query.limit,
        (limit) => store.history(wallet.id, { limit, after, withoutReplaced: query.grouped }),
        ({ tx }) => notation.formatId(tx.id),
      );
      return { transactions: await (query.grouped === true ? entriesJson : txsJson)(wallets, wallet, details) };
    }),
  );
  const reorgSchema = {
    ...describedWallet('What reorganisations did to it, newest first', fields('reorgs')),
    params: WalletName,
    querystring: Type.Object({ limit: Limit, after: Type.Optional(Sequence) }, closed),
  };
  app.get('/:name/reorgs', { schema: reorgSchema }, ({ params, query }, reply) =>
    access.answer(reply, async (wallets) => {
      const wallet = await wallets.store.getWallet(params.name);
      const read = (limit: number) => listReorgEffects(wallets.store, wallet.id, { limit, after: query.after });
      const reorgs = await walletPage(reply, query.limit, read, ({ sequence }) => `${sequence}`);
      return { reorgs: await reorgsJson(wallets, wallet, reorgs) };
    }),
  );
}

function registerEvents(app: App, access: WalletAccess): void {
  const querystring = Type.Object(
    {
      limit: Limit,
      after: Type.Optional(
        Type.Integer({
          ...Sequence,
          description:
            'The sequence of the last one that was read (410: some behind it are forgotten); default: from the oldest that is kept.',
        }),
      ),
      wait: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 600, description: 'Seconds to wait for one, and server.waitSecondsMax at most.' }),
      ),
    },
    closed,
  );
  const schema = { ...describedWallet('What happened to it, in order', fields('events')), params: WalletName, querystring };
  app.get('/:name/events', { schema }, ({ params, query }, reply) =>
    access.answer(reply, async ({ store, notation }) => {
      const { id } = await store.getWallet(params.name);
      const range = { after: query.after ?? (await store.eventRange()).trimmed, limit: query.limit ?? PAGE_ROWS };
      const events = await eventsWithin(1000 * Math.min(query.wait ?? 0, access.waitSecondsMax), reply, store, id, range);
      return { events: events.map((event) => eventJson(notation, event)) };
    }),
  );
}

/** Looks now and then, because other processes may change the wallet, until there is one, the time is over, or the caller has hung up. */
async function eventsWithin(
  waitMs: number,
  reply: FastifyReply,
  store: WalletStore,
  walletId: WalletId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly NumberedWalletEvent[]> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  for (const end = performance.now() + waitMs; ; ) {
    const events = await store.listEvents(after, limit, walletId);
    const isGone = gone.signal.aborted || reply.request.task.isCancelled;
    if (events.length > 0 || performance.now() >= end || isGone) return events;
    const since = performance.now();
    await pause(WALLET_EVENT_LOOK_MS, { signal: gone.signal });
    reply.request.task.waitedMs += performance.now() - since;
  }
}
