/**
 * How the server is doing, in one word each: healthy, as long as nothing is
 * damaged and following has neither failed nor is stuck; ready, when its answers are those of
 * the newest blocks. Both are asked by machines without a token, so a reason
 * names no file and no peer; the status says more.
 */
import type { Point } from '../../ledgers/ledger.ts';
import { FOLLOW_REFUSALS_MAX, READY_BLOCKS_BEHIND_MAX } from '../../util/limits.ts';
import type { LiveStatus } from '../thread/live.ts';

const STUCK = 'what the source sends is refused again and again';

/** Null: yes. */
export type Reason = string | null;

export function unhealthyBecause(damage: string | null, { state, lastError, refusals }: LiveStatus): Reason {
  if (damage !== null) return 'the store is damaged';
  if (refusals >= FOLLOW_REFUSALS_MAX) return STUCK;
  return state === 'stopped' && lastError !== null ? 'following stopped with an error' : null;
}

/** Only what concerns single tokens: the rest of the store is as good as ever. */
export function cageWarnings({ diverged, tokens }: { readonly diverged: number; readonly tokens: number }): readonly string[] {
  return diverged === 0
    ? []
    : [`${diverged} of ${tokens} tokens of cages give no proofs: their tries are not those whose roots are on chain`];
}

const BACKLOG_WARNINGS = {
  ok: [],
  at_risk: ['pruning of transactions takes nearly as long as blocks do'],
  behind: ['pruning of transactions is behind'],
} as const;

/** Deleting too little costs space, not answers: so that is a warning. So is a database that is asked again. */
export function pruneWarnings({ records }: LiveStatus): readonly string[] {
  if (records === null) return [];
  const { state, feedFailure, consumers, height } = records;
  const slow = consumers.filter(({ allows }) => allows !== null && allows < height).map(({ name }) => name);
  return [
    ...BACKLOG_WARNINGS[state],
    ...(feedFailure === null ? [] : ['the database of the records of transactions does not answer']),
    ...(slow.length === 0 ? [] : [`pruning of transactions waits for ${slow.join(', ')}`]),
  ];
}

/** What is asked of records comes from their database: that must be near the newest block, too. */
function recordsUnready(head: Point, { records }: LiveStatus): Reason {
  if (records === null || records.place === 'embedded') return null;
  const behind = head.height - records.height;
  return behind > READY_BLOCKS_BEHIND_MAX ? `the records of transactions are ${behind} blocks behind the store` : null;
}

/** Whoever asks for wallets is to get them as of the newest blocks: without their database, or far behind, they are not. */
function walletsUnready(head: Point, { wallets }: LiveStatus): Reason {
  if (wallets === null) return null;
  if (wallets.state !== 'following') return 'the wallets are not fed';
  const behind = wallets.height === null ? 0 : head.height - wallets.height;
  return behind > READY_BLOCKS_BEHIND_MAX ? `the wallets are ${behind} blocks behind the store` : null;
}

/** Blocks our tip is behind the source's; null where the source does not say. */
export function lagBlocks(head: Point | null, { sourceTip }: LiveStatus): number | null {
  if (sourceTip === null || sourceTip.height === null) return null;
  return Math.max(0, sourceTip.height - (head?.height ?? -1));
}

export function lagSlots(head: Point | null, { sourceTip }: LiveStatus): number | null {
  return sourceTip === null ? null : Math.max(0, sourceTip.slot - (head?.slot ?? 0));
}

/** `filling`: projections that still lack rows. A store that nothing follows is as new as it will ever be: ready. */
export function unreadyBecause(head: Point | null, live: LiveStatus, filling: readonly string[]): Reason {
  if (head === null) return 'the store has no block yet';
  if (filling.length > 0) return `still filling: ${filling.join(', ')}`;
  const unready = recordsUnready(head, live) ?? walletsUnready(head, live);
  if (unready !== null) return unready;
  if (live.state === 'idle') return null;
  if (live.state === 'stopped') return 'nothing is followed any more';
  if (live.refusals >= FOLLOW_REFUSALS_MAX) return STUCK;
  if (live.sourceTip === null) return 'the source has not said where it is';
  // Where the source was is known; where it is now is not.
  if (live.state !== 'following') return 'not connected to the source';
  const behind = lagBlocks(head, live);
  if (behind !== null) return behind <= READY_BLOCKS_BEHIND_MAX ? null : `${behind} blocks behind the source`;
  // Slots say nothing about blocks: without a height only the tip itself will do.
  return lagSlots(head, live) === 0 ? null : 'behind the source';
}
