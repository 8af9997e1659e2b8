/** The log: levels, repeats that are counted, one line for each entry, and nothing secret in it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LOG_ENTRIES_MAX, LOG_REPEAT_MS, LOG_TROUBLES_MAX } from '../../src/util/limits.ts';
import { Log, type LogEntry } from '../../src/util/log.ts';
import { jsonLine, textLine } from '../../src/util/log-line.ts';

function logged(level: 'debug' | 'info' | 'warn' | 'error' = 'info') {
  const entries: LogEntry[] = [];
  const clock = { now: Date.parse('2026-01-31T12:00:00.000Z') };
  const log = new Log({ level, now: () => clock.now }, (entry) => entries.push(entry));
  return { log, entries, clock, texts: () => entries.map(({ text }) => text) };
}

const ENTRY: LogEntry = {
  time: new Date('2026-01-31T12:00:00.000Z'),
  level: 'warn',
  room: 'sources',
  event: 'lost',
  text: 'lost a node',
  facts: {},
};

describe('the log', () => {
  it('leaves out what is below its level', () => {
    const { log, texts } = logged('warn');
    log.debug('state', 'a', 'debug');
    log.info('state', 'a', 'info');
    log.warn('state', 'a', 'warn');
    log.error('state', 'a', 'error');
    log.lines('server')('a line', 'info');
    log.lines('server')('a failure');
    assert.deepEqual(texts(), ['warn', 'error', 'a failure']);
  });

  it('counts what repeats, and says how often when the time is over', () => {
    const { log, entries, texts, clock } = logged();
    for (let i = 0; i < LOG_TROUBLES_MAX + 12; i++) log.warn('sources', 'lost', `lost ${i}`, { peer: 'x' });
    log.warn('sources', 'unreachable', 'another event is not a repeat');
    assert.equal(entries.length, LOG_TROUBLES_MAX + 1);
    clock.now += LOG_REPEAT_MS;
    log.warn('sources', 'lost', 'again');
    assert.deepEqual(texts().slice(-2), [`12 more like this in 30 s, the last: lost ${LOG_TROUBLES_MAX + 11}`, 'again']);
    assert.deepEqual(entries.at(-2)?.facts, { peer: 'x', repeats: 12 });
  });

  it('lets more of ordinary entries through, and says the rest at the end', () => {
    const { log, entries, texts } = logged();
    for (let i = 0; i <= LOG_ENTRIES_MAX; i++) log.info('state', 'block', `block ${i}`);
    assert.equal(entries.length, LOG_ENTRIES_MAX);
    log.flush();
    assert.match(texts().at(-1)!, /^1 more like this in 1 s, the last: block 20$/);
    log.flush();
    assert.equal(entries.length, LOG_ENTRIES_MAX + 1, 'once');
  });
});

describe('a line of the log', () => {
  it('has time, level, room and text', () => {
    assert.equal(textLine(ENTRY), '2026-01-31T12:00:00.000Z warn  sources lost a node');
    assert.deepEqual(JSON.parse(jsonLine({ ...ENTRY, facts: { peer: 'x', lost: 3, text: 'not this', none: null } })), {
      time: '2026-01-31T12:00:00.000Z',
      level: 'warn',
      room: 'sources',
      event: 'lost',
      text: 'lost a node',
      peer: 'x',
      lost: 3,
      none: null,
    });
  });

  it('is one line, whatever a peer has sent, and does not speak to the terminal', () => {
    const text = 'bad\r\n2026 info faked \x1b[2Jgone\x07\u009b31m';
    for (const line of [textLine({ ...ENTRY, text }), jsonLine({ ...ENTRY, text, facts: { reason: text } })])
      assert.ok(![...line].some((letter) => letter < ' ' || (letter >= '\x7f' && letter <= '\x9f')), line);
  });

  it('has no passwords and no tokens', () => {
    const secrets = [
      'rpc://user:SECRET@127.0.0.1:8332 refused',
      'postgres://u:SE@CRET@host/db',
      'http://127.0.0.1:8437/#wallet-token=SECRET',
      'GET /x?token=SECRET&a=1',
      'Authorization: Bearer SECRET',
      'authorization: basic SECRET',
      'postgres:///db?password=SECRET',
    ];
    for (const text of secrets) {
      const entry = { ...ENTRY, text, facts: { url: text } };
      assert.doesNotMatch(`${textLine(entry)}${jsonLine(entry)}`, /SECRET|CRET/, text);
    }
  });
});
