/**
 * The soak of test/soak for as long as one likes:
 * `node bench/soak.ts --events 20000 --seed 7`. Prints a line now and then and a
 * report at the end; the seed of a failure is in its message.
 */
import { soak } from '../test/soak/soak.ts';
import { option } from './support.ts';

const args = process.argv.slice(2);
const events = option(args, 'events', 5000);
const seed = option(args, 'seed', Date.now() % 1_000_000);
const started = performance.now();

const report = await soak({
  events,
  seed,
  depthMax: option(args, 'depth', 2160),
  onEvent(event, what) {
    if ((event + 1) % 100 !== 0) return;
    const seconds = (performance.now() - started) / 1000;
    const megabytes = Math.round(process.memoryUsage().rss / 1e6);
    process.stderr.write(`${event + 1} events in ${seconds.toFixed(0)} s, ${megabytes} MB; last: ${what}\n`);
  },
});
process.stdout.write(
  `${JSON.stringify({ seed, events, seconds: Math.round((performance.now() - started) / 1000), ...report }, null, 2)}\n`,
);
