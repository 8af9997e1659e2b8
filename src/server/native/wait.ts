/**
 * Waiting for a slot: a caller that has just seen a block elsewhere asks for an
 * answer that knows it. Bounded in time, and over when the caller hangs up.
 */
import type { FastifyReply } from 'fastify';
import { UnspentError } from '../../util/errors.ts';
import type { Reads } from '../context.ts';

/** Whether the store has that slot: the newest block is at it or behind it. */
export function hasSlot(reads: Reads, slot: number): boolean {
  const lease = reads.lease();
  try {
    return (lease.query.head?.slot ?? -1) >= slot;
  } finally {
    lease.release();
  }
}

/** Resolves when the store has the slot; rejects with NOT_YET. Never settles once the caller is gone. */
export function waitForSlot(reads: Reads, slot: number, reply: FastifyReply, secondsMax: number): Promise<void> {
  const since = performance.now();
  return new Promise((resolve, reject) => {
    const end = (): void => {
      reply.request.task.waitedMs += performance.now() - since;
      stop();
      clearTimeout(timer);
      reply.raw.off('close', end);
    };
    const look = (): void => {
      try {
        if (!hasSlot(reads, slot)) return;
        end();
        resolve();
      } catch (error) {
        end();
        reject(error as Error);
      }
    };
    const timer = setTimeout(() => {
      end();
      reject(new UnspentError('NOT_YET', `the store did not reach slot ${slot} within ${secondsMax} s`, { slot }));
    }, 1000 * secondsMax);
    const stop = reads.onMove(look);
    reply.raw.once('close', end);
  });
}
