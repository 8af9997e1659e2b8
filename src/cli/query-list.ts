/**
 * `query address|credential|asset|policy`: unspent outputs, page by page.
 */
import { type Command, Option } from 'commander';
import { POLICY_BYTES, parseUnit } from '../ledgers/asset.ts';
import { assetKey, INDEX_KEY_BYTES } from '../projections/index/by-key.ts';
import { credentialsOf, type Dialect } from '../query/dialect.ts';
import type { IndexedUtxo, PageRequest } from '../query/query.ts';
import { renderPoint, type UtxoJson } from '../query/render.ts';
import type { IndexKind } from '../query/view.ts';
import { equalBytes, fromHex, isHex, toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import type { Context } from './context.ts';
import { counted, pointText } from './format.ts';
import { withQuery } from './query-read.ts';
import { sumOf, utxoTable } from './utxo-table.ts';

const LIMIT_FOR_PEOPLE = 100;

export function paged(command: Command): Command {
  return command
    .option('--limit <n>', `outputs at most (default: ${LIMIT_FOR_PEOPLE}; with --json all of them)`)
    .option('--after <cursor>', 'go on behind a page: the cursor it ended with')
    .addOption(new Option('--order <order>', 'oldest or newest first').choices(['asc', 'desc']).default('asc'));
}

export function queryAddress(context: Context, text: string): Promise<void> {
  return queryIndex(context, ({ addressKey }) => ({ kind: 'address', key: addressKey(text) }));
}

export function queryCredential(context: Context, text: string): Promise<void> {
  const stake = context.options.stake === true;
  return queryIndex(context, (dialect) => {
    const { hash, part } = credentialsOf(dialect).parse(text);
    if (stake && part === 'payment') throw new UnspentError('USAGE', `'${text.slice(0, 80)}' is a payment credential; leave --stake out`);
    return { kind: stake || part === 'stake' ? 'stake' : 'payment', key: hash };
  });
}

export function queryAsset(context: Context, text: string): Promise<void> {
  const { policy, name } = parseUnit(text);
  return queryIndex(context, () => ({ kind: 'asset', key: assetKey(policy, name) }));
}

export function queryPolicy(context: Context, text: string): Promise<void> {
  const policy = fromHex(text, POLICY_BYTES);
  return queryIndex(context, () => ({ kind: 'policy', key: policy }));
}

/** What an index is asked for. */
interface IndexLookup {
  readonly kind: IndexKind;
  readonly key: Uint8Array;
}

function queryIndex(context: Context, lookup: (dialect: Dialect) => IndexLookup): Promise<void> {
  const { output, options } = context;
  const limit = parseLimit(options.limit) ?? (output.json ? undefined : LIMIT_FOR_PEOPLE);
  return withQuery(context, async ({ view, renderer, dialect }) => {
    const { kind, key } = lookup(dialect);
    const after = parseCursor(options.after, key);
    const page: PageRequest = { limit: limit === undefined ? undefined : limit + 1, order: options.order, after };
    let next: string | null = null;
    let shown = 0;
    // Asked before the document is begun: what is not kept is an error, not half a document.
    const found = view.byKey(kind, key, page);
    const rows = function* (): Iterable<UtxoJson> {
      let last: IndexedUtxo | undefined;
      for (const row of found) {
        // One more than asked for was read, to know whether there is more.
        if (shown === limit) next = last === undefined ? null : toHex(last.cursor);
        if (shown === limit) return;
        shown++;
        last = row;
        yield renderer.utxo(row);
      }
    };
    const point = renderPoint(view.head, dialect);
    if (output.json) {
      await output.documentWithList({ point }, 'utxos', rows(), () => ({ count: shown, next }));
      return;
    }
    const utxos = [...rows()];
    if (utxos.length > 0) output.line(`${utxoTable(utxos, dialect)}\n`);
    output.line(
      `${counted(utxos.length, 'unspent output')} worth ${sumOf(utxos, dialect.currency)}, read at ${pointText(view.head, dialect)}`,
    );
    if (next !== null) output.line(`there are more: --after ${next}`);
  });
}

function parseLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UnspentError('USAGE', `--limit is a whole number above 0, not '${text.slice(0, 40)}'`);
  return Number(text);
}

/** A cursor of another address would answer with that one's outputs. */
function parseCursor(text: string | undefined, key: Uint8Array): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const cursor = isHex(text, INDEX_KEY_BYTES) ? fromHex(text) : undefined;
  if (cursor === undefined || !equalBytes(cursor.subarray(0, key.length), key)) {
    throw new UnspentError('USAGE', `'${text.slice(0, 120)}' is not a cursor of this query; use the one its last page ended with`);
  }
  return cursor;
}
