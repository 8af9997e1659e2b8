/**
 * Is it well? One sentence from the status, the worst first: nobody should have
 * to read charts to learn that it has stopped. Pure.
 */
import { count, counted, duration, percent, rate, utc } from './format.ts';
import type { Status } from './shapes.ts';

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'idle';

export interface Verdict {
  readonly tone: Tone;
  readonly title: string;
  readonly detail: string;
}

/** A block is on its way now and then; more than this is being behind. */
const LAG_BLOCKS_FINE = 2;
/** The same where the source tells only slots: blocks are about twenty apart. */
const LAG_SLOTS_FINE = 120;

export function verdictOf(status: Status, blocksPerSecond: number): Verdict {
  return stopped(status) ?? behind(status, blocksPerSecond) ?? filling(status) ?? settled(status);
}

/** It shows a chain as it was, and says nothing of how it is now. */
export function isAtRest({ following, tip }: Status): boolean {
  return following.state === 'idle' && tip !== null;
}

function stopped({ following, healthy, reason }: Status): Verdict | null {
  const { state, source, last_error } = following;
  const why = last_error ?? '';
  if (state === 'stopped') return { tone: 'bad', title: 'Stopped', detail: why === '' ? 'Nothing is followed any more.' : why };
  if (!healthy) return { tone: 'bad', title: 'Not healthy', detail: reason ?? 'The server does not say why.' };
  if (state === 'waiting') return { tone: 'warn', title: 'Source lost', detail: why === '' ? 'It is tried again in a moment.' : why };
  if (state === 'connecting')
    return { tone: 'warn', title: 'Connecting', detail: why === '' ? `Reaching ${source ?? 'the source'}.` : why };
  return null;
}

function behind(status: Status, blocksPerSecond: number): Verdict | null {
  if (status.following.state === 'idle') return null;
  const { lag_blocks: blocks, lag_slots: slots } = status;
  if (blocks !== null && blocks > LAG_BLOCKS_FINE) {
    const left = blocksPerSecond > 0.1 ? `, about ${duration(blocks / blocksPerSecond)} left` : '';
    const speed =
      blocksPerSecond > 0 ? `Catching up at ${rate(blocksPerSecond)} blocks a second${left}.` : 'No block has come in the last seconds.';
    return { tone: 'warn', title: `Behind by ${counted(blocks, 'block')}`, detail: speed };
  }
  if (blocks === null && slots !== null && slots > LAG_SLOTS_FINE)
    return { tone: 'warn', title: `Behind by ${counted(slots, 'slot')}`, detail: 'The source does not say how many blocks that is.' };
  return null;
}

function filling({ following }: Status): Verdict | null {
  const [fill, ...others] = following.fills;
  if (fill === undefined) return null;
  const also = others.length === 0 ? '' : `, and ${count(others.length)} more`;
  return {
    tone: 'info',
    title: `Filling ${fill.projection}`,
    detail: `${percent(fill.done)} done${also}. Everything else answers as usual.`,
  };
}

function settled({ following, tip }: Status): Verdict {
  if (tip === null) return { tone: 'idle', title: 'Empty', detail: 'The store has no block yet.' };
  if (following.state === 'idle')
    return {
      tone: 'idle',
      title: 'At rest',
      detail: `The chain as of block ${count(tip.height)} of ${utc(tip.block_time)}. Nothing is followed.`,
    };
  return { tone: 'ok', title: 'In sync', detail: 'Every block the source has is here.' };
}
