/**
 * Where a file is expected there may be a named pipe, a device, a directory or
 * a link: nothing waits for it, nothing reads without end, and whoever asked is
 * told what it is. The second half asks every reader of files that a user names
 * or a foreign folder holds.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Journal as RegtestJournal } from '../../src/chains/bitcoin/regtest/journal.ts';
import { Journal as DevnetJournal } from '../../src/chains/cardano/devnet/journal.ts';
import { readConfigText } from '../../src/config/file.ts';
import { readIdentity } from '../../src/engine/directory.ts';
import { openRegular, openRegularHandle, type ReadLimits, readRegular, readRegularLater } from '../../src/files/regular.ts';
import { bitcoinNetwork } from '../../src/ledgers/bitcoin/index.ts';
import { readKey } from '../../src/sources/bitcoin/blk/folder.ts';
import { RecordReader } from '../../src/sources/bitcoin/blk/records.ts';
import { authorization, parseRpcAddress } from '../../src/sources/bitcoin/rpc/address.ts';
import { readGenesisFiles } from '../../src/sources/cardano/genesis-files.ts';
import { openChunk } from '../../src/sources/cardano/immutable/chunk.ts';
import { loadSecondary } from '../../src/sources/cardano/immutable/secondary.ts';
import { type ErrorCode, isUnspentError } from '../../src/util/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'unspent-files-'));
after(() => rmSync(folder, { recursive: true }));

const FOLLOW: ReadLimits = { bytesMax: 1000, links: 'follow' };
const at = (name: string): string => join(folder, name);

/** Makes something at a path that is no regular file. Devices go by a link: only root makes others. */
const ODD: Readonly<Record<string, (path: string) => void>> = {
  'a named pipe': (path) => execFileSync('mkfifo', [path]),
  'a directory': (path) => mkdirSync(path),
  'a device': (path) => symlinkSync('/dev/zero', path),
};

/** Both ways to read. */
async function bothRead(path: string, limits: ReadLimits): Promise<string> {
  const now = Buffer.from(readRegular(path, limits)).toString();
  assert.equal(Buffer.from(await readRegularLater(path, limits)).toString(), now);
  return now;
}

async function bothRefuse(path: string, limits: ReadLimits, code: ErrorCode, message: RegExp): Promise<void> {
  const isRefusal = (error: unknown): boolean => isUnspentError(error, code) && message.test(error.message);
  assert.throws(() => readRegular(path, limits), isRefusal);
  await assert.rejects(readRegularLater(path, limits), isRefusal);
}

