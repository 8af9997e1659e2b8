/** The tables of docs/operating.md are what the code says: the events of the log with room and level, and metrics that there are. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PAGES, ROOT } from './page-blocks.ts';

const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'));
const page = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
const EVENT = /\.(debug|info|warn|error)\(\s*'([a-z]+)',\s*'([a-z ]+)',/g;
const METRIC = /\bunspent_[a-z0-9_]+(\*?)/g;
/** Also begin like a metric: a channel of PostgreSQL. */
const NO_METRICS: readonly string[] = ['unspent_head'];

/** The server is given a function that says its room (`Log.of`); what it says without a level is an error. */
const SERVER_EVENT = /\blog\([^;]*, '(info|warn|error)', '([a-z ]+)'\)/g;
const SERVER_FAILED = 'error server failed';

/** `level room event`, of every call of the log. */
function loggedEvents(): Set<string> {
  const logged = sources.flatMap((text) => [...text.matchAll(EVENT)].map(([, level, room, event]) => `${level} ${room} ${event}`));
  const served = sources.flatMap((text) => [...text.matchAll(SERVER_EVENT)].map(([, level, event]) => `${level} server ${event}`));
  return new Set([...logged, ...served, SERVER_FAILED]);
}

function tableEvents(): Set<string> {
  const rows = page.slice(page.indexOf('| event | room | level |')).split('\n\n')[0].split('\n').slice(2);
  return new Set(
    rows.flatMap((row) => {
      const [, events, room, level] = row.split('|').map((cell) => cell.trim());
      return [...events.matchAll(/`([^`]+)`/g)].map(([, event]) => `${level} ${room} ${event}`);
    }),
  );
}

describe('docs/operating.md', () => {
  test('its table of log events has each, with room and level, and no other', () => {
    assert.deepEqual([...tableEvents()].sort(), [...loggedEvents()].sort());
  });

  test('metrics that pages name are there', () => {
    const code = sources.join('\n');
    for (const each of PAGES.filter((one) => one !== 'CHANGELOG.md')) {
      for (const [name, star] of readFileSync(join(ROOT, each), 'utf8').matchAll(METRIC)) {
        if (NO_METRICS.includes(name)) continue;
        const whole = name.replace(/^unspent_|\*$|(_bucket|_sum|_count)$/g, '');
        // Counters and histograms are declared without the end of their names.
        const wanted = [whole, whole.replace(/_(total|seconds)$/, '')].join('|');
        const isThere = new RegExp(`\\b(unspent_)?(${wanted})${star === '*' ? '' : '\\b'}`).test(code);
        assert.ok(isThere, `${each}: there is no ${name}`);
      }
    }
  });
});
