/** The settings of what a process tells while it runs, a part of the schema: log, status and metrics. */
import { LOG_LEVELS } from '../util/log.ts';
import { LOG_FORMATS } from '../util/log-line.ts';
import type { Setting } from '../util/setting.ts';

export const OBSERVATION_SETTINGS = {
  'log.level': {
    type: 'oneOf',
    values: LOG_LEVELS,
    default: 'info',
    doc: 'What commands that go on (`start`, `sync`, `serve`, `devnet`, `relay`) say on stderr: entries of this level and above. `debug` also shows where in the code a failure began. With `--quiet` no less than `warn`.',
  },
  'log.format': {
    type: 'oneOf',
    values: LOG_FORMATS,
    default: 'text',
    doc: 'A line of text for each entry, or a JSON document with `time`, `level`, `room`, `event`, `text` and particulars.',
  },
  'log.slowRequestMs': {
    type: 'integer',
    default: 5000,
    min: 0,
    max: 600_000,
    doc: 'Milliseconds from which on a request over HTTP is called slow in the log, by the template of its route: until its answer begins, without what it asked to wait for. 0: none is.',
  },
  'status.refreshSeconds': { type: 'integer', default: 5, min: 1, max: 3600, doc: 'Seconds between refreshes of the status.' },
  'metrics.sampleEngineSeconds': {
    type: 'integer',
    default: 30,
    min: 1,
    max: 3600,
    doc: "Seconds between samples of the engine's own counters.",
  },
} as const satisfies Record<string, Setting>;
