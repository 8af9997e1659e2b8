/**
 * `query outpoint|address|credential|tx`: reads, each pinned to one point of the
 * chain, which every answer names.
 */
import { type Command, Option } from 'commander';
import { parseAddress, parseCredential } from '../ledgers/cardano/index.ts';
import type { KeyKind } from '../ledgers/ledger.ts';
import type { IndexedUtxo, Page, Query } from '../query/query.ts';
import { Renderer, renderPoint, type UtxoJson } from '../query/render.ts';
import type { Store } from '../store.ts';
import { equalBytes, fromHex, isHex, toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { blake2b224 } from '../util/hash.ts';
import { action, type Context } from './context.ts';
import { counted, pairs, pointText } from './format.ts';
import { sumOf, txRows, utxoRows, utxoTable } from './utxo-table.ts';

const LIMIT_FOR_PEOPLE = 100;
const TX_ID_BYTES = 32;
const OUTPUT_INDEX_MAX = 0xffff;
/** Of an index key, which is what a cursor is: key, slot, transaction, output. */
const CURSOR_BYTES = 28 + 8 + 4 + 2;

export function registerQuery(program: Command): void {
  const query = program
    .command('query')
    .description('look up outputs and transactions')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  $ unspent query outpoint 4843cf2e582b2f9ce37600e5ab4cc678991f988f8780fed05407f9537f7712bd#0
  $ unspent query address addr_test1qz... --limit 20 --order desc
  $ unspent query credential 5f8a...e1 --stake --json
  $ unspent query tx 4843cf2e582b2f9ce37600e5ab4cc678991f988f8780fed05407f9537f7712bd`,
    );
  query
    .command('outpoint')
    .description('one output, unspent or spent')
    .argument('<txid#index>', 'transaction id in hex, and the number of the output')
    .action(action(queryOutpoint));
  paged(query.command('address').description('unspent outputs of an address'))
    .argument('<address>', 'bech32, base58 (Byron) or hex')
    .action(action(queryAddress));
  paged(query.command('credential').description('unspent outputs of a payment or stake credential'))
    .argument('<credential>', '28 bytes of hex, addr_vkh1..., stake_vkh1..., script1..., or a stake address')
    .option('--stake', 'the stake part of addresses; without it the payment part, unless the text says which')
    .action(action(queryCredential));
  query
    .command('tx')
    .description('where a transaction is, and its outputs')
    .argument('<txid>', 'transaction id in hex')
    .action(action(queryTx));
}

function paged(command: Command): Command {
  return command
    .option('--limit <n>', `outputs at most (default: ${LIMIT_FOR_PEOPLE}; with --json all of them)`)
    .option('--after <cursor>', 'go on behind a page: the cursor it ended with')
    .addOption(new Option('--order <order>', 'oldest or newest first').choices(['asc', 'desc']).default('asc'));
}

/** A body over one pinned query. */
function look(context: Context, body: (query: Query, renderer: Renderer, store: Store) => void | Promise<void>): Promise<void> {
  return context.withStore(async (store) => {
    const query = store.query();
    try {
      await body(query, new Renderer(query, store.network.parameters), store);
    } finally {
      query.release();
    }
  });
}

function queryOutpoint(context: Context, text: string): Promise<void> {
  const { txId, index } = parseOutpoint(text);
  return look(context, (query, renderer) => {
    const found = query.outpoint(txId, index);
    if (found === null) throw notFound(`no output ${text} (it never was, or was spent and forgotten)`, query);
    const utxo = renderer.utxo(found);
    if (context.output.json) context.output.document({ point: renderPoint(query.head), utxo });
    else context.output.line(pairs([...utxoRows(utxo), ['read at', pointText(query.head)]]));
  });
}

function queryAddress(context: Context, text: string): Promise<void> {
  return queryIndex(context, 'address', blake2b224(parseAddress(text)));
}

function queryCredential(context: Context, text: string): Promise<void> {
  const { hash, part } = parseCredential(text);
  const stake = context.options.stake === true;
  if (stake && part === 'payment') throw new UnspentError('USAGE', `'${text.slice(0, 80)}' is a payment credential; leave --stake out`);
  return queryIndex(context, stake || part === 'stake' ? 'stake' : 'payment', hash);
}

function queryIndex(context: Context, kind: KeyKind, key: Uint8Array): Promise<void> {
  const { output, options } = context;
  const limit = parseLimit(options.limit) ?? (output.json ? undefined : LIMIT_FOR_PEOPLE);
  const after = parseCursor(options.after, key);
  const page: Page = { limit: limit === undefined ? undefined : limit + 1, order: options.order, after };
  return look(context, async (query, renderer) => {
    let next: string | null = null;
    let shown = 0;
    const rows = function* (): Iterable<UtxoJson> {
      let last: IndexedUtxo | undefined;
      for (const row of query.byKey(kind, key, page)) {
        // One more than asked for was read, to know whether there is more.
        if (shown === limit) next = last === undefined ? null : toHex(last.cursor);
        if (shown === limit) return;
        shown++;
        last = row;
        yield renderer.utxo(row);
      }
    };
    const point = renderPoint(query.head);
    if (output.json) {
      await output.documentWithList({ point }, 'utxos', rows(), () => ({ count: shown, next }));
      return;
    }
    const utxos = [...rows()];
    if (utxos.length > 0) output.line(`${utxoTable(utxos)}\n`);
    output.line(`${counted(utxos.length, 'unspent output')} worth ${sumOf(utxos)} ada, read at ${pointText(query.head)}`);
    if (next !== null) output.line(`there are more: --after ${next}`);
  });
}

function queryTx(context: Context, text: string): Promise<void> {
  const txId = fromHex(text, TX_ID_BYTES);
  return look(context, (query, renderer) => {
    const { row, outputs } = query.tx(txId);
    // Genesis outputs have an id, but no transaction made them.
    if (row === null && outputs.length === 0) throw notFound(`no transaction ${text}`, query);
    const tx = row === null ? null : renderer.tx(txId, row);
    const utxos = outputs.map((output) => renderer.utxo(output));
    if (context.output.json) {
      context.output.document({ point: renderPoint(query.head), tx, outputs: utxos });
      return;
    }
    context.output.line(tx === null ? `outputs of the genesis, by the id ${text}` : pairs(txRows(tx)));
    if (utxos.length > 0) context.output.line(`\n${utxoTable(utxos)}\n`);
    context.output.line(`${counted(utxos.length, 'output')} known, read at ${pointText(query.head)}`);
  });
}

function notFound(what: string, { head }: Query): UnspentError {
  return new UnspentError('NOT_FOUND', `${what}; read at ${pointText(head)}`, { point: renderPoint(head) });
}

function parseOutpoint(text: string): { txId: Uint8Array; index: number } {
  const [, id, digits] = /^([^#]*)#(\d{1,5})$/.exec(text) ?? [];
  const index = Number(digits);
  if (id === undefined || !isHex(id, TX_ID_BYTES) || index > OUTPUT_INDEX_MAX) {
    throw new UnspentError('USAGE', `an outpoint is TXID#INDEX with ${2 * TX_ID_BYTES} hex digits, not '${text.slice(0, 120)}'`);
  }
  return { txId: fromHex(id), index };
}

function parseLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UnspentError('USAGE', `--limit is a whole number above 0, not '${text.slice(0, 40)}'`);
  return Number(text);
}

/** A cursor of another address would answer with that one's outputs. */
function parseCursor(text: string | undefined, key: Uint8Array): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const cursor = isHex(text, CURSOR_BYTES) ? fromHex(text) : undefined;
  if (cursor === undefined || !equalBytes(cursor.subarray(0, key.length), key)) {
    throw new UnspentError('USAGE', `'${text.slice(0, 120)}' is not a cursor of this query; use the one its last page ended with`);
  }
  return cursor;
}
