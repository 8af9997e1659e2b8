/**
 * What is advised where something fails: of its own for every code, with commands
 * and settings that there are, and without phrases that fit everywhere.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { SETTING_KEYS } from '../../src/config/schema.ts';
import { ERROR_CODES, type ErrorCode, UnspentError } from '../../src/util/errors.ts';
import { failure, temporary } from '../cli/run.ts';

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

/** What can be said of anything. */
const STOCK =
  /something went wrong|an? (unexpected |unknown )?error (has )?occurred|contact|support team|see (the )?(docs|documentation|manual)\b|check (the|your) (settings|configuration|logs?|input)\b(?! of)|try again later|sorry|oops|please try/i;

describe('the advice of an error', () => {
  test('is of its own for each code, a sentence or two, and no stock phrase', () => {
    const seen = new Map<string, ErrorCode>();
    for (const code of CODES) {
      const { advice, meaning } = ERROR_CODES[code];
      assert.ok(!seen.has(advice), `${code} advises what ${seen.get(advice)} does: ${advice}`);
      seen.set(advice, code);
      assert.match(advice, /^[`A-Z].*\.$/s, code);
      assert.ok(advice.length <= 200, `${code}: ${advice.length} characters`);
      assert.doesNotMatch(`${meaning} ${advice}`, STOCK, code);
      assert.notEqual(advice, meaning, code);
    }
  });

  test('names commands, flags and settings that there are', () => {
    const program = createProgram({ env: {}, stdout: { write: () => true }, stderr: { write: () => true } });
    const below = ({ commands }: Command, path: string): string[] =>
      commands.flatMap((each) => [`${path}${each.name()}`, ...below(each, `${path}${each.name()} `)]);
    const commands = below(program, '');
    const settings: readonly string[] = SETTING_KEYS;
    let named = 0;
    for (const code of CODES) {
      const { advice } = ERROR_CODES[code];
      for (const [, words] of advice.matchAll(/`unspent ([a-z][a-z -]*?)(?= --| [A-Z]|`)/g)) {
        assert.ok(commands.includes(words), `${code}: unspent ${words}`);
        named++;
      }
      for (const [key] of advice.matchAll(/\b(?:utxo|txs|wallet|server|engine|backup|log|publish)\.[a-z]\w+(?:\.\w+)?/gi)) {
        assert.ok(settings.includes(key), `${code}: ${key}`);
        named++;
      }
    }
    assert.ok(named > 15, `${named}`);
  });

  test('is what the one who threw it knows better, and nothing where the message says what was meant', async () => {
    assert.equal(new UnspentError('INTERRUPTED', 'x', { advice: 'Do this.' }).advice, 'Do this.');
    assert.equal((await failure(['stauts'], 'USAGE', 2)).advice, '');
    const { advice } = await failure(['status', '--data', temporary()], 'STORE_MISSING', 1);
    assert.equal(advice, ERROR_CODES.STORE_MISSING.advice);
    assert.match((await failure(['rollback'], 'USAGE', 2)).advice, /^`unspent rollback --help` shows/);
  });
});
