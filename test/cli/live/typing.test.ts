/**
 * The end of a terminal: what is typed there, keys as terminals send them,
 * Ctrl-Z, and lines that are drawn again where they were, also after the
 * terminal has become narrower.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import type { ReadStream } from 'node:tty';
import { type Key, readKeys } from '../../../src/cli/live/keys.ts';
import { Prompt } from '../../../src/cli/live/prompt.ts';
import { Region } from '../../../src/cli/terminal/region.ts';
import { drawn } from '../../support/pty.ts';

class Typed extends EventEmitter {
  readonly modes: boolean[] = [];
  isPaused = false;

  setRawMode(isRaw: boolean): this {
    this.modes.push(isRaw);
    return this;
  }

  setEncoding(): this {
    return this;
  }

  pause(): this {
    this.isPaused = true;
    return this;
  }
}

function keysOf(input: Typed, suspended = { before() {}, after() {} }): { readonly keys: Key[]; readonly stop: () => void } {
  const keys: Key[] = [];
  return { keys, stop: readKeys(input as unknown as ReadStream, (key) => keys.push(key), suspended) };
}

describe('keys', () => {
  test('are told as they come, many in one piece; what is no key of ours is nothing', () => {
    const input = new Typed();
    const { keys, stop } = keysOf(input);
    input.emit('data', 'mé\x1b[A\x1bOB\x7f\t\x15\r');
    input.emit('data', '\x1b[1;5C\x1b[3~\x07🦊\x04');
    const named = keys.map((key) => ('text' in key ? key.text : `<${key.name}>`));
    assert.deepEqual(named, ['m', 'é', '<up>', '<down>', '<backspace>', '<tab>', '<clear>', '<enter>', '🦊', '<end>']);
    stop();
    assert.deepEqual([input.modes, input.isPaused, input.listenerCount('data')], [[true, false], true, 0]);
  });

  test('of Ctrl-C and Ctrl-Z mean what they always mean, and the terminal is given back meanwhile', (t) => {
    const signals: unknown[] = [];
    t.mock.method(process, 'kill', (_: number, signal: string) => signals.push(signal));
    const input = new Typed();
    const calls: string[] = [];
    const { keys, stop } = keysOf(input, { before: () => calls.push('before'), after: () => calls.push('after') });
    input.emit('data', '\x03\x1a');
    assert.deepEqual([signals, calls, input.modes], [['SIGINT', 'SIGTSTP'], ['before'], [true, false]]);
    process.emit('SIGCONT', 'SIGCONT');
    assert.deepEqual([calls, input.modes, keys], [['before', 'after'], [true, false, true], []]);
    stop();
  });
});

test('a prompt edits a line, recalls earlier ones and completes what has one meaning', () => {
  const entered: string[] = [];
  const prompt = new Prompt(['mine', 'mint', 'status'], (line) => entered.push(line));
  const type = (...keys: (string | Key)[]): string => {
    for (const key of keys) prompt.press(typeof key === 'string' ? { text: key } : key);
    return prompt.text;
  };
  assert.equal(type('s', 'x', { name: 'backspace' }, { name: 'tab' }), 'status ');
  type({ name: 'enter' });
  assert.equal(type('m', 'i', { name: 'tab' }), 'mi', 'two begin so');
  assert.equal(type({ name: 'clear' }), '');
  type('🦊', { name: 'backspace' }, { name: 'enter' }, 'q', { name: 'enter' });
  assert.deepEqual(entered, ['status ', 'q'], 'and a line of nothing is not entered');
  assert.equal(type({ name: 'up' }, { name: 'up' }, { name: 'up' }), 'status ');
  assert.equal(type({ name: 'down' }), 'q');
  assert.equal(type({ name: 'down' }, { name: 'down' }), '');
});

describe('lines at the end of a terminal', () => {
  function terminal(columns: number, rows: number) {
    const stream = {
      isTTY: true,
      columns,
      rows,
      raw: '',
      write(text: string | Uint8Array) {
        this.raw += text;
        return true;
      },
    };
    return { stream, region: new Region(stream), screen: (): string[] => drawn(stream.raw, stream.columns) };
  }

  test('are drawn where they were, and what is written above them scrolls away', () => {
    const { region, screen } = terminal(20, 10);
    region.draw(['one', 'two']);
    region.above('log 1\n');
    region.draw(['three', 'four', 'five']);
    region.above('log 2');
    assert.deepEqual(screen(), ['log 1', 'log 2', 'three', 'four', 'five']);
    region.draw(['six']);
    assert.deepEqual(screen(), ['log 1', 'log 2', 'six']);
    region.clear();
    assert.deepEqual([screen(), region.isDrawn], [['log 1', 'log 2', ''], false]);
    region.above('after');
    assert.deepEqual(screen(), ['log 1', 'log 2', 'after']);
  });

  test('are cut at its width and height, and found again when it has become narrower', () => {
    const { stream, region, screen } = terminal(20, 4);
    region.above('log\r\n');
    region.draw(['x'.repeat(50), '2', '3', '4']);
    assert.deepEqual(screen(), ['log', '2', '3', '4'], 'the last row stays free');
    region.draw(['y'.repeat(50)]);
    assert.deepEqual(screen()[1].length, 19);
    const before = stream.raw.length;
    stream.columns = 8;
    region.draw(['z'.repeat(30)]);
    // What took one row of 20 columns takes three of 8.
    assert.ok(stream.raw.slice(before).includes('\r\x1b[2A'));
    assert.match(stream.raw.slice(before), /z{6}[^z]/);
    region.clear();
  });
});
