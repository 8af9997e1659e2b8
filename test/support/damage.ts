/**
 * One random damage to the files of a store: flipped bits, cut, zeroed and
 * copied bytes, files that are missing or hold another's content, with the seal
 * and without. Logs and manifests are also cut exactly between two records, where
 * no checksum can tell.
 */
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGE_BYTES } from '../../src/engine/sqlite/files.ts';
import type { Random } from './forged-chain.ts';

const KINDS: Readonly<Record<string, RegExp>> = {
  table: /\.sst$/,
  log: /\.log$/,
  manifest: /^db\/MANIFEST/,
  pointer: /^db\/(CURRENT|IDENTITY)$/,
  options: /^db\/OPTIONS/,
  own: /^(unspent\.json|db\/unspent\.(seal|open))$/,
};

/** Logs and the manifest are where RocksDB is silent, so they come more often than the others. */
const KIND_ORDER = ['log', 'manifest', 'table', 'log', 'manifest', 'table', 'pointer', 'options', 'own'];

const HOWS = ['flip', 'cut', 'cut between records', 'zero', 'copy', 'swap', 'gone', 'gone with the next'] as const;

/** Of a whole store: its database is gone, or but for what makes a new one of what is left. */
export function damageStore(directory: string, random: Random): string | null {
  if (random(25) !== 0) return damage(directory, random);
  const kept = [/^$/, /^(LOCK|IDENTITY)$/][random(2)];
  const database = join(directory, 'db');
  for (const name of readdirSync(database)) if (!kept.test(name)) rmSync(join(database, name), { recursive: true });
  if (readdirSync(database).length === 0) rmSync(database, { recursive: true });
  return `the whole database is gone${existsSync(database) ? ', but for its lock' : ''}`;
}

const SQLITE_KINDS = [
  /^db\/store\.sqlite$/,
  /^db\/store\.sqlite$/,
  /^db\/store\.sqlite$/,
  /^db\/store\.sqlite-wal$/,
  /^db\/store\.sums$/,
  KINDS['own'],
];
/** What SQLite's pages begin with: no damage to it may hide rows. */
const PAGE_HEADER_BYTES = 16;
const INTERIOR_PAGE = 2;

/**
 * Of a SQLite store. Of its tables half of the damages are one bit, of which every other one is in the first bytes of a
 * page, and every fourth on a page that leads to others.
 */
export function damageSqlite(directory: string, random: Random): string | null {
  const kind = SQLITE_KINDS[random(SQLITE_KINDS.length)];
  const names = [...readdirSync(join(directory, 'db')).map((name) => `db/${name}`), ...readdirSync(directory)];
  const files = names.filter((name) => kind.test(name) && statSync(join(directory, name)).size > 0).sort();
  if (files.length === 0) return null;
  const name = files[random(files.length)];
  const path = join(directory, name);
  const isUnsealed = random(2) === 0;
  if (isUnsealed && kind !== KINDS['own']) rmSync(join(directory, 'db/unspent.seal'), { force: true });
  const how = (['bit', 'bit', 'bit', 'bit', 'flip', 'zero', 'copy', 'cut', 'gone'] as const)[random(9)];
  if (how === 'gone') rmSync(path);
  else if (how === 'cut') truncateSync(path, random(statSync(path).size));
  else writeFileSync(path, how === 'bit' ? withBitFlipped(readFileSync(path), random) : spoiled(readFileSync(path), how, random));
  return `${name}: ${how}${isUnsealed ? ', and no seal' : ''}`;
}

function withBitFlipped(bytes: Buffer, random: Random): Buffer {
  const pages = Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, page) => page * PAGE_BYTES);
  const interior = pages.filter((at) => bytes[at] === INTERIOR_PAGE);
  const from = random(4) === 0 && interior.length > 0 ? interior : pages;
  const at = from[random(from.length)] + random(random(2) === 0 ? PAGE_HEADER_BYTES : PAGE_BYTES);
  bytes[Math.min(at, bytes.length - 1)] ^= 1 << random(8);
  return bytes;
}

/** Returns what was done, or null where that cannot be done to such a store. */
export function damage(directory: string, random: Random): string | null {
  const all = [...readdirSync(join(directory, 'db')).map((name) => `db/${name}`), ...readdirSync(directory)].filter(
    (name) => statSync(join(directory, name)).isFile() && statSync(join(directory, name)).size > 0,
  );
  const kind = KINDS[KIND_ORDER[random(KIND_ORDER.length)]];
  const files = all.filter((name) => kind.test(name)).sort();
  if (files.length === 0) return null;
  const place = random(files.length);
  const [name, path] = [files[place], join(directory, files[place])];
  const how = HOWS[random(HOWS.length)];
  const isUnsealed = random(2) === 0;
  const seal = join(directory, 'db/unspent.seal');
  if (isUnsealed && !files.includes('db/unspent.seal')) rmSync(seal, { force: true });
  if (how === 'gone with the next') {
    for (const each of files.slice(place, place + 2)) rmSync(join(directory, each), { force: true });
  } else if (how === 'gone') rmSync(path);
  else if (how === 'swap') copyFileSync(join(directory, files[random(files.length)]), path);
  else if (how === 'cut') truncateSync(path, random(statSync(path).size));
  else if (how === 'cut between records') {
    const ends = recordEnds(readFileSync(path));
    truncateSync(path, ends[random(ends.length)]);
  } else writeFileSync(path, spoiled(readFileSync(path), how, random));
  return `${name}: ${how}${isUnsealed ? ', and no seal' : ''}`;
}

function spoiled(bytes: Buffer, how: 'flip' | 'zero' | 'copy', random: Random): Buffer {
  if (how === 'flip') for (let flips = 1 + random(3); flips > 0; flips--) bytes[random(bytes.length)] ^= 1 << random(8);
  else {
    const at = random(bytes.length);
    const length = Math.min(bytes.length - at, 1 + random(how === 'zero' ? 40_000 : 600));
    if (how === 'zero') bytes.fill(0, at, at + length);
    else bytes.copyWithin(random(bytes.length - length + 1), at, at + length);
  }
  return bytes;
}

/** Where the fragments of a RocksDB log end, the beginning of the file included. */
function recordEnds(bytes: Buffer): number[] {
  const ends = [0];
  for (let at = 0; at + 7 <= bytes.length; ) {
    const left = 32_768 - (at % 32_768);
    if (left < 7) {
      at += left;
      continue;
    }
    at += 7 + bytes.readUInt16LE(at + 4);
    if (at <= bytes.length) ends.push(at);
  }
  return ends;
}
