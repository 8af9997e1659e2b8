/**
 * loadConfig: which layer wins, the names every key has in each layer, and
 * what is said about a bad value, an unknown variable or a contradiction.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Command } from 'commander';
import { CONFIG_FLAGS, describeOrigin, type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { flagOf, SETTING_KEYS, SETTINGS, type SettingKey, settingOf, variableOf } from '../../src/config/schema.ts';
import { formatSize, parseSize } from '../../src/config/values.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import type { Setting } from '../../src/util/setting.ts';

const home = mkdtempSync(join(tmpdir(), 'unspent-config-'));
// No unspent.toml of the checkout may leak into these tests.
process.chdir(home);
after(() => {
  process.chdir(tmpdir());
  rmSync(home, { recursive: true });
});

function written(text: string): string {
  const file = join(home, 'test.toml');
  writeFileSync(file, text);
  return file;
}

function refused(options: LoadOptions, ...parts: readonly string[]): void {
  assert.throws(
    () => loadConfig(options),
    (error) => {
      assert.ok(isUnspentError(error, 'CONFIG'), String(error));
      for (const part of parts) assert.ok(error.message.includes(part), `"${error.message}" should say "${part}"`);
      return true;
    },
  );
}

/** A valid value, other than the default, as text. */
function otherText(setting: Setting): string {
  switch (setting.type) {
    case 'boolean':
      return String(!setting.default);
    case 'oneOf':
      return setting.values.find((value) => value !== setting.default) ?? setting.default;
    case 'string':
      return 'elsewhere';
    default:
      return String(setting.default === setting.max ? setting.min : setting.max);
  }
}

test('defaults are those of the schema, in a frozen tree', () => {
  const { config, values, origins, file } = loadConfig({});
  assert.equal(file, undefined);
  assert.equal(config.utxo.index.addressHash, true);
  assert.equal(config.utxo.pruneDepth, 0);
  assert.equal(config.utxo.rollbackWindow, 0);
  assert.deepEqual(config.given, []);
  assert.equal(config.engine.memtableBytes, 96_000_000);
  assert.equal(config.data, './data');
  for (const key of SETTING_KEYS) {
    assert.equal(values[key], SETTINGS[key].default);
    assert.equal(describeOrigin(origins[key]), 'default');
  }
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.utxo.index) && Object.isFrozen(values));
});

test('every default is a value its own setting accepts', () => {
  for (const key of SETTING_KEYS) {
    const { type, default: usual } = settingOf(key);
    if (type !== 'string') assert.equal(loadConfig({ flags: { set: [`${key}=${usual}`] } }).values[key], usual);
  }
});

test('flag over variable over file over default', () => {
  const file = written('[utxo]\n\npruneDepth = 10\nrollbackWindow = 20\npruneBatchSize = 30\n');
  const env = { UNSPENT_UTXO_PRUNE_DEPTH: '11', UNSPENT_UTXO_ROLLBACK_WINDOW: '21' };
  const { config, origins, file: used } = loadConfig({ file, env, flags: { utxoPruneDepth: '12' } });
  assert.deepEqual(
    [config.utxo.pruneDepth, config.utxo.rollbackWindow, config.utxo.pruneBatchSize, config.utxo.pruneScheduleSeconds],
    [12, 21, 30, 5],
  );
  assert.equal(used, file);
  assert.deepEqual(config.given, ['utxo.pruneDepth', 'utxo.rollbackWindow', 'utxo.pruneBatchSize']);
  assert.deepEqual(loadConfig({ flags: { set: ['utxo.balances=false'] } }).config.given, ['utxo.balances'], 'even as it would be anyway');
  const from = (key: SettingKey) => describeOrigin(origins[key]);
  assert.equal(from('utxo.pruneDepth'), '--utxo-prune-depth');
  assert.equal(from('utxo.rollbackWindow'), 'UNSPENT_UTXO_ROLLBACK_WINDOW');
  assert.equal(from('utxo.pruneBatchSize'), `${file}:5`);
  assert.equal(from('utxo.pruneScheduleSeconds'), 'default');
  assert.equal(loadConfig({ file, env, flags: { set: ['utxo.pruneDepth=13'] } }).config.utxo.pruneDepth, 13);
});

