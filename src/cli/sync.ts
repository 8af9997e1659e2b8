/**
 * `sync`: follows a source into a store, makes the store when there is none,
 * and stops at a block: at the source's end, at --until, or on Ctrl-C.
 */
import type { Command } from 'commander';
import { openEmbedded, openNetworkSource, SOURCE_FORMS } from '../families/open-source.ts';
import type { Point } from '../ledgers/ledger.ts';
import { parsePlace } from '../query/place.ts';
import { renderPoint } from '../query/render.ts';
import type { FollowProgress, FollowResult, Until } from '../sources/follow.ts';
import type { PeerStatus } from '../sources/peer.ts';
import type { Source } from '../sources/source.ts';
import { watchRemarks } from '../store/remarks.ts';
import type { OpenOptions, OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { type Context, longRunning } from './context.ts';
import { percent, remarkShape } from './fill-text.ts';
import { FollowLog, NO_PROGRESS } from './follow-log.ts';
import { bytes, count, counted, duration, pointText, rate, unspentText } from './format.ts';
import { onAbort } from './interrupt.ts';
import { showLiveView } from './live/live-view.ts';
import { peakMemoryBytes } from './peak-memory.ts';
import { withPublishing } from './publish.ts';
import { SyncMeter } from './sync-meter.ts';

export function registerSync(program: Command): void {
  program
    .command('sync')
    .description('follow a source of blocks into the store, then stop')
    // Needed, but asked for only once every option is known: who has mistyped it is told what was meant.
    .option('--source <url>', `where blocks come from: ${SOURCE_FORMS.join(', ')}; several nodes for failover`, collect)
    .option('--until <place>', 'stop at end, slot:N, height:N, or a slot number', 'end')
    .option('--follow', 'stay at the tip and wait for more blocks')
    .option('--partial', 'a new store may begin in the middle of the chain; inputs from before are counted as missing')
    .addHelpText(
      'after',
      `
Run the same command again to go on. Ctrl-C stops at a block; a second one ends at once. Nothing is lost either way.

Examples:
  $ unspent sync --source devnet: --data ./devnet
  $ unspent sync --network preview --source immutable:/node/db/immutable --data ./preview
  $ unspent sync --network mainnet --genesis /node/config --source immutable:/node/db --until slot:4492799
  $ unspent sync --network preview --source n2n://127.0.0.1:3001 --source n2n://127.0.0.1:3002 --follow
  $ unspent sync --network bitcoin --source blk:/node/.bitcoin/blocks --data ./bitcoin
  $ unspent sync --network bitcoin --source rpc://user:password@127.0.0.1:8332 --follow`,
    )
    .action(longRunning(sync));
}

/** An option that may be repeated. */
function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

async function sync(context: Context): Promise<void> {
  const { options, settings } = context;
  const urls = [options.source ?? []].flat();
  if (urls.length === 0) throw new UnspentError('USAGE', "required option '--source <url>' not specified");
  const until = parseUntil(options.until ?? 'end');
  // Sources read nothing before they are followed, so this only checks the URL and learns whether it makes its own chain.
  const embedded = openEmbedded(urls);
  const making: OpenOptions = {
    create: true,
    ...(options.partial ? { partial: true } : {}),
    ...(embedded?.source.genesis !== undefined && settings.config.genesis === '' ? { genesis: embedded.source.genesis } : {}),
    ...(embedded !== null && settings.config.network === '' ? { network: embedded.network } : {}),
  };
  await context.withStore(async (store) => {
    const from: Followed = { source: null, tell() {} };
    const source = embedded?.source ?? openNetworkSource(urls, store.network, { onPeer: (status) => from.tell(status) });
    const started = performance.now();
    remarkShape(context, store);
    if (!isBeyond(store, until, context)) from.source = source;
    const followed = await withPublishing(context, store, () => followSource(context, store, from, until));
    report(context, store, followed, (performance.now() - started) / 1000);
    if (followed.reason === 'end' && until.kind !== 'end') context.output.remark(`the source ended before --until ${options.until}`);
    if (followed.reason === 'interrupted')
      throw new UnspentError('INTERRUPTED', `stopped at ${pointText(store.fold.head, store.network.dialect)}`);
  }, making);
}

/** What is followed, and who is told what becomes of the node, as soon as there is somebody. */
interface Followed {
  source: Source | null;
  tell(status: PeerStatus): void;
}

const NOTHING: FollowResult = { ...NO_PROGRESS, reason: 'until' };

function parseUntil(text: string): Until {
  if (text === 'end') return { kind: 'end' };
  try {
    const place = parsePlace(text);
    if (place.kind === 'slot' || place.kind === 'height') return place;
  } catch {
    // Said below, with the words that --until takes.
  }
  throw new UnspentError('USAGE', `--until takes end, slot:N, height:N or a slot number, not '${text.slice(0, 80)}'`);
}

function isBeyond(store: OpenStore, until: Until, { output }: Context): boolean {
  const { head } = store.fold;
  if (head === null || until.kind === 'end') return false;
  const [at, wanted] = until.kind === 'slot' ? [head.slot, until.slot] : [head.height, until.height];
  if (at <= wanted) return false;
  const back = `unspent rollback --to ${until.kind}:${wanted}`;
  output.remark(`the store is at ${until.kind} ${count(at)} already, beyond ${count(wanted)}; to go back: ${back}`);
  return true;
}

/** `source` null: there is nothing to follow, but there may be something to fill. */
async function followSource(context: Context, store: OpenStore, followed: Followed, until: Until): Promise<FollowResult> {
  const { options, log, stop: signal, terminal } = context;
  const meter = new SyncMeter(until, store.fold.head);
  onAbort(signal, () => log.info('cli', 'stopping', 'stopping at the next block; once more to end at once'));
  const stopWatching = watchRemarks(store, (text) => log.warn('store', text.split(':')[0], text));
  let last: FollowProgress = NOTHING;
  const text = (): string => {
    // Short and in front: the names were said before, and what does not fit on a line is cut off.
    const first = store.fills().length === 0 ? '' : `filling ${percent(Math.min(...store.fills().map(({ done }) => done)))}  `;
    return first + meter.line(last, store.fold.head);
  };
  const lines = new FollowLog(store, log, { progressText: text, isShown: () => terminal.region?.isDrawn === true });
  const view = showLiveView(context, store, null);
  followed.tell = (status) => lines.peer(status);
  const onProgress = (now: FollowProgress): void => {
    last = now;
    lines.progress(now);
  };
  try {
    const { source } = followed;
    if (source === null) return { ...NOTHING, reason: (await store.fill({ signal })) ? 'until' : 'interrupted' };
    const onRollback = (to: Point | null, undone: number): void => lines.onRollback(to, undone);
    return await store.follow(source, { until, follow: options.follow === true, signal, onProgress, onRollback });
  } finally {
    stopWatching();
    lines.close();
    view?.close();
  }
}

function report({ output }: Context, store: OpenStore, followed: FollowResult, seconds: number): void {
  const { head } = store.fold;
  const { blocks, txs, bytes: size, rollbacks, reason } = followed;
  const blocksPerSecond = perSecond(blocks, seconds);
  const megabytesPerSecond = perSecond(size / 1e6, seconds);
  const totals = store.totals();
  if (output.json) {
    const speeds = { blocksPerSecond, megabytesPerSecond };
    output.document({
      point: renderPoint(head, store.network.dialect),
      blocks,
      txs,
      bytes: size,
      seconds,
      ...speeds,
      utxos: totals?.utxos ?? null,
      value: totals?.value.toString() ?? null,
      rollbacks,
      reason,
      peakMegabytes: Math.round(peakMemoryBytes() / 1e6),
    });
  } else if (!output.quiet) {
    const rows: [string, string][] = [
      ['applied', `${counted(blocks, 'block')} with ${counted(txs, 'transaction')}, ${bytes(size)}, in ${duration(seconds)}`],
      ['speed', `${rate(blocksPerSecond)} blocks/s, ${rate(megabytesPerSecond)} MB/s`],
      ['tip', pointText(head, store.network.dialect)],
      ['unspent', unspentText(totals, store.network.dialect)],
    ];
    output.pairs(rows);
  }
}

function perSecond(amount: number, seconds: number): number {
  return seconds > 0 ? Number((amount / seconds).toPrecision(4)) : 0;
}
