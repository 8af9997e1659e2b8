/**
 * The server about itself: status, the engine's own figures, health, readiness.
 * These change without a new block, so they have no validator and are never
 * kept by a cache.
 */
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { Dialect } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { renderPoint } from '../../../query/render.ts';
import type { PublishReport } from '../../../store/publishing.ts';
import { type CageSummary, keyEstimates, summaryOf } from '../../../store/summary.ts';
import type { WalletsReport } from '../../../store/wallets-report.ts';
import { withoutSecret } from '../../../util/secret.ts';
import { VERSION } from '../../../util/version.ts';
import type { ServerContext } from '../../context.ts';
import { copyDocument } from '../../copy-status.ts';
import type { App } from '../../http/typed.ts';
import { cageWarnings, lagBlocks, lagSlots, pruneWarnings, unhealthyBecause, unreadyBecause } from '../../metrics/health.ts';
import type { LiveStatus } from '../../thread/live.ts';
import type { NativeAnswers } from '../answer.ts';
import { API, describedStatus } from '../openapi.ts';
import { EngineStatus, Health, Ready, Status } from '../schemas-status.ts';
import { txsDocument } from './txs.ts';

export function registerStatusRoutes(app: App, answers: NativeAnswers): void {
  const { context, state } = answers;
  const { reads, live, config } = context;
  const refreshMs = 1000 * config.status.refreshSeconds;
  const size = every(refreshMs, () => ({
    bytes: reads.engineStats().bytes,
    keys: keyEstimates(reads.columns, (column) => reads.engineStats(column)),
  }));
  const status = whileSame((...of: Parameters<typeof statusOf>) => JSON.stringify(statusOf(...of)));

  const statusSchema = describedStatus('Where the store is and what it does', Status, 'Tip, horizon, what is kept, what is followed.');
  app.get(`${API}/status`, { schema: statusSchema }, (_request, reply) => {
    const lease = reads.lease();
    try {
      answers.name(reply);
      const waiting = context.mempool?.size ?? null;
      send(reply, 200, status(context, lease.query, live.status, size(), state.damage, state.streams, waiting));
    } finally {
      lease.release();
    }
  });

  const engineSchema = {
    ...describedStatus(
      'What the engine says of itself',
      EngineStatus,
      'Of the whole store with the size of each column, or of one column.',
    ),
    querystring: Type.Object(
      { column: Type.Optional(Type.String({ maxLength: 100, description: 'The name of a column.' })) },
      { additionalProperties: false },
    ),
  };
  const engine = every(refreshMs, () => {
    const columns = reads.columns.map((name) => ({ name, bytes: reads.engineStats(name).bytes }));
    return JSON.stringify({ ...reads.engineStats(), columns });
  });
  app.get(`${API}/status/engine`, { schema: engineSchema }, (request, reply) => {
    const { column } = request.query;
    answers.name(reply);
    send(reply, 200, column === undefined ? engine() : JSON.stringify({ column, ...reads.engineStats(column) }));
  });
}

/** At the root for health checks of machines, and under the API like the other routes. */
export function registerHealthRoutes(app: App, answers: NativeAnswers): void {
  const { context, state } = answers;
  const healthSchema = describedStatus('Is it healthy?', Health, 'Not when the store is damaged, or following failed.', [200, 503]);
  const readySchema = describedStatus('Is it ready?', Ready, 'Not while it is behind the source or an index is being filled.', [200, 503]);
  for (const prefix of ['', API]) {
    const config = { withoutToken: true, always: true };
    app.get(`${prefix}/health`, { schema: healthSchema, config }, (_request, reply) => {
      const reason = unhealthyBecause(state.damage, context.live.status);
      // A damaged store may not even say where it is.
      if (state.damage === null) answers.name(reply);
      const warnings = state.damage === null ? [...warningsOf(context), ...pruneWarnings(context.live.status)] : [];
      const answer = { healthy: reason === null, reason, ...(warnings.length === 0 ? {} : { warnings }) };
      send(reply, reason === null ? 200 : 503, JSON.stringify(answer));
    });
    app.get(`${prefix}/ready`, { schema: readySchema, config }, (_request, reply) => {
      const lease = context.reads.lease();
      try {
        answers.name(reply);
        const { head } = lease.query;
        const reason = unreadyBecause(head, context.live.status, [...lease.query.filling().keys()]);
        const answer = { ready: reason === null, reason, lag_blocks: lagBlocks(head, context.live.status) };
        send(reply, reason === null ? 200 : 503, JSON.stringify(answer));
      } finally {
        lease.release();
      }
    });
  }
}

/** Without a token: numbers only. */
function warningsOf({ config, reads }: ServerContext): readonly string[] {
  if (!config.utxo.enabled || !config.cage.enabled) return [];
  const lease = reads.lease();
  try {
    return cageWarnings(lease.query.cage().counters());
  } finally {
    lease.release();
  }
}

