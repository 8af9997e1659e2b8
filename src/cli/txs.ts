/**
 * `txs`: the records of transactions that a store keeps (`txs.store`): how they
 * are doing, one of them, what a prune pass deletes and what keeps the rest, and
 * whether records and indexes fit the chain.
 */
import type { Command } from 'commander';
import { isTxsDatabase } from '../projections/txs-switch.ts';
import { renderPoint } from '../query/render.ts';
import { openStoreTxs } from '../store/open-txs.ts';
import type { OpenStore } from '../store/store.ts';
import { needTxs, type StoreTxs } from '../store/store-txs.ts';
import { verifyTxs } from '../store/verify/verify-txs.ts';
import { recordDocument } from '../txstore/chain/document.ts';
import { type BlockedTx, blockedTx, passReport } from '../txstore/chain/report.ts';
import type { PassOutcome } from '../txstore/prune/pruner.ts';
import type { TxRecord } from '../txstore/records.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { TXS_BLOCKED_SHOWN_MAX } from '../util/limits.ts';
import { action, type Context } from './context.ts';
import { bytes, coins, count, counted, duration, pairs, table } from './format.ts';

const OF_A_RUNNING_STORE = `
While \`start\` or \`serve\` has the store open, that process answers; if the records are in a database, and how its passes are
doing, ask it over HTTP: /api/v1/txs/status, /api/v1/txs/blocked, /api/v1/txs/ID.`;

export function registerTxs(program: Command): void {
  const txs = program.command('txs').description('records of transactions: status, one of them, prune, verify').helpCommand(false);
  txs
    .command('status')
    .description('how many records there are, how far pruning is, what is due')
    .addHelpText('after', OF_A_RUNNING_STORE)
    .action(action((context) => askTxs(context, status)));
  txs
    .command('get')
    .argument('<id>', 'id of a transaction')
    .description('the record of a transaction: its blocks, its outputs and who spends them')
    .addHelpText(
      'after',
      `\nA transaction whose record was deleted is answered with PRUNED, one that nobody has seen with NOT_FOUND.\n${OF_A_RUNNING_STORE}`,
    )
    .action(action((context, id) => askTxs(context, (txs, store) => get(context, txs, store, id))));
  txs
    .command('prune')
    .description('one pass: delete every record that nobody can need any more')
    .option('--dry-run', 'only count them')
    .addHelpText(
      'after',
      '\n`start` and `sync` do so after each block; a pass at a height that is done already is skipped.\n\nExamples:\n  $ unspent txs prune --dry-run\n  $ unspent txs prune --json',
    )
    .action(action((context) => withTxs(context, prune)));
  txs
    .command('blocked')
    .description('records that are due and may not go: since when, because of which spender and why')
    .option('--limit <n>', 'lines at most', String(TXS_BLOCKED_SHOWN_MAX))
    .addHelpText('after', OF_A_RUNNING_STORE)
    .action(action((context) => askTxs(context, blocked)));
  txs
    .command('rebuild-index')
    .description('make the indexes of the records anew, and say what was wrong with them')
    .action(action((context) => withTxs(context, rebuildIndex)));
  txs
    .command('verify')
    .description('check every record and its indexes against the unspent set of the chain')
    .addHelpText('after', '\nChanges nothing. Exit code 5 when something is wrong.')
    .action(action((context) => askTxs(context, verify)));
}

type TxsBody = (txs: StoreTxs, store: OpenStore, context: Context) => void | Promise<void>;

async function withTxs(context: Context, body: TxsBody): Promise<void> {
  await context.withStore((store) => body(needTxs(store), store, context));
}

/**
 * As `withTxs`, for what reads only: another process may have the store open, and runs it. Records in a database it has
 * to itself, because a second feed would move them.
 */
async function askTxs(context: Context, body: TxsBody): Promise<void> {
  if (isTxsDatabase(context.settings.config.txs.store)) return withTxs(context, body);
  await context.askStore(async (store) => {
    store.txs ??= isTxsDatabase(store.config.txs.store) ? null : await openStoreTxs(store);
    if (store.txs === null && isTxsDatabase(store.config.txs.store))
      throw new UnspentError('UNSUPPORTED', 'another process has the store open, and feeds its database of records: ask it over HTTP');
    await body(needTxs(store), store, context);
  });
}

async function status(txs: StoreTxs, store: OpenStore, { output }: Context): Promise<void> {
  const { counters: _, durations: __, lastPass: ___, blocked: ____, gauges, ...report } = await txs.refresh();
  const due = await txs.records.countDue(report.height, Number.MAX_SAFE_INTEGER);
  const { utxo_records: records, utxo_bytes: size } = gauges;
  if (output.json) {
    output.document({ point: renderPoint(store.fold.head, store.network.dialect), ...report, records, bytes: size, due });
    return;
  }
  const { retention, window, completed, prunedHeight, place, height } = report;
  output.pairs([
    ...(place === 'embedded' ? [] : [['database', `${place}, at height ${count(height)}`] as [string, string]]),
    ['records', `${count(records)}, ${bytes(size)} on disk`],
    ['retention', retention === 0 ? 'for ever' : `${counted(retention, 'block')}, spenders ${counted(window, 'block')} deep`],
    ['due', counted(due, 'record')],
    ['passes', completed === 0 ? 'none so far' : `complete up to height ${count(completed)}`],
    ['deleted', prunedHeight === 0 ? 'nothing so far' : `up to height ${count(prunedHeight)}`],
  ]);
}

