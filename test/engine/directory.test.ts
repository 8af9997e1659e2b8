/** Every way a data directory can be: ours, new, half made, foreign, damaged, newer, unreadable. */
import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { checkNetwork, databaseDirectory, readIdentity, SCHEMA_VERSION, writeIdentity } from '../../src/engine/directory.ts';
import { type ErrorCode, UnspentError } from '../../src/util/errors.ts';

const IDENTITY = { schema: SCHEMA_VERSION, network: 'preview', projections: ['utxo'] };

describe('identity of a data directory', () => {
  let root: string;
  let directory: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'unspent-directory-'));
    directory = join(root, 'data');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const put = (name: string, text: string) => {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), text);
  };
  const fails = (code: ErrorCode, says: string) => {
    const before = tree(root);
    throws(
      () => readIdentity(directory),
      (error) => {
        ok(error instanceof UnspentError, `${error}`);
        equal(error.code, code);
        ok(error.message.includes(says), error.message);
        return true;
      },
    );
    deepEqual(tree(root), before);
  };

  it('is none where there is nothing', () => {
    equal(readIdentity(directory), null);
    deepEqual(readdirSync(root), []);
    mkdirSync(directory);
    equal(readIdentity(directory), null);
    put('unspent.json.tmp', '{"form');
    mkdirSync(join(directory, 'lost+found'));
    for (const name of ['wallets.sqlite', 'wallets.sqlite-wal', 'wallets.sqlite-shm', 'wallets.token']) put(name, 'made before the store');
    equal(readIdentity(directory), null);
  });

  it('is read as it was written', () => {
    writeIdentity(directory, IDENTITY);
    deepEqual(readIdentity(directory), IDENTITY);
    deepEqual(readdirSync(directory), ['unspent.json']);
    const { checksum, ...written } = JSON.parse(readFileSync(join(directory, 'unspent.json'), 'utf8'));
    deepEqual(written, { format: 'unspent', ...IDENTITY });
    match(checksum, /^[0-9a-f]{8}$/);
    writeIdentity(directory, { ...IDENTITY, projections: [] });
    deepEqual(readIdentity(directory), { ...IDENTITY, projections: [] });
  });

  it('is a new store at every step of its creation', () => {
    writeIdentity(directory, IDENTITY);
    const database = databaseDirectory(directory);
    mkdirSync(database);
    deepEqual(readIdentity(directory), IDENTITY);
    for (const name of ['LOCK', 'IDENTITY', 'MANIFEST-000001', '000001.dbtmp', 'CURRENT', '000004.log', 'MANIFEST-000005']) {
      put(`db/${name}`, '');
      deepEqual(readIdentity(directory), IDENTITY, name);
    }
  });

  it('is foreign where other things are', () => {
    put('notes.txt', 'mine');
    fails('STORE_FOREIGN', 'notes.txt');
    put('db/CURRENT', '');
    fails('STORE_FOREIGN', 'db, notes.txt');
  });

  it('is damaged where unspent.json is not valid', () => {
    const texts = [
      '',
      '{',
      '[]',
      'null',
      '{}',
      '{"format":"other","schema":1,"network":"preview"}',
      '{"format":"unspent","network":"preview"}',
    ];
    const more = ['{"format":"unspent","schema":0,"network":"preview"}', '{"format":"unspent","schema":"1","network":"preview"}'];
    for (const text of [
      ...texts,
      ...more,
      '{"format":"unspent","schema":2}',
      '{"format":"unspent","schema":2,"network":""}',
      ' '.repeat(70_000),
    ]) {
      put('unspent.json', text);
      fails('STORE_DAMAGED', directory);
    }
    rmSync(join(directory, 'unspent.json'));
    mkdirSync(join(directory, 'unspent.json'));
    fails('STORE_DAMAGED', 'unspent.json');
  });

  it('is damaged where a bit of unspent.json flipped, wherever that is', () => {
    writeIdentity(directory, IDENTITY);
    const bytes = readFileSync(join(directory, 'unspent.json'));
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] ^= 1 << (bit & 7);
      put('unspent.json', flipped.toString('latin1'));
      try {
        deepEqual(readIdentity(directory), IDENTITY, `bit ${bit}`);
      } catch (error) {
        ok(error instanceof UnspentError, `bit ${bit}: ${error}`);
      }
    }
  });

  it('is damaged where the database lost its CURRENT', () => {
    writeIdentity(directory, IDENTITY);
    put('db/MANIFEST-000005', '');
    fails('STORE_DAMAGED', 'CURRENT');
    put('db/000007.sst', '');
    fails('STORE_DAMAGED', 'CURRENT');
  });

  it('is of another version where the schema is', () => {
    for (const schema of [SCHEMA_VERSION + 1, SCHEMA_VERSION - 1]) {
      writeIdentity(directory, { schema, network: 'preview' });
      fails('STORE_SCHEMA', `schema ${schema}`);
    }
  });

  it('is a plain error where the system refuses', () => {
    writeFileSync(directory, 'a file');
    fails('IO', 'is not a directory');
    const below = join(directory, 'below');
    throws(() => readIdentity(below), { code: 'IO' });
    throws(() => writeIdentity(below, IDENTITY), { code: 'IO' });
  });

  it('needs a directory it may write to', { skip: process.getuid?.() === 0 ? 'root may write anywhere' : false }, () => {
    writeIdentity(directory, IDENTITY);
    chmodSync(directory, 0o500);
    fails('IO', 'readable and writable');
    chmodSync(directory, 0o700);
  });

  it('belongs to one network', () => {
    checkNetwork(IDENTITY, 'preview');
    throws(
      () => checkNetwork(IDENTITY, 'mainnet'),
      (error) => error instanceof UnspentError && error.code === 'STORE_NETWORK' && /'preview'.*'mainnet'/.test(error.message),
    );
  });
});

function tree(directory: string): string[] {
  return (readdirSync(directory, { recursive: true }) as string[]).sort();
}
