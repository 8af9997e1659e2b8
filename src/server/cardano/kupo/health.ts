/**
 * `/health` and `/metrics` as Kupo has them: where the store is and where its
 * source is, as JSON or as text for Prometheus. The status of `/health` says it
 * in short: 200 at the tip, 202 on the way there, 503 without a source. A store
 * that nothing follows, because it is only served, is at its tip.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Head } from '../../../state/head.ts';
import { VERSION } from '../../../util/version.ts';
import { unhealthyBecause, unreadyBecause } from '../../metrics/health.ts';
import { type KupoAnswers, namePoint } from './answer.ts';

interface Health {
  readonly connection_status: 'connected' | 'disconnected';
  readonly most_recent_checkpoint: number | null;
  readonly most_recent_node_tip: number | null;
  readonly seconds_since_last_block: number | null;
  readonly network_synchronization: number | null;
  readonly configuration: { readonly indexes: 'installed' | 'deferred' };
  readonly version: string;
}

/** Decimals of the share of the chain that is there. */
const SHARE_DIGITS = 5;

export function registerHealth(app: FastifyInstance, answers: KupoAnswers): void {
  app.get('/health', { config: { always: true } }, (request, reply) => giveHealth(request, reply, answers, true));
  app.get('/metrics', { config: { always: true } }, (request, reply) => giveHealth(request, reply, answers, false));
}

function giveHealth(request: FastifyRequest, reply: FastifyReply, answers: KupoAnswers, tellsStatus: boolean): void {
  const lease = answers.context.reads.lease();
  try {
    const { head } = lease.query;
    const filling = [...lease.query.filling().keys()];
    const health = healthOf(answers, head, filling.length > 0);
    namePoint(reply, head);
    if (head !== null) reply.header('etag', Buffer.from(head.hash).toString('hex'));
    reply.code(tellsStatus ? statusOf(answers, head, filling) : 200).header('cache-control', 'no-store');
    if (wantsText(request)) reply.header('content-type', 'text/plain;charset=utf-8').send(prometheusText(health));
    else reply.header('content-type', 'application/json;charset=utf-8').send(JSON.stringify(health));
  } finally {
    lease.release();
  }
}

/** A client that takes anything gets text, as from Kupo. */
function wantsText({ headers: { accept } }: FastifyRequest): boolean {
  return accept !== undefined && !accept.includes('application/json');
}

function statusOf({ context, state }: KupoAnswers, head: Head | null, filling: readonly string[]): number {
  const { status } = context.live;
  if (unhealthyBecause(state.damage, status) !== null) return 503;
  if (unreadyBecause(head, status, filling) === null) return 200;
  return status.state === 'following' || filling.length > 0 ? 202 : 503;
}

function healthOf({ context, dialect }: KupoAnswers, head: Head | null, isFilling: boolean): Health {
  const { state, sourceTip } = context.live.status;
  const time = head === null ? null : dialect.clock.time(head.slot, null);
  const share = sourceTip === null || sourceTip.slot === 0 ? null : Math.min(1, (head?.slot ?? 0) / sourceTip.slot);
  return {
    connection_status: state === 'following' ? 'connected' : 'disconnected',
    most_recent_checkpoint: head?.slot ?? null,
    most_recent_node_tip: sourceTip?.slot ?? null,
    seconds_since_last_block: time === null ? null : Math.max(0, Math.floor(Date.now() / 1000) - time),
    network_synchronization: share === null ? null : Number(share.toFixed(SHARE_DIGITS)),
    configuration: { indexes: isFilling ? 'deferred' : 'installed' },
    version: `unspent ${VERSION}`,
  };
}

/** Two spaces before a value: some who read Kupo's text split it there. */
function prometheusText(health: Health): string {
  const lines: string[] = [];
  const add = (name: string, type: 'gauge' | 'counter', value: string | number | null): void => {
    if (value !== null) lines.push(`# TYPE kupo_${name} ${type}\nkupo_${name}  ${value}\n`);
  };
  add('configuration_indexes', 'gauge', health.configuration.indexes === 'installed' ? '1.0' : '0.0');
  add('connection_status', 'gauge', health.connection_status === 'connected' ? '1.0' : '0.0');
  add('most_recent_checkpoint', 'counter', health.most_recent_checkpoint);
  add('most_recent_node_tip', 'counter', health.most_recent_node_tip);
  add('network_synchronization', 'gauge', health.network_synchronization);
  add('seconds_since_last_block', 'gauge', health.seconds_since_last_block);
  return lines.join('\n');
}