function send(reply: FastifyReply, status: number, text: string): void {
  reply.code(status).header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(text);
}

/** Measures at most once in this time: it looks at files, which takes a while. */
function every<T>(ms: number, measure: () => T): () => T {
  let known: { readonly value: T; readonly until: number } | null = null;
  return () => {
    const now = performance.now();
    if (known === null || now >= known.until) known = { value: measure(), until: now + ms };
    return known.value;
  };
}

/** Makes it again when something it is made of is another one: a status is asked for more often than it changes. */
function whileSame<A extends readonly unknown[]>(make: (...of: A) => string): (...of: A) => string {
  let known: { readonly of: A; readonly text: string } | null = null;
  return (...of) => {
    if (known === null || known.of.some((part, i) => part !== of[i])) known = { of, text: make(...of) };
    return known.text;
  };
}

/** What looking at files has shown. */
interface OnDisk {
  readonly bytes: number;
  readonly keys: Readonly<Record<string, number>>;
}

function statusOf(
  { network, projections, config, copy }: ServerContext,
  query: Query,
  live: LiveStatus,
  { bytes, keys }: OnDisk,
  damage: string | null,
  streams: number,
  mempool: number | null,
): object {
  const { head, totals, horizon, pruned, partial, base, mmr, cage, settings } = summaryOf(query, config);
  const reason = unhealthyBecause(damage, live);
  const notReady = unreadyBecause(head, live, [...query.filling().keys()]);
  return {
    version: VERSION,
    network: network.name,
    family: network.family.name,
    healthy: reason === null,
    ready: notReady === null,
    reason: reason ?? notReady,
    tip: head === null ? null : tipOf(head, query, network.dialect),
    lag_blocks: lagBlocks(head, live),
    lag_slots: lagSlots(head, live),
    horizon: renderPoint(horizon, network.dialect),
    pruned: { spent_outputs: pruned.spent, deltas: pruned.deltas },
    utxos: totals?.utxos ?? null,
    value: totals?.value.toString() ?? null,
    unit: network.dialect.currency.unit,
    coin: network.dialect.currency.name,
    missing_inputs: totals?.missing ?? null,
    ...(mempool === null ? {} : { mempool }),
    partial,
    snapshot: renderPoint(base, network.dialect),
    mmr,
    cage: cage === null ? null : cageOf(cage),
    txs: live.records === null ? null : txsDocument(live.records),
    publishing: live.publishing === null ? null : publishingOf(live.publishing),
    wallets: live.wallets === null ? null : walletsOf(live.wallets),
    shapes: network.family.wireShapes,
    projections,
    settings,
    following: followingOf(live, totals !== null),
    ...(copy === undefined ? {} : { copy: copyDocument(copy) }),
    bytes,
    keys,
    streams,
    refresh_seconds: config.status.refreshSeconds,
  };
}

/** What the chain has no words for is left out. */
function tipOf(head: NonNullable<Query['head']>, query: Query, dialect: Dialect): object {
  const epoch = dialect.clock.epoch(head.slot);
  const time = dialect.clock.time(head.slot, query.blockAtHeight(head.height));
  const era = dialect.eraName(head.era);
  return {
    ...renderPoint(head, dialect),
    ...(epoch === null ? {} : { epoch }),
    ...(time === null ? {} : { block_time: time }),
    ...(era === null ? {} : { era }),
  };
}

function cageOf({ divergedTokens, ...counts }: CageSummary): object {
  return { ...counts, diverged_tokens: divergedTokens };
}

function publishingOf({ commitSeconds, commitSecondsSum, lastError, ...rest }: PublishReport): object {
  return { ...rest, commit_seconds: commitSeconds, commit_seconds_sum: commitSecondsSum, last_error: lastError };
}

function walletsOf({ blockSeconds, lastError, ...rest }: WalletsReport): object {
  return { ...rest, block_seconds: blockSeconds, last_error: lastError };
}

/** `hasOutputs` false: none are kept, so that none were counted. */
function followingOf(live: LiveStatus, hasOutputs: boolean): object {
  const { sourceTip, created, spent, prunedKeys, prunedDeltas, connectionsLost, lastError, source, ...others } = live;
  // Those are parts of the status by themselves.
  const { records: _records, publishing: _publishing, wallets: _wallets, ...rest } = others;
  return {
    ...rest,
    created: hasOutputs ? created : null,
    spent: hasOutputs ? spent : null,
    source: source === null ? null : withoutSecret(source),
    source_tip: sourceTip,
    pruned_keys: hasOutputs ? prunedKeys : null,
    pruned_deltas: prunedDeltas,
    connections_lost: connectionsLost,
    last_error: lastError,
  };
}
