/**
 * What Prometheus is told about the chain, the fold and the requests. Counts
 * come from the following side as sums since its start, timings one by one, and
 * gauges are read when somebody looks. Names begin with `unspent_`, but for those
 * of the process, which have the names that all processes give them; what is not
 * known is left out rather than told as zero.
 */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Family } from '../../families/family.ts';
import { FAMILIES } from '../../families/networks.ts';
import type { Query } from '../../query/query.ts';
import { summaryOf } from '../../store/summary.ts';
import { VERSION } from '../../util/version.ts';
import type { ServerContext } from '../context.ts';
import { eventCounts } from '../native/events/route.ts';
import type { LiveStatus, LiveTiming } from '../thread/live.ts';
import { copyMetrics } from './copy-metrics.ts';
import { lagBlocks, unhealthyBecause, unreadyBecause } from './health.ts';
import { publishMetrics } from './publish-metrics.ts';
import { RequestTimes } from './request-times.ts';
import { txsMetrics } from './txs-metrics.ts';
import { walletMetrics } from './wallet-metrics.ts';

/** From a commit at the tip (a millisecond) to a rollback of a whole window. */
const STATE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Sums of the following side, by what they are called here. */
const SUMS = {
  blocks_applied: ['blocks', 'Blocks applied since the start.'],
  transactions_applied: ['txs', 'Transactions in the applied blocks.'],
  block_bytes_applied: ['bytes', 'Bytes of the applied blocks.'],
  outputs_created: ['created', 'Outputs created by the applied blocks.'],
  outputs_spent: ['spent', 'Outputs spent by the applied blocks.'],
  outputs_pruned: ['prunedKeys', 'Spent outputs forgotten because their block left the window.'],
  deltas_pruned: ['prunedDeltas', 'Undo records forgotten because their block left the window.'],
  blocks_rolled_back: ['undone', 'Blocks undone.'],
  connections_lost: ['connectionsLost', 'Connections to nodes that were lost.'],
} as const satisfies Record<string, readonly [keyof LiveStatus, string]>;

/** Gauges that are one number, or nothing where that is not known. */
const GAUGES = {
  tip_height: 'Height of the newest block of the store.',
  tip_slot: 'Slot of the newest block of the store.',
  source_tip_height: 'Height of the newest block of the source.',
  source_tip_slot: 'Slot of the newest block of the source.',
  lag_blocks: 'Blocks between the store and the source.',
  lag_seconds: "Seconds of the chain's own time between the store and the source.",
  queued_blocks: 'Blocks read ahead that wait to be applied.',
  horizon_height: 'Oldest height the store can go back to; 0: the origin.',
  prune_depth_blocks: 'Blocks below the tip after which a spent output is forgotten.',
  rollback_window_blocks: 'Blocks below the tip for which undo records are kept.',
  utxos: 'Unspent outputs.',
  mempool_transactions: 'Transactions known that are in no block yet.',
  missing_inputs: 'Inputs from before the first block, of a store that began in the middle of its chain.',
  mmr_nodes: 'Nodes of the mountain range over all outputs.',
  cage_tokens: 'Tokens of cages. Stores that follow cages.',
  cage_diverged_tokens: 'Tokens of cages that give no proofs, because their trie is not the one whose root is on chain.',
  cage_requests: 'Requests of cages that wait.',
  cage_malformed_datums: 'Outputs at cages whose datum should be one of a cage and is not, so far.',
  cage_gone_requests: 'Requests of cages that were spent in a way that the scripts do not allow, so far.',
  healthy: '1 as long as /health says yes: nothing is damaged, and following has neither failed nor is stuck.',
  ready: '1 while /ready says yes: answers are those of the newest blocks.',
  following: '1 while blocks of a source are being followed, 0 otherwise.',
  http_connections: 'Open connections.',
  event_streams: 'Open streams of events.',
} as const;

/** What the unspent outputs are worth is told in the unit of their chain. */
type ValueName = `value_${string}`;
const valueName = ({ unit }: Pick<Family, 'unit'>): ValueName => `value_${unit}`;

const VALUES: Readonly<Record<ValueName, string>> = Object.fromEntries(
  FAMILIES.map((family) => [
    valueName(family),
    `What the unspent outputs are worth in ${family.unit}, as near as a floating point number gets. Stores of ${family.title}.`,
  ]),
);

type GaugeName = keyof typeof GAUGES | ValueName;

/** What each thread that serves counts for itself; all others are of the store, and the same in each. */
const COUNTED_BY_EACH = [
  'unspent_http_request_seconds',
  'unspent_http_connections',
  'unspent_event_streams',
  'unspent_events_sent_total',
  'unspent_event_streams_ended_total',
] as const;

