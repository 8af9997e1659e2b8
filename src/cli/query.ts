/**
 * `query ...`: reads, each pinned to one point of the chain, which every answer
 * names. Lists of outputs are in `query-list.ts`.
 */
import type { Command } from 'commander';
import { parseOutpoint, TXID_BYTES } from '../ledgers/outpoint.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { TxRow } from '../projections/transactions.ts';
import type { Dialect } from '../query/dialect.ts';
import { parsePlace, pointAt } from '../query/place.ts';
import type { Query } from '../query/query.ts';
import { renderBalance, renderPoint } from '../query/render.ts';
import type { Seen } from '../query/seen.ts';
import type { ChainView } from '../query/view.ts';
import { fromHex, toHex } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';
import { action, type Context } from './context.ts';
import { counted, pairs, pointText } from './format.ts';
import { paged, queryAddress, queryAsset, queryCredential, queryPolicy } from './query-list.ts';
import { notFound, parseScriptHash, type QueryRead, withQuery } from './query-read.ts';
import { type BlockChangeCounts, balanceRows, blockRows, seenRows, txRows, utxoRows, utxoTable } from './utxo-table.ts';

const DATUM_HASH_BYTES = 32;

export function registerQuery(program: Command): void {
  const query = program
    .command('query')
    .description('look up outputs, balances, transactions and blocks')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  $ unspent query outpoint 4843cf2e582b2f9ce37600e5ab4cc678991f988f8780fed05407f9537f7712bd#0
  $ unspent query address addr_test1qz... --limit 20 --order desc
  $ unspent query credential 5f8a...e1 --stake --json
  $ unspent query balance stake_test1uq... --at height:1500
  $ unspent query tx 4843cf2e582b2f9ce37600e5ab4cc678991f988f8780fed05407f9537f7712bd`,
    );
  inTime(query.command('outpoint').description('one output, unspent or spent'))
    .argument('<txid#index>', 'transaction id in hex, and the number of the output')
    .action(action(queryOutpoint));
  inTime(paged(query.command('address').description('unspent outputs of an address')))
    .argument('<address>', 'bech32, base58 (Byron) or hex')
    .action(action(queryAddress));
  inTime(paged(query.command('credential').description('unspent outputs of a payment or stake credential')))
    .argument('<credential>', '28 bytes of hex, addr_vkh1..., stake_vkh1..., script1..., or a stake address')
    .option('--stake', 'the stake part of addresses; without it the payment part, unless the text says which')
    .action(action(queryCredential));
  inTime(paged(query.command('asset').description('unspent outputs that hold an asset')))
    .argument('<unit>', 'policy id and asset name in hex, joined or with a dot between them')
    .action(action(queryAsset));
  inTime(paged(query.command('policy').description('unspent outputs that hold assets of a policy')))
    .argument('<id>', 'policy id in hex')
    .action(action(queryPolicy));
  inTime(query.command('balance').description('what an address or a stake address holds'))
    .argument('<address>', 'an address, a stake address, or stake_vkh1...')
    .action(action(queryBalance));
  inTime(query.command('tx').description('where a transaction is, and its outputs'))
    .argument('<txid>', 'transaction id in hex')
    .action(action(queryTx));
  registerByName(query);
}

function registerByName(query: Command): void {
  query
    .command('block')
    .description('a block, and what it did')
    .argument('<id>', 'a block hash, height:N, slot:N, or a slot number')
    .action(action(queryBlock));
  query
    .command('datum')
    .description('a datum by its hash, and where it was seen first')
    .argument('<hash>', '32 bytes of hex')
    .action(action(queryDatum));
  query
    .command('script')
    .description('a script by its hash, and where it was seen first')
    .argument('<hash>', '28 bytes of hex, or script1...')
    .action(action(queryScript));
}

function inTime(command: Command): Command {
  return command.option('--at <place>', 'as it was then: slot:N, height:N, a block hash, or a slot number');
}

function queryOutpoint(context: Context, text: string): Promise<void> {
  // A mistyped outpoint is a usage error, whatever the store is like.
  parseOutpoint(text);
  return withQuery(context, ({ view, renderer, dialect }) => {
    const { txId, index } = parseOutpoint(text, dialect.parseId);
    const found = view.outpoint(txId, index);
    if (found === null) throw notFound(`no output ${text} (it never was, or was spent and forgotten)`, view, dialect);
    const utxo = renderer.utxo(found);
    if (context.output.json) context.output.document({ point: renderPoint(view.head, dialect), utxo });
    else context.output.pairs([...utxoRows(utxo, dialect.currency), ['read at', pointText(view.head, dialect)]]);
  });
}

function queryBalance(context: Context, text: string): Promise<void> {
  return withQuery(context, ({ view, dialect }) => {
    const { kind, key } = dialect.holder(text);
    const balance = renderBalance(view.balance(kind, key), dialect);
    if (context.output.json) context.output.document({ point: renderPoint(view.head, dialect), balance });
    else context.output.pairs([...balanceRows(balance, dialect.currency), ['read at', pointText(view.head, dialect)]]);
  });
}

function queryTx(context: Context, text: string): Promise<void> {
  fromHex(text, TXID_BYTES);
  return withQuery(context, ({ query, view, renderer, dialect }) => {
    const txId = dialect.parseId(text);
    const { row, outputs } = query.totals === null ? placeOf(query, view, txId) : view.tx(txId);
    // Genesis outputs have an id, but no transaction made them.
    if (row === null && (outputs ?? []).length === 0) throw notFound(`no transaction ${text}`, view, dialect);
    const tx = row === null ? null : renderer.tx(txId, row);
    const utxos = outputs?.map((output) => renderer.utxo(output)) ?? null;
    if (context.output.json) {
      context.output.document({ point: renderPoint(view.head, dialect), tx, outputs: utxos });
      return;
    }
    context.output.line(tx === null ? `outputs of the genesis, by the id ${text}` : pairs(txRows(tx)));
    if (utxos !== null && utxos.length > 0) context.output.line(`\n${utxoTable(utxos, dialect)}\n`);
    const known = utxos === null ? 'outputs are not kept (utxo.enabled is off)' : `${counted(utxos.length, 'output')} known`;
    context.output.line(`${known}, read at ${pointText(view.head, dialect)}`);
  });
}

/** Of a store that keeps no outputs: where the transaction stands, and nothing of what it made. */
function placeOf(query: Query, view: ChainView, txId: Uint8Array): { row: TxRow | null; outputs: null } {
  const [row] = query.txRows([txId]);
  return { row: row === null || row.height > (view.head?.height ?? -1) ? null : row, outputs: null };
}

function queryBlock(context: Context, text: string): Promise<void> {
  parsePlace(text);
  return withQuery(context, ({ query, renderer, dialect }) => {
    const point = pointAt(query, parsePlace(text, dialect.parseId), dialect);
    const row = point === null ? null : query.blockByHash(point.hash);
    if (row === null) throw notFound(`no block at ${text}`, query, dialect);
    const block = renderer.block(row);
    const did = changesOf(query, row, dialect);
    if (context.output.json) context.output.document({ point: renderPoint(query.head, dialect), block, ...did });
    else context.output.pairs([...blockRows(block, did), ['read at', pointText(query.head, dialect)]]);
  });
}

/** Null where that was pruned, or outputs are not kept: the block itself is still known. */
function changesOf(query: Query, row: ChainRow, { formatId }: Dialect): BlockChangeCounts {
  const named = (txs: readonly { readonly id: Uint8Array; readonly valid: boolean }[]) =>
    txs.map(({ id, valid }) => ({ tx_hash: formatId(id), valid }));
  try {
    if (query.totals === null) return { txs: named(query.blockTxs(row)), created: null, spent: null };
    const { txs, created, spent } = query.changes(row);
    return { txs: named(txs), created: created.length, spent: spent.length };
  } catch (error) {
    if (!isUnspentError(error, 'PRUNED')) throw error;
    return { txs: null, created: null, spent: null };
  }
}

function queryDatum(context: Context, text: string): Promise<void> {
  const hash = fromHex(text, DATUM_HASH_BYTES);
  return querySeen(
    context,
    'datum',
    () => hash,
    ({ query }) => query.datum(hash),
  );
}

function queryScript(context: Context, text: string): Promise<void> {
  return querySeen(
    context,
    'script',
    (dialect) => parseScriptHash(text, dialect),
    ({ query }, hash) => query.script(hash),
  );
}

function querySeen(
  context: Context,
  kind: 'datum' | 'script',
  hashOf: (dialect: Dialect) => Uint8Array,
  find: (look: QueryRead, hash: Uint8Array) => Seen | null,
): Promise<void> {
  return withQuery(context, (looked) => {
    const { query, renderer, dialect } = looked;
    const hash = hashOf(dialect);
    const found = find(looked, hash);
    if (found === null) throw notFound(`no ${kind} with the hash ${toHex(hash)} was seen`, query, dialect);
    const seen = renderer.seen(hash, found);
    if (context.output.json) context.output.document({ point: renderPoint(query.head, dialect), [kind]: seen });
    else context.output.pairs([...seenRows(kind, seen), ['read at', pointText(query.head, dialect)]]);
  });
}