describe('a bounded regular file', () => {
  test('is read whole, up to its limit and not beyond', async () => {
    for (const length of [0, 1, 999, 1000]) {
      writeFileSync(at('plain'), 'x'.repeat(length));
      assert.equal(await bothRead(at('plain'), FOLLOW), 'x'.repeat(length));
    }
    writeFileSync(at('plain'), 'x'.repeat(1001));
    await bothRefuse(at('plain'), FOLLOW, 'LIMIT', /more than 1000 bytes/);
    assert.throws(() => readRegular(at('nowhere'), FOLLOW), { code: 'ENOENT' });
    await assert.rejects(readRegularLater(at('nowhere'), FOLLOW), { code: 'ENOENT' });
  });

  test('is bounded by what is read, where the file system tells no size', async () => {
    // A file of /proc: regular, and of size 0.
    const text = readFileSync('/proc/self/status', 'utf8');
    assert.ok(text.length > 100);
    assert.match(Buffer.from(readRegular('/proc/self/status', { bytesMax: 100_000, links: 'follow' })).toString(), /^Name:/);
    await bothRefuse('/proc/self/status', { bytesMax: 50, links: 'follow' }, 'LIMIT', /more than 50 bytes/);
  });

  for (const [kind, make] of Object.entries(ODD)) {
    test(`is not ${kind}`, async () => {
      const path = at(kind);
      make(path);
      await bothRefuse(path, FOLLOW, 'IO', new RegExp(`is ${kind}, not a regular file`));
      assert.throws(() => openRegular(path), { code: 'IO' });
      await assert.rejects(openRegularHandle(path), { code: 'IO' });
    });
  }

  test('is not a socket', async () => {
    const server = createServer().listen(at('socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    await bothRefuse(at('socket'), FOLLOW, 'IO', /is a socket/);
    server.close();
  });

  test('may be behind a link where links are followed, and only there', async () => {
    writeFileSync(at('target'), 'there');
    symlinkSync(at('target'), at('link'));
    assert.equal(await bothRead(at('link'), FOLLOW), 'there');
    await bothRefuse(at('link'), { ...FOLLOW, links: 'refuse' }, 'IO', /is a symbolic link/);
    closeSync(openRegular(at('link')));
  });

  test('that grows meanwhile is read to its end', () => {
    writeFileSync(at('growing'), 'a'.repeat(10));
    const file = openRegular(at('growing'));
    appendFileSync(at('growing'), 'b'.repeat(700));
    closeSync(file);
    assert.equal(readRegular(at('growing'), FOLLOW).length, 710);
  });
});

/** Every reader, given a path at which there is no regular file: what it says of it. */
const READERS: Readonly<Record<string, { readonly name: string; readonly code: ErrorCode; read(path: string, folder: string): unknown }>> =
  {
    'the settings file': { name: 'unspent.toml', code: 'CONFIG', read: (path) => readConfigText(path) },
    'a genesis file': { name: 'byron-genesis.json', code: 'GENESIS_NEEDED', read: (_, within) => readGenesisFiles(within, 'preview') },
    'the identity of a store': { name: 'unspent.json', code: 'STORE_DAMAGED', read: (_, within) => readIdentity(within) },
    'the cookie of a node': {
      name: 'cookie',
      code: 'SOURCE_UNREACHABLE',
      read: (path) => authorization(parseRpcAddress(`rpc://127.0.0.1:1?cookie=${path}`, bitcoinNetwork('bitcoin-regtest'))),
    },
    'the key of block files': { name: 'xor.dat', code: 'SOURCE_UNREACHABLE', read: (_, within) => readKey(within) },
    'a block file': { name: 'blk00000.dat', code: 'SOURCE_UNREACHABLE', read: (path) => new RecordReader(path, 0, null) },
    'a chunk of blocks': {
      name: '00000.chunk',
      code: 'SOURCE_UNREACHABLE',
      read: (path) => openChunk({ path, name: '00000.chunk', number: 0, packed: false, secondary: null }),
    },
    'a packed chunk of blocks': {
      name: '00000.chunk.gz',
      code: 'SOURCE_UNREACHABLE',
      read: (path) => openChunk({ path, name: '00000.chunk.gz', number: 0, packed: true, secondary: null }),
    },
    'the journal of a devnet': { name: 'devnet.journal', code: 'IO', read: (path) => new DevnetJournal(path, 'x') },
    'the journal of a regtest chain': { name: 'regtest.journal', code: 'IO', read: (path) => new RegtestJournal(path, 'x') },
  };

describe('whoever reads a file is not kept waiting by what is none', () => {
  let number = 0;
  for (const [what, { name, code, read }] of Object.entries(READERS)) {
    test(what, async () => {
      for (const [kind, make] of Object.entries(ODD)) {
        const within = at(`reader-${number++}`);
        mkdirSync(within);
        make(join(within, name));
        const ask = async (): Promise<unknown> => read(join(within, name), within);
        await assert.rejects(ask, (error) => isUnspentError(error, code) && error.message.includes(`is ${kind}`), `${what}: ${kind}`);
      }
    });
  }

  test('the index of a chunk: it is walked without it', () => {
    const path = at('00000.secondary');
    ODD['a named pipe'](path);
    assert.equal(loadSecondary({ path: at('00000.chunk'), name: '00000.chunk', number: 0, packed: false, secondary: path }), null);
  });
});
