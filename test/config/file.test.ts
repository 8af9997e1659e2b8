/**
 * The TOML file: unknown keys are named with their line however they are
 * written, and any valid configuration survives being written and read.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { readEntries } from '../../src/config/file.ts';
import { loadConfig } from '../../src/config/load.ts';
import { SETTING_KEYS, type SettingKey, settingOf } from '../../src/config/schema.ts';
import { TomlLines } from '../../src/config/toml-lines.ts';
import { formatSize } from '../../src/config/values.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import type { Setting, SettingValue } from '../../src/util/setting.ts';
import { suggest } from '../../src/util/suggest.ts';

const home = mkdtempSync(join(tmpdir(), 'unspent-config-'));
after(() => rmSync(home, { recursive: true }));

test('an unknown key is named with file, line and the nearest known one', () => {
  const cases: readonly [text: string, message: string][] = [
    ['[utxo]\n# why\nprunDepth = 1', "f:3: unknown key 'utxo.prunDepth'; did you mean 'utxo.pruneDepth'?"],
    ['\n[utxo.index]\naddresshash = true', "f:3: unknown key 'utxo.index.addresshash'; did you mean 'utxo.index.addressHash'?"],
    ['data = "x"\nutxo.prune_depth = 1', "f:2: unknown key 'utxo.prune_depth'; did you mean 'utxo.pruneDepth'?"],
    ['\r\n\r\n  utxo . "index" . \'stake\' = true\r\n', "f:3: unknown key 'utxo.index.stake'"],
    ['"utxo.pruneDepth" = 1', "f:1: unknown key '\"utxo.pruneDepth\"'; did you mean 'utxo.pruneDepth'?"],
    ['[utox]\npruneDepth = 1', "f:1: unknown key 'utox'; did you mean 'utxo'?"],
    ['pruneDepth = 1', "f:1: unknown key 'pruneDepth'; did you mean 'utxo.pruneDepth'?"],
    ['utxo = { enabled = true, index = { addressHash = true, b = 1 } }', "f:1: unknown key 'utxo.index.b'"],
    ['[utxo]\n"\\u0078" = 1', "f:2: unknown key 'utxo.x'"],
    ['data = """\n[utxo]\nwrong = 1\n"""\nwrong = 2', "f:5: unknown key 'wrong'"],
    ["data = '''a\n''''\n[a.b]", "f:3: unknown key 'a'"],
    ['[[extra]]\nx = 1', "f:1: unknown key 'extra'"],
    ['xs = [\n 1, # ]\n "]",\n]\n', "f:1: unknown key 'xs'"],
    ['["__proto__"]\nx = 1', "f:1: unknown key '__proto__'"],
    ['toString = 1', "f:1: unknown key 'toString'"],
    ['\n[utxo.pruneDepth]\nx = 1', "f:2: 'utxo.pruneDepth' is a setting, not a table"],
    ['\nutxo = 3', "f:2: 'utxo' is a table of settings, not a value"],
    ['[[utxo]]\nenabled = true', "f:1: 'utxo' is a table of settings, not a value"],
  ];
  for (const [text, message] of cases) {
    assert.throws(
      () => readEntries(text, 'f'),
      (error) => {
        assert.ok(isUnspentError(error, 'CONFIG'), String(error));
        assert.ok(error.message.startsWith(message), `${error.message} <> ${message}`);
        return true;
      },
    );
  }
});

test('text that is not TOML is named with line and column', () => {
  for (const [text, where] of [
    ['data = "x"\nutxo = = 1', 'f:2:'],
    ['data = "a"\ndata = "b"', 'f:2:'],
    ['[utxo', 'f:1:'],
  ]) {
    assert.throws(
      () => readEntries(text, 'f'),
      (error) => isUnspentError(error, 'CONFIG') && error.message.startsWith(where) && !error.message.includes('\n'),
    );
  }
});

test('entries carry the line of their own key', () => {
  const text =
    'data = "x"\nnetwork = """\nmainnet"""\n[utxo]\nenabled = true\nindex.addressHash = false # why\n\n[engine]\ncompression = false';
  assert.deepEqual(
    readEntries(text, 'f').map(({ key, line }) => [key, line]),
    [
      ['data', 1],
      ['network', 2],
      ['utxo.enabled', 5],
      ['utxo.index.addressHash', 6],
      ['engine.compression', 9],
    ],
  );
});

test('nothing is suggested when nothing is near', () => {
  assert.equal(suggest('colour', SETTING_KEYS), undefined);
  assert.equal(suggest('x'.repeat(10_000), SETTING_KEYS), undefined);
});

/** Any value the setting accepts, in a form a file may hold it. */
function anyValue(setting: Setting): fc.Arbitrary<{ value: SettingValue; toml: SettingValue }> {
  switch (setting.type) {
    case 'boolean':
    case 'oneOf': {
      const all: readonly SettingValue[] = setting.type === 'boolean' ? [true, false] : setting.values;
      return fc.constantFrom(...all.filter((value) => value !== setting.unavailable?.value)).map((value) => ({ value, toml: value }));
    }
    case 'integer':
      return fc.integer(setting).map((value) => ({ value, toml: value }));
    case 'bytes':
      return fc.tuple(fc.integer(setting), fc.boolean()).map(([value, inUnits]) => ({ value, toml: inUnits ? formatSize(value) : value }));
    case 'string':
      return fc.string({ unit: 'grapheme', minLength: setting.filled ? 1 : 0 }).map((value) => ({ value, toml: value }));
  }
}

