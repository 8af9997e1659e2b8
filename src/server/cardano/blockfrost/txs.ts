/**
 * Transactions. With a history (`utxo.history`) they are known as they were
 * submitted; without one, or before it began, a store knows that they are in a
 * block, and what of their outputs is there. That is enough for clients that wait
 * for a transaction or look up an output, so these two are always answered:
 * outputs that were spent and forgotten are left out, what is not kept is null.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { slotToTime } from '../../../ledgers/cardano/index.ts';
import { TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { type ResolvedTx, Transactions } from '../../../query/cardano/transactions.ts';
import { hexOf } from '../../../query/dialect.ts';
import { type HistoryPlace, isGone } from '../../../query/history.ts';
import type { Query } from '../../../query/query.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { type GivenParameters, hexParameter, parameter, wrongParameter } from '../../http/parameters.ts';
import { type TakenPage, takePage } from '../../http/slices.ts';
import { type BlockfrostAnswers, notFound } from './answer.ts';
import { parseHolder } from './holder.ts';
import { OutputWriter } from './output-json.ts';
import { listName, readPage } from './page.ts';
import { PagePlaces } from './page-places.ts';
import { metadataCbor, metadataList, redeemersJson, txInputs, txJson, txOutput } from './tx-json.ts';

/** Where a transaction is known only by what it made. */
type KnownTx = ReturnType<Query['tx']>;

export function registerTxs(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const give = (path: string, write: (query: Query, txId: Uint8Array, hash: string) => object | null): void => {
    app.get(path, (request, reply) => {
      const hash = (request.params as { readonly hash: string }).hash.toLowerCase();
      const txId = hexParameter(hash, 'transaction id', TXID_BYTES);
      answers.give(request, reply, (query) => write(query, txId, hash));
    });
  };
  give('/txs/:hash', (query, txId, hash) => txJson(wholeTx(query, txId, hash), answers));
  give('/txs/:hash/redeemers', (query, txId, hash) => redeemersJson(wholeTx(query, txId, hash)));
  give('/txs/:hash/metadata', (query, txId, hash) => metadataList(wholeTx(query, txId, hash)));
  give('/txs/:hash/utxos', (query, txId, hash) => {
    const tx = keptTx(query, txId, hash);
    const writer = new OutputWriter(query, answers.dialect, answers.isYaci);
    const outputs = tx.outputs.map((utxo) => txOutput(utxo, writer));
    return 'raw' in tx ? { hash, inputs: txInputs(tx, writer), outputs } : { hash, outputs };
  });
  give('/txs/:hash/cbor', (query, txId, hash) => {
    const tx = keptTx(query, txId, hash);
    return { cbor: 'raw' in tx ? hexOf(tx.raw) : null };
  });
  give('/txs/:hash/metadata/cbor', (query, txId, hash) => {
    const tx = keptTx(query, txId, hash);
    return 'raw' in tx ? metadataCbor(tx) : null;
  });
  registerOwnerTxs(app, answers);
}

/** Throws NOT_FOUND, UNSUPPORTED where no history is kept, PRUNED where it does not go back so far. */
function wholeTx(query: Query, txId: Uint8Array, hash: string): ResolvedTx {
  const tx = new Transactions(query).byId(txId);
  if (tx === null) throw missing(hash);
  return tx;
}

/** All that is known of it. Throws NOT_FOUND. */
function keptTx(query: Query, txId: Uint8Array, hash: string): ResolvedTx | KnownTx {
  try {
    const tx = new Transactions(query).byId(txId);
    if (tx !== null) return tx;
  } catch (error) {
    if (!isUnspentError(error, 'UNSUPPORTED') && !isGone(error)) throw error;
  }
  const known = query.tx(txId);
  // What genesis grants has an id, but no transaction made it.
  if (known.row === null && known.outputs.length === 0) throw missing(hash);
  return known;
}

function missing(hash: string): UnspentError {
  return notFound(`no transaction ${hash} is in a block of ours`);
}

function registerOwnerTxs(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const places = new PagePlaces<HistoryPlace>();
  app.get('/addresses/:address/transactions', (request, reply) => {
    const { pattern } = parseHolder((request.params as { readonly address: string }).address, answers.network);
    const page = readPage(request);
    const [from, to] = [readPlace(request, 'from', 0), readPlace(request, 'to', Number.MAX_SAFE_INTEGER)];
    const accept = (row: HistoryPlace): boolean => (from === null || !isBefore(row, from)) && (to === null || !isBefore(to, row));
    answers.give(request, reply, (query) => {
      const txs = new Transactions(query);
      checkStart(txs.outputs.history.startHeightOf(pattern.kind), from?.height ?? 0);
      const list = listName(request, query, page);
      const { after, skip } = places.find(list, page);
      // Some of the first and the last block may not be wanted, so that so many more are read.
      const limit = from === null && to === null ? skip + page.limit : undefined;
      const heights = { fromHeight: from?.height, toHeight: to?.height };
      const rows = txs.ofOwner(pattern.kind, pattern.key, { ...heights, order: page.order, after, limit });
      const finish = ({ rows: made, last }: TakenPage<HistoryPlace, object>): readonly object[] => {
        if (last !== null && made.length === page.limit) places.remember(list, page.skip + page.limit, placeOf(last));
        return made;
      };
      const taken = takePage(request.task, rows, { skip, limit: page.limit, accept }, ({ id, txIndex, height, slot }) => ({
        tx_hash: hexOf(id),
        tx_index: txIndex,
        block_height: height,
        block_time: Math.floor(slotToTime(answers.network, slot)),
      }));
      return taken instanceof Promise ? taken.then(finish) : finish(taken);
    });
  });
}

function placeOf({ height, txIndex }: HistoryPlace): HistoryPlace {
  return { height, txIndex };
}

/** `HEIGHT` or `HEIGHT:INDEX`; null: not given. `index` is that of a block as a whole. */
function readPlace({ query }: FastifyRequest, name: string, index: number): HistoryPlace | null {
  const text = parameter(query as GivenParameters, name);
  if (text === undefined) return null;
  const [, height, txIndex] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text) ?? [];
  if (height === undefined)
    throw wrongParameter(name, 'it is the height of a block, with or without the place of a transaction behind a colon');
  return { height: Number(height), txIndex: txIndex === undefined ? index : Number(txIndex) };
}

function isBefore(a: HistoryPlace, b: HistoryPlace): boolean {
  return a.height === b.height ? a.txIndex < b.txIndex : a.height < b.height;
}

/** A list without its beginning would be taken for all there is. Throws PRUNED. */
function checkStart(startHeight: number, fromHeight: number): void {
  if (fromHeight >= startHeight) return;
  const message = `the history begins at height ${startHeight}, where utxo.history was switched on: ask with from=${startHeight}`;
  throw new UnspentError('PRUNED', message, { field: 'from', height: startHeight });
}