export class Metrics {
  readonly registry = new Registry();
  private readonly context: ServerContext;
  private readonly damage: () => string | null;
  private readonly sums = new Map<keyof typeof SUMS, Counter>();
  private readonly gauges = new Map<GaugeName, Gauge>();
  private readonly timings: Readonly<Record<LiveTiming['what'], Histogram>>;
  private readonly rollbacks: Counter;
  private readonly requests: RequestTimes;
  private readonly pruned: Gauge<'what'>;
  private readonly fills: Gauge<'projection'>;
  private readonly mmrRoot: Gauge<'root'>;
  private readonly eventsSent: Counter;
  private readonly streamsEnded: Counter<'reason'>;

  /** `damage`: what was found to be damaged; null: nothing. */
  constructor(context: ServerContext, damage: () => string | null) {
    this.context = context;
    this.damage = damage;
    const registers = [this.registry];
    for (const [name, [, help]] of Object.entries(SUMS)) {
      // A store that keeps no outputs has not counted any.
      if (name.startsWith('outputs_') && !context.projections.includes('utxo')) continue;
      this.sums.set(name as keyof typeof SUMS, new Counter({ name: `unspent_${name}_total`, help, registers }));
    }
    for (const [name, help] of Object.entries({ ...GAUGES, ...VALUES })) {
      const gauge = new Gauge({ name: `unspent_${name}`, help, registers });
      // It begins at zero, which would be told of what this chain does not have.
      gauge.remove();
      this.gauges.set(name as GaugeName, gauge);
    }
    const timing = (what: string, help: string) =>
      new Histogram({ name: `unspent_${what}_seconds`, help, buckets: STATE_BUCKETS, registers });
    this.timings = {
      apply: timing('apply', 'One commit of blocks: one at the tip, many while far behind.'),
      rollback: timing('rollback', 'One rollback, however deep.'),
      prune: timing('prune', 'One batch of pruning.'),
      fill: timing('fill', 'One step of filling an index that was switched on later.'),
    };
    this.rollbacks = new Counter({ name: 'unspent_rollbacks_total', help: 'Rollbacks, however deep.', registers });
    const requestsHelp = 'From a request to the end of its answer; streams of events are not counted.';
    this.requests = new RequestTimes('unspent_http_request_seconds', requestsHelp, registers);
    this.pruned = new Gauge({
      name: 'unspent_pruned_height',
      help: 'Height up to which they are forgotten.',
      labelNames: ['what'],
      registers,
    });
    this.fills = new Gauge({
      name: 'unspent_fill_ratio',
      help: 'Share of the unspent set that an index switched on later has seen.',
      labelNames: ['projection'] as const,
      registers,
    });
    this.mmrRoot = new Gauge({
      name: 'unspent_mmr_root',
      help: 'Always 1; the label is the merged root of the mountain range at the newest block.',
      labelNames: ['root'] as const,
      registers,
    });
    this.eventsSent = new Counter({ name: 'unspent_events_sent_total', help: 'Events sent to all readers.', registers });
    this.streamsEnded = new Counter({
      name: 'unspent_event_streams_ended_total',
      help: 'Streams of events that ended, by why.',
      labelNames: ['reason'] as const,
      registers,
    });
    const info = new Gauge({ name: 'unspent_info', help: 'Always 1; see the labels.', labelNames: ['version', 'network'], registers });
    info.set({ version: VERSION, network: context.network.name }, 1);
    // From now on: some of them measure, and have nothing to say at first.
    processMetrics();
  }

  took({ what, seconds }: LiveTiming): void {
    this.timings[what].observe(seconds);
    if (what === 'rollback') this.rollbacks.inc();
  }

  answered(method: string, route: string, status: number, seconds: number): void {
    this.requests.answered(method, route, status, seconds);
  }

  /** In the format of Prometheus, as of now. */
  async text(connections: number): Promise<string> {
    const { live, reads } = this.context;
    const lease = reads.lease();
    let tip = -1;
    try {
      this.set('http_connections', connections);
      this.readChain(lease.query, live.status);
      tip = lease.query.head?.height ?? -1;
    } finally {
      lease.release();
    }
    this.readStatus(live.status);
    this.readEvents();
    return (
      (await this.served()) +
      txsMetrics(live.status.records) +
      copyMetrics(this.context.copy) +
      publishMetrics(live.status.publishing) +
      walletMetrics(live.status.wallets, tip) +
      (await processMetrics().metrics())
    );
  }