/** The same settings as dotted keys or as tables. */
function writeToml(entries: readonly (readonly [SettingKey, SettingValue])[], style: 'dotted' | 'nested'): string {
  if (style === 'dotted') return entries.map(([key, value]) => `${key} = ${stringify({ k: value }).slice(4)}`).join('\n');
  const root: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    let node = root;
    const parts = key.split('.');
    for (const part of parts.slice(0, -1)) {
      node[part] ??= {};
      node = node[part] as Record<string, unknown>;
    }
    node[parts[parts.length - 1]] = value;
  }
  return stringify(root);
}

test('any valid configuration written to TOML loads to the same values', () => {
  const file = join(home, 'any.toml');
  const settings = fc
    .record(Object.fromEntries(SETTING_KEYS.map((key) => [key, anyValue(settingOf(key))])), { requiredKeys: [] })
    .filter((all) => {
      const [window, depth] = [Number(all['utxo.rollbackWindow']?.value ?? 0), Number(all['utxo.pruneDepth']?.value ?? 0)];
      // History in a copy alone goes with few of the others.
      return (window === 0 || window >= depth) && all['publish.history']?.value !== 'copy';
    });
  fc.assert(
    fc.property(settings, fc.constantFrom('dotted', 'nested'), (chosen, style) => {
      const entries = Object.entries(chosen) as [SettingKey, { value: SettingValue; toml: SettingValue }][];
      const text = writeToml(
        entries.map(([key, { toml }]) => [key, toml]),
        style,
      );
      writeFileSync(file, text);
      const { values, origins } = loadConfig({ file });
      const lines = text.split('\n');
      for (const key of SETTING_KEYS) {
        const given = chosen[key];
        const origin = origins[key];
        assert.equal(values[key], given === undefined ? settingOf(key).default : given.value);
        assert.equal(origin.from, given === undefined ? 'default' : 'file');
        if (origin.from === 'file') assert.match(lines[origin.line - 1], new RegExp(`^(.*\\.)?${key.split('.').pop()} =`));
      }
    }),
    { numRuns: 300 },
  );
});

test('every key of any document has a line', () => {
  const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: 'grapheme' }),
      fc.integer(),
      fc.boolean(),
      fc.double({ noNaN: true }),
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
      fc.array(tie('node'), { maxLength: 3 }),
      tie('table'),
    ),
    table: fc.dictionary(fc.string({ unit: 'grapheme' }), tie('node'), { maxKeys: 4, noNullPrototype: true }),
  })).table;
  fc.assert(
    fc.property(value, (document) => {
      const text = stringify(document);
      const lines = new TomlLines(text);
      const visit = (node: unknown, path: readonly string[]): void => {
        if (typeof node !== 'object' || node === null || Array.isArray(node) || node instanceof Date) return;
        for (const [name, child] of Object.entries(node)) {
          assert.notEqual(lines.lineOf([...path, name]), undefined, JSON.stringify([text, path, name]));
          visit(child, [...path, name]);
        }
      };
      visit(parse(text), []);
    }),
    { numRuns: 300 },
  );
});
