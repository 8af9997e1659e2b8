/** Text for a terminal: no line is wider than it, no word is broken, and nothing is lost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { foldLines } from '../../../src/cli/terminal/fold-lines.ts';
import { fit, styleOf, widthOf } from '../../../src/cli/terminal/style.ts';

const TTY = { isTTY: true, write: () => true };
const PIPE = { write: () => true };

describe('folded lines', () => {
  it('go on under what they belong to', () => {
    assert.equal(foldLines('store  one two three four five', 20), 'store  one two three\n       four five');
    assert.equal(foldLines('a long sentence without columns', 20), 'a long sentence\n  without columns');
    assert.equal(foldLines('  $ unspent sync --network preview', 26), '  $ unspent sync \\\n      --network preview');
    assert.equal(foldLines('       one two three four', 20), '       one two three\n       four', 'what goes on already');
    assert.equal(foldLines('short\n\nlines', 20), 'short\n\nlines');
  });

  it('have every word, in order, and are as wide as the terminal at most, unless a word is wider', () => {
    const word = fc.stringMatching(/^[a-z0-9:/.-]{1,30}$/);
    fc.assert(
      fc.property(fc.array(fc.array(word, { maxLength: 30 }), { maxLength: 4 }), fc.integer({ min: 20, max: 120 }), (lines, columns) => {
        const text = lines.map((words) => words.join(' ')).join('\n');
        const folded = foldLines(text, columns);
        assert.deepEqual(folded.split(/\s+/).filter(Boolean), text.split(/\s+/).filter(Boolean));
        for (const line of folded.split('\n')) assert.ok(line.length <= columns || line.trim().split(' ').length === 1, line);
      }),
    );
  });
});

describe('colours', () => {
  const on = (env: NodeJS.ProcessEnv, stream = TTY as object): boolean => styleOf(stream as typeof TTY, env).hasColours;

  it('are for terminals, unless NO_COLOR, FORCE_COLOR or TERM say otherwise', () => {
    assert.deepEqual([on({}), on({}, PIPE)], [true, false]);
    assert.deepEqual([on({ NO_COLOR: '1' }), on({ NO_COLOR: '' }), on({ TERM: 'dumb' })], [false, true, false]);
    assert.deepEqual(
      [on({ FORCE_COLOR: '1' }, PIPE), on({ FORCE_COLOR: '0' }), on({ NO_COLOR: '1', FORCE_COLOR: '1' })],
      [true, false, false],
    );
  });

  it('take no columns, and end where a text is cut', () => {
    const { red, bold } = styleOf(TTY, {});
    const text = `${red('abc')} ${bold('defg')}`;
    assert.equal(widthOf(text), 8);
    assert.equal(fit(text, 8), text);
    for (let columns = 1; columns < 8; columns++) {
      const cut = fit(text, columns);
      assert.equal(widthOf(cut), columns);
      assert.ok(cut.endsWith('\x1b[0m') || !cut.includes('\x1b'));
    }
  });
});