async function get({ output }: Context, txs: StoreTxs, store: OpenStore, id: string): Promise<void> {
  const { dialect } = store.network;
  const record = await txs.find(dialect.parseId(id));
  if (output.json) output.document(recordDocument(record, dialect.formatId));
  else output.line(recordText(record, store));
}

function recordText(record: TxRecord, { network: { dialect } }: OpenStore): string {
  const where = record.blocks.map(
    ({ height, hash, isOnBestChain }) => `${count(height)} ${dialect.formatId(hash)}${isOnBestChain ? '' : ' (not on the best chain)'}`,
  );
  const state = record.isConflicting
    ? 'lost against another one'
    : record.unminedSince === null
      ? 'mined'
      : `in no block since height ${count(record.unminedSince)}`;
  const rows: [string, string][] = [
    ['transaction', dialect.formatId(record.txId)],
    ['state', state],
    ...where.map((text): [string, string] => ['block', text]),
    ['due', record.deleteAtHeight === null ? 'no' : `at height ${count(record.deleteAtHeight)}`],
    [
      'spends',
      record.isCoinbase
        ? 'nothing: it is a coinbase'
        : record.inputs.map(({ txId, index }) => `${dialect.formatId(txId)}#${index}`).join(', '),
    ],
  ];
  const outputs = record.outputs.map(({ amount, slot }, index) => {
    const by = slot?.spender ? `${dialect.formatId(slot.spender.txId)} input ${slot.spender.vin}` : '';
    return [String(index), coins(amount, dialect.currency), slot === null ? 'unspendable' : slot.state, by];
  });
  return `${pairs(rows)}\n\n${table(['OUTPUT', 'AMOUNT', 'STATE', 'SPENT BY'], outputs)}`;
}

async function prune(txs: StoreTxs, store: OpenStore, { output, options, progress }: Context): Promise<void> {
  const started = performance.now();
  await txs.catchUp();
  const height = store.fold.head?.height ?? 0;
  if (height === 0) throw new UnspentError('UNSUPPORTED', 'the store has no block with transactions yet');
  const line = progress();
  line.update(() => `prune: ${count(txs.pruner.counters.get('prune_candidates_total'))} records looked at`);
  const isDry = options.dryRun === true;
  const outcome = isDry ? await dryRun(txs) : await txs.pass();
  line.done();
  const seconds = (performance.now() - started) / 1000;
  if (outcome.end === 'aborted') throw aborted(outcome.error);
  const result = passReport(outcome);
  if (output.json) output.document({ ...result, dryRun: isDry, seconds });
  else if (result.reason !== null) output.line(`skipped: ${result.reason} (height ${count(height)})`);
  else
    output.line(
      `${isDry ? 'would delete' : 'deleted'} ${counted(result.deleted, 'record')}, keeps ${count(result.kept)} that are due, in ${duration(seconds)}`,
    );
}

async function dryRun(txs: StoreTxs): Promise<PassOutcome> {
  const { height, deleted, kept } = await txs.look();
  return { height, end: 'completed', reason: null, deleted, kept, error: null };
}

/** With the code of what went wrong: a database that does not answer is no damage. */
function aborted(error: unknown): unknown {
  if (!isUnspentError(error)) return error;
  return new UnspentError(error.code, `the pass was aborted: ${error.message}`, error.meta, error);
}

async function blocked(txs: StoreTxs, store: OpenStore, { output, options }: Context): Promise<void> {
  const { kept, blocked: all } = await txs.look();
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1) throw new UnspentError('USAGE', `--limit is a number from 1 on, not '${options.limit}'`);
  const shown = all.slice(0, limit).map((each) => blockedTx(each, store.network.dialect.formatId));
  if (output.json) output.document({ height: store.fold.head?.height ?? 0, count: kept, blocked: shown });
  else output.line(kept === 0 ? 'nothing that is due is blocked' : blockedTable(shown));
}

function blockedTable(shown: readonly BlockedTx[]): string {
  return table(
    ['TRANSACTION', 'DUE AT', 'REASON', 'SPENDER'],
    shown.map(({ txId, since, reason, child }) => [txId, count(since), reason, child ?? '']),
  );
}

function rebuildIndex(txs: StoreTxs, _store: OpenStore, { output }: Context): void {
  const { differences, count: found } = txs.rebuildIndexes();
  if (output.json) output.document({ differences, count: found });
  else if (txs.place.kind !== 'embedded') output.line('the database of the records keeps the indexes itself');
  else if (differences.length === 0) output.line('every index was right');
  else {
    const rows = differences.map(({ column, key, kind }) => [column, key, kind]);
    output.line(table(['INDEX', 'KEY', 'WAS'], rows));
    if (found > differences.length) output.line(`and ${count(found - differences.length)} more`);
  }
}

async function verify(_txs: StoreTxs, store: OpenStore, { output, progress }: Context): Promise<void> {
  const line = progress();
  const onProgress = (what: string, rows: number): void => line.update(() => `verify: ${count(rows)} ${what}`);
  const { faults, faultCount, records, utxos } = await verifyTxs(store, onProgress);
  line.done();
  if (faultCount > 0) {
    const [{ column, key, what }] = faults;
    throw new UnspentError('VERIFY_FAILED', `${counted(faultCount, 'fault')} found in ${store.data}, the first: ${column} ${key} ${what}`, {
      faults,
      faultCount,
    });
  }
  if (output.json) output.document({ records, utxos, faultCount });
  else output.line(`${counted(records, 'record')} fit the ${counted(utxos, 'unspent output')} of the chain, and their indexes fit them`);
}
