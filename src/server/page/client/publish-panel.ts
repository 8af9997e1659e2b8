/** The published copy on the overview: who leads, how far behind it is, and how fast it goes. Seen only where one is published. */
import { count, counted } from './format.ts';
import { Panel, pairs } from './panels.ts';
import type { Status } from './shapes.ts';

const STATES: Readonly<Record<string, string>> = {
  connecting: 'connecting',
  waiting: 'another publisher leads',
  'catching-up': 'waits until the store is near the tip',
  loading: 'sending a snapshot',
  publishing: 'leads',
  unreachable: 'the database does not answer',
  stopped: 'stopped',
};

export class PublishPanel extends Panel {
  constructor() {
    super('Published copy', 'publish');
    this.element.hidden = true;
  }

  show({ publishing }: Status): void {
    this.element.hidden = publishing === null;
    if (publishing === null) return;
    const { target, form, state, epoch, seq, height, lag, rows, commits, commit_seconds_sum, last_error } = publishing;
    const each = commits === 0 ? '' : `, ${((1000 * commit_seconds_sum) / commits).toFixed(1)} ms a commit`;
    this.fill(
      pairs([
        ['Copy', `${target}, ${form}`],
        ['State', `${STATES[state] ?? state}, epoch ${count(epoch)}`],
        ['At', `${height === null ? 'the origin' : `height ${count(height)}`}, change ${count(seq)}`],
        ['Behind', counted(lag, 'block')],
        ['Written', `${counted(rows, 'row')}${each}`],
        ...(last_error === null || state === 'publishing' ? [] : ([['Last failure', last_error]] as [string, string][])),
      ]),
    );
  }
}
