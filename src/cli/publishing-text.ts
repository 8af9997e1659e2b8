/** The published copy in a line, wherever the status of a store is told. */
import type { PublishingStatus } from '../store/publishing.ts';
import { count, counted } from './format.ts';

const STATES: Readonly<Record<PublishingStatus['state'], string>> = {
  connecting: 'connecting',
  waiting: 'another publisher leads',
  'catching-up': 'waits until the store is near the tip',
  loading: 'a snapshot is being sent',
  publishing: 'published from here',
  unreachable: 'the database does not answer',
  stopped: 'stopped',
};

export function publishingText({ target, form, state, height, lag, lastError }: PublishingStatus): string {
  const place = `${height === null ? 'the origin' : `height ${count(height)}`}, ${lag === 0 ? 'at the tip' : `${counted(lag, 'block')} behind`}`;
  const why = lastError === null || state === 'publishing' ? '' : `: ${lastError}`;
  return `${target} (${form}), ${place}, ${STATES[state]}${why}`;
}