test('the names of a key follow from the key, and no two keys share one', () => {
  assert.equal(variableOf('utxo.pruneDepth'), 'UNSPENT_UTXO_PRUNE_DEPTH');
  assert.equal(variableOf('utxo.index.addressHash'), 'UNSPENT_UTXO_INDEX_ADDRESS_HASH');
  assert.equal(variableOf('data'), 'UNSPENT_DATA');
  assert.equal(flagOf('utxo.index.addressHash'), '--utxo-index-address-hash');
  assert.equal(flagOf('utxo.disableWal'), '--utxo-disable-wal');
  assert.equal(new Set(SETTING_KEYS.map(variableOf)).size, SETTING_KEYS.length);
  assert.equal(new Set(CONFIG_FLAGS.map(({ attribute }) => attribute)).size, SETTING_KEYS.length);
});

test('every key is reached by its variable, its flag and --set, through the real command line parser', () => {
  for (const { key } of CONFIG_FLAGS) {
    const setting = settingOf(key);
    const text = otherText(setting);
    const parse = (...args: string[]) => {
      const command = new Command().option('--set <pair>', '', (pair: string, list: string[] = []) => [...list, pair]);
      for (const { syntax, doc } of CONFIG_FLAGS) command.option(syntax, doc);
      return command.parse(args, { from: 'user' }).opts();
    };
    const base = key === 'utxo.pruneDepth' ? ['--utxo-rollback-window', '100000000'] : [];
    const ways: readonly [string, LoadOptions][] = [
      [variableOf(key), { env: { [variableOf(key)]: text }, flags: parse(...base) }],
      [flagOf(key), { flags: parse(...base, flagOf(key), text) }],
      [`--set ${key}`, { flags: parse(...base, '--set', `${key}=${text}`) }],
    ];
    for (const [origin, options] of ways) {
      if (setting.unavailable !== undefined) {
        refused(options, key, origin, setting.unavailable.why);
        continue;
      }
      const { values, origins } = loadConfig(options);
      assert.equal(String(values[key]), text);
      assert.equal(describeOrigin(origins[key]), origin);
    }
  }
});

test("a boolean's flag alone means true", () => {
  assert.equal(loadConfig({ flags: { utxoBalances: true } }).config.utxo.balances, true);
});

test('a bad value names key, origin and what is allowed', () => {
  refused({ flags: { utxoPruneDepth: '-3' } }, 'utxo.pruneDepth', '--utxo-prune-depth', 'an integer from 0 to', '"-3"');
  refused({ flags: { set: ['utxo.enabled=maybe'] } }, 'utxo.enabled', '--set utxo.enabled', 'true or false', '"maybe"');
  refused({ env: { UNSPENT_UTXO_STORE: 'sql' } }, 'utxo.store', 'UNSPENT_UTXO_STORE', 'expected one of classic, mmr');
  refused({ env: { UNSPENT_STATUS_REFRESH_SECONDS: '1e3' } }, 'an integer from 1 to 3600');
  refused({ env: { UNSPENT_ENGINE_MEMTABLE_BYTES: '12 parsecs' } }, 'a size from 1MB to 4GB');
  refused({ flags: { data: '' } }, 'data', 'not empty');
  const bad: readonly [string, ...string[]][] = [
    ['[utxo]\npruneDepth = "100"', ':2', 'an integer', '"100"'],
    ['[utxo]\npruneDepth = 1.0', ':2', 'an integer'],
    ['[utxo]\npruneDepth = inf', ':2', 'got Infinity'],
    ['[utxo]\npruneDepth = 99999999999999999999', ':2'],
    ['utxo.enabled = 1', ':1', 'true or false'],
    ['utxo.enabled = 2024-01-01 00:00:00', ':1', 'a date'],
    ['network = ["mainnet"]', ':1', 'a list'],
    ['sync.groupBlocks = 1001', ':1', 'from 1 to 1000'],
    ['\nengine.memtableBytes = "96XB"', ':2', 'such as 96MB'],
    ['\nengine.memtableBytes = 5', ':2', 'from 1MB'],
  ];
  for (const [text, ...parts] of bad)
    refused({ file: written(text) }, ...parts.map((part) => (part.startsWith(':') ? `test.toml${part}` : part)));
});