  /** What this thread counts by itself, as plain data. */
  async own(connections: number): Promise<object[]> {
    this.set('http_connections', connections);
    this.readEvents();
    return Promise.all(COUNTED_BY_EACH.map(async (name) => ({ ...(await this.registry.getSingleMetric(name)?.get()) })));
  }

  /** With what the other threads count, where there are any. */
  private async served(): Promise<string> {
    const { figures } = this.context;
    if (figures === undefined) return this.registry.metrics();
    const others = await figures.others();
    const own = await Promise.all(COUNTED_BY_EACH.map((name) => this.registry.getSingleMetric(name)!.get()));
    const summed = AggregatorRegistry.aggregate([own, ...others.map(({ metrics }) => [...metrics])]);
    const names = this.registry.getMetricsAsArray().map(({ name }) => name);
    const ofStore = names.filter((name) => !(COUNTED_BY_EACH as readonly string[]).includes(name));
    const texts = await Promise.all(ofStore.map((name) => this.registry.getSingleMetricAsString(name)));
    return `${texts.join('\n\n')}\n\n${await summed.metrics()}`;
  }

  private readChain(query: Query, status: LiveStatus): void {
    const { network, config, mempool } = this.context;
    const { head, totals, horizon, pruned, mmr, cage } = summaryOf(query, config);
    this.set('tip_height', head?.height);
    this.set('tip_slot', head?.slot);
    this.set('utxos', totals?.utxos);
    this.set(valueName(network.family), totals === null ? null : Number(totals.value));
    this.set('mempool_transactions', mempool?.size);
    this.set('missing_inputs', totals?.missing);
    this.set('horizon_height', horizon?.height ?? 0);
    this.set('prune_depth_blocks', config.utxo.pruneDepth);
    this.set('rollback_window_blocks', config.utxo.rollbackWindow);
    this.pruned.set({ what: 'spent_outputs' }, pruned.spent);
    this.pruned.set({ what: 'deltas' }, pruned.deltas);
    this.set('mmr_nodes', mmr?.size);
    this.mmrRoot.reset();
    if (mmr !== null) this.mmrRoot.set({ root: mmr.root }, 1);
    this.set('cage_tokens', cage?.tokens);
    this.set('cage_diverged_tokens', cage?.diverged);
    this.set('cage_requests', cage?.requests);
    this.set('cage_malformed_datums', cage?.malformed);
    this.set('cage_gone_requests', cage?.gone);
    const { sourceTip } = status;
    this.set('lag_blocks', lagBlocks(head, status));
    const filling = status.fills.map(({ projection }) => projection);
    this.set('healthy', unhealthyBecause(this.damage(), status) === null ? 1 : 0);
    this.set('ready', unreadyBecause(head, status, filling) === null ? 1 : 0);
    const { clock } = network.dialect;
    // A chain whose blocks alone know the time does not say how old a block is that we do not have.
    const [theirs, ours] = [sourceTip === null ? null : clock.time(sourceTip.slot, null), clock.time(head?.slot ?? 0, null)];
    const behind = theirs === null || ours === null ? null : theirs - ours;
    this.set('lag_seconds', behind === null ? null : Math.max(0, behind));
  }

  private readStatus(status: LiveStatus): void {
    for (const [name, sum] of this.sums) setSum(sum, status[SUMS[name][0]]);
    this.set('source_tip_height', status.sourceTip?.height);
    this.set('source_tip_slot', status.sourceTip?.slot);
    this.set('queued_blocks', status.queued);
    this.set('following', status.state === 'following' ? 1 : 0);
    this.fills.reset();
    for (const { projection, done } of status.fills) this.fills.set({ projection }, done);
  }

  private readEvents(): void {
    const counts = eventCounts(this.context);
    if (counts === null) return;
    this.set('event_streams', counts.open);
    setSum(this.eventsSent, counts.events);
    this.streamsEnded.reset();
    for (const [reason, count] of Object.entries(counts.ended)) this.streamsEnded.inc({ reason }, count);
  }

  private set(name: GaugeName, value: number | null | undefined): void {
    const gauge = this.gauges.get(name)!;
    if (value === null || value === undefined) gauge.remove();
    else gauge.set(value);
  }
}

function setSum(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}

/** Gauges that are called as only counters may be; each says what another one says, too. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let ofProcess: Registry | null = null;

/** Of the process and this thread: once, however many servers run in it. */
function processMetrics(): Registry {
  if (ofProcess === null) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
    for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  }
  return ofProcess;
}
