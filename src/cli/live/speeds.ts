/** How fast a store went at each sample of a view, for its chart. */
import type { LiveSample } from '../../store/live/sample.ts';
import { LIVE_RECENT_BLOCKS } from '../../util/limits.ts';

export class Speeds {
  readonly values: number[] = [];

  take(sample: LiveSample): LiveSample {
    this.values.push(sample.blocksPerSecond);
    if (this.values.length > LIVE_RECENT_BLOCKS) this.values.shift();
    return sample;
  }
}