test('values that this version does not have are refused with the reason', () => {
  refused({ env: { UNSPENT_UTXO_DISABLE_WAL: 'true' } }, 'utxo.disableWal = true', 'not available');
  refused({ file: written('utxo.disableWal = true') }, 'utxo.disableWal = true', 'test.toml:1', 'not available');
});

test('the rollback window is at least the prune depth', () => {
  refused(
    { flags: { utxoPruneDepth: '5000', set: ['utxo.rollbackWindow=4320'] } },
    'utxo.rollbackWindow (4320, from --set utxo.rollbackWindow)',
    'utxo.pruneDepth (5000, from --utxo-prune-depth)',
  );
  assert.equal(loadConfig({ flags: { utxoPruneDepth: '5000' } }).config.utxo.rollbackWindow, 0, 'it fits itself');
});

test('unknown variables are errors, empty ones and those of other purposes are not', () => {
  refused({ env: { UNSPENT_UTXO_PRUNEDEPTH: '5' } }, 'UNSPENT_UTXO_PRUNEDEPTH', "did you mean 'UNSPENT_UTXO_PRUNE_DEPTH'?");
  refused({ env: { UNSPENT_NOTHING_LIKE_IT: '' } }, 'UNSPENT_NOTHING_LIKE_IT');
  const env = { UNSPENT_FIXTURES: '/x', UNSPENT_PASSPHRASE: 'x', UNSPENT_UTXO_PRUNE_DEPTH: '', PATH: '/bin', UNSPENT: '1' };
  assert.equal(loadConfig({ env }).config.utxo.pruneDepth, 0);
});

test('--set: unknown keys, missing =, values holding =, a key given in two ways', () => {
  refused({ flags: { set: ['utxo.prunedepth=1'] } }, "'utxo.prunedepth'", "did you mean 'utxo.pruneDepth'?");
  refused({ flags: { set: ['toString=1'] } }, "'toString'");
  assert.throws(
    () => loadConfig({ flags: { set: ['utxo.pruneDepth'] } }),
    (error) => isUnspentError(error, 'USAGE'),
  );
  assert.equal(loadConfig({ flags: { set: ['data=/a=b', 'network='] } }).config.data, '/a=b');
  assert.equal(loadConfig({ flags: { set: ['data=a', 'data=b'] } }).config.data, 'b');
  refused({ flags: { set: ['data=a'], data: 'b' } }, 'given twice');
});

test('files: the named one must exist and be readable, the default one may be missing', () => {
  refused({ file: join(home, 'none.toml') }, 'none.toml', '--config');
  refused({ file: home }, home);
  const binary = join(home, 'binary.toml');
  writeFileSync(binary, Uint8Array.of(0x61, 0xff, 0xfe));
  refused({ file: binary }, 'binary.toml');
  writeFileSync('unspent.toml', 'data = "here"\n');
  const { config, origins } = loadConfig({});
  rmSync('unspent.toml');
  assert.equal(config.data, 'here');
  assert.equal(describeOrigin(origins.data), './unspent.toml:1');
});

test('sizes: decimal and binary units, plain bytes, nothing that needs guessing', () => {
  const sizes: readonly [string, number | undefined][] = [
    ['96MB', 96_000_000],
    ['96 mb', 96_000_000],
    ['1GiB', 2 ** 30],
    ['64MiB', 2 ** 26],
    ['2000000', 2_000_000],
    ['2_000_000', 2_000_000],
    ['7B', 7],
    ['3kB', 3000],
    ['1.5GB', undefined],
    ['-1MB', undefined],
    ['MB', undefined],
    ['', undefined],
    ['1M', undefined],
    ['99999999999GB', undefined],
  ];
  for (const [text, bytes] of sizes) assert.equal(parseSize(text), bytes, text);
  for (const bytes of [0, 1, 999, 1000, 1024, 96_000_000, 2 ** 30, 3 * 2 ** 20, 4_000_000_000])
    assert.equal(parseSize(formatSize(bytes)), bytes);
  const file = written('[engine]\nmemtableBytes = 2000000\ncacheBytes = "1GiB"\n');
  const { memtableBytes, cacheBytes } = loadConfig({ file }).config.engine;
  assert.deepEqual([memtableBytes, cacheBytes], [2_000_000, 2 ** 30]);
});
