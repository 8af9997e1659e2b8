/**
 * `status`: where the store is, how far it can go back, what it holds.
 */
import type { Command } from 'commander';
import { blockTime, statusJson } from '../store/status-json.ts';
import type { OpenStore, StoreStatus } from '../store/store.ts';
import type { CageSummary } from '../store/summary.ts';
import { action, type Context, stoppable } from './context.ts';
import { fillText } from './fill-text.ts';
import { bytes, count, counted, placeText, unspentText, utcTime } from './format.ts';
import { watchStatus } from './live/watch.ts';
import { publishingText } from './publishing-text.ts';

export function registerStatus(program: Command): void {
  const status = program
    .command('status')
    .description('tip, horizon, totals and size of the store')
    .option('--watch', 'go on showing what the store does, on one screen; q leaves')
    .addHelpText(
      'after',
      `
Whether another process has the store open or not. Without a terminal --watch prints a line every few seconds (status.refreshSeconds), with --json a document a line.

Examples:
  $ unspent status
  $ unspent status --watch
  $ unspent status --watch --json | jq .lagBlocks`,
    );
  status.action((...given) => (status.opts()['watch'] === true ? stoppable(watchStatus) : action(showStatus))(...given));
}

function showStatus({ output, askStore }: Context): Promise<void> {
  return askStore((store) => {
    const status = store.status();
    if (output.json) output.document(statusJson(store, status));
    else output.pairs(statusRows(store, status));
  });
}

function statusRows(store: OpenStore, { head, totals, horizon, base, pruned, engine, ...status }: StoreStatus): [string, string][] {
  const { dialect } = store.network;
  const rows: [string, string][] = [
    ['data', status.data],
    ['network', status.partial ? `${status.network} (began in the middle of the chain)` : status.network],
    ['store', storeText(status)],
  ];
  if (head === null) rows.push(['tip', 'no block yet']);
  else {
    const { epoch, time, era } = blockTime(store, head);
    const inEpoch = epoch === undefined ? '' : `, epoch ${count(epoch)} (${era})`;
    rows.push(['tip', placeText(head, dialect) + inEpoch], ['block', dialect.formatId(head.hash)]);
    if (time !== undefined) rows.push(['time', utcTime(Date.parse(time) / 1000)]);
  }
  rows.push(
    ['horizon', horizon === null ? 'the origin' : placeText(horizon, dialect)],
    ...(base === null ? [] : [['began', `with a snapshot at ${placeText(base, dialect)}`] as [string, string]]),
    ['unspent', unspentText(totals, dialect)],
  );
  if (totals !== null && totals.missing > 0) rows.push(['missing', `${count(totals.missing)} inputs from before the first block`]);
  rows.push(
    ['window', windowText(status)],
    ['pruned', `spent outputs ${upTo(pruned.spent)}, undo records ${upTo(pruned.deltas)}`],
    ['projections', status.projections.join(', ')],
    ...(status.fills.length === 0 ? [] : [['filling', fillText(status.fills)] as [string, string]]),
    ...(status.mmr === null ? [] : [['range', `${count(status.mmr.size)} nodes, root ${status.mmr.root}`] as [string, string]]),
    ...(status.cage === null ? [] : cageRows(status.cage)),
    ...(store.publishing === null ? [] : [['copy', publishingText(store.publishing.report)] as [string, string]]),
    ['work', workText(status)],
    ['on disk', `${bytes(engine.bytes)} (${engine.kind})`],
    [
      'rows',
      `about ${Object.entries(status.keys)
        .map(([column, rows]) => `${column} ${count(rows)}`)
        .join(', ')}`,
    ],
  );
  return rows;
}

function cageRows(cage: CageSummary): [string, string][] {
  const { tokens, requests, malformed, gone, diverged, divergedTokens } = cage;
  const rows: [string, string][] = [
    ['cages', `${counted(tokens, 'token')}, ${counted(requests, 'request')}, ${counted(malformed, 'malformed datum')}`],
  ];
  if (gone > 0) rows.push(['', `${counted(gone, 'request')} spent in a way that the scripts do not allow`]);
  if (diverged > 0) rows.push(['diverged', `${counted(diverged, 'token')} without proofs: the trie is not the one whose root is on chain`]);
  for (const { token, status } of divergedTokens) rows.push(['', `${token} ${status}`]);
  return rows;
}

function upTo(height: number): string {
  return height < 0 ? 'none' : `up to height ${count(height)}`;
}

type Settings = Pick<StoreStatus, 'settings'>;

function storeText({ settings }: Settings): string {
  if (settings['utxo.enabled'] !== true) return 'the chain alone (utxo.enabled is off)';
  const undo = settings['utxo.delta.selfContained'] === true ? 'self-contained' : 'compact';
  return `${settings['utxo.store']}, ${undo} undo records`;
}

function windowText({ settings }: Settings): string {
  const blocks = (key: string): string => count(Number(settings[key]));
  return `spent outputs for ${blocks('utxo.pruneDepth')} blocks, undo records for ${blocks('utxo.rollbackWindow')}`;
}

function workText({ settings }: Settings): string {
  const number = (key: string): string => count(Number(settings[key]));
  const prune = `prunes up to ${number('utxo.pruneBatchSize')} blocks a batch, every ${number('utxo.pruneScheduleSeconds')} s`;
  return `applies up to ${number('sync.groupBlocks')} blocks a commit while behind, one at the tip; ${prune}`;
}
