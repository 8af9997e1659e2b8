/**
 * `config show` in both forms, and the reference page: its table is the one the
 * schema gives. `UNSPENT_TEST_UPDATE=1` rewrites the page instead of failing.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { flagOf, SETTING_KEYS, variableOf } from '../../src/config/schema.ts';
import { markdownTable, renderJson, renderTable } from '../../src/config/show.ts';
import { blockRunBy } from '../docs/page-blocks.ts';

// No unspent.toml of the checkout may leak into these tests.
process.chdir(tmpdir());

const loaded = loadConfig({
  env: { UNSPENT_ENGINE_CACHE_BYTES: '1GiB' },
  flags: { network: 'preprod', set: ['utxo.pruneDepth=100'] },
});

test('the table shows value and origin of every key', () => {
  const lines = renderTable(loaded).split('\n');
  assert.equal(lines.length, SETTING_KEYS.length + 1);
  const row = (key: string) => lines.find((line) => line.startsWith(`${key} `)) ?? '';
  assert.match(row('network'), /^network +"preprod" +--network +\S/);
  assert.match(row('utxo.pruneDepth'), /^utxo.pruneDepth +100 +--set utxo.pruneDepth +Blocks/);
  assert.match(row('engine.cacheBytes'), /^engine.cacheBytes +1GiB +UNSPENT_ENGINE_CACHE_BYTES +\S/);
  assert.match(row('engine.memtableBytes'), /96MB +default/);
});

test('the JSON holds the same, typed, and survives a round trip', () => {
  const shown = renderJson(loaded);
  assert.deepEqual(JSON.parse(JSON.stringify(shown)), shown);
  assert.equal(shown.file, null);
  const find = (key: string) => shown.settings.find((setting) => setting.key === key);
  assert.equal(find('engine.cacheBytes')?.value, 2 ** 30);
  assert.deepEqual(find('network')?.origin, { from: 'flag', name: '--network' });
  assert.equal(find('utxo.store')?.shapesStore, true);
});

test('no form shows a token or a password', () => {
  const secrets = {
    UNSPENT_SERVER_TOKEN: 'much-too-long',
    UNSPENT_WALLET_DATABASE: 'postgres://me:hid/d@en@db.example/wallets?password=hidden',
  };
  const given = loadConfig({ env: secrets });
  const shown = `${renderTable(given)}${JSON.stringify(renderJson(given))}`;
  assert.doesNotMatch(shown, /much-too-long|hid|en@/);
  assert.match(shown, /"server.token","value":"\*\*\*"/);
  assert.match(shown, /"postgres:\/\/db.example\/wallets\?password=\*\*\*"/);
});

test('the reference table names every key, variable and flag', () => {
  const table = markdownTable();
  for (const key of SETTING_KEYS) for (const name of [key, variableOf(key), flagOf(key)]) assert.ok(table.includes(`\`${name}\``), name);
  const widths = table.split('\n').map((line) => line.replaceAll('\\|', '').split('|').length);
  assert.equal(new Set(widths).size, 1);
});

test('the file that docs/reference/config.md shows is one', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'unspent-shown-')), 'unspent.toml');
  writeFileSync(path, blockRunBy('test/config/show.test.ts', 'docs/reference/config.md'));
  const { config } = loadConfig({ file: path, env: {} });
  rmSync(dirname(path), { recursive: true });
  assert.deepEqual([config.network, config.utxo.pruneDepth, config.engine.cacheBytes], ['preprod', 2160, 512_000_000]);
});

test('docs/reference/config.md is up to date', () => {
  const page = new URL('../../docs/reference/config.md', import.meta.url);
  const text = readFileSync(page, 'utf8');
  const table = /(?<=<!-- settings -->\n)[\s\S]*(?=<!-- end of settings -->)/;
  assert.match(text, table, 'the page has lost its marks');
  const wanted = text.replace(table, () => `${markdownTable()}\n`);
  const { UNSPENT_TEST_UPDATE: update } = process.env;
  if (update === '1') writeFileSync(page, wanted);
  else assert.equal(text, wanted, 'run this test with UNSPENT_TEST_UPDATE=1 to rewrite the table');
});
