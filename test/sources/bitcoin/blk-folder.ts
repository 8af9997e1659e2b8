/**
 * Block files for tests, as a node writes them and as it does not: any order,
 * any number of files, with a key, with zeros between and behind, with records
 * that are cut off. And forged blocks to put in them.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { genesisBlock, headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes } from '../../../src/util/bytes.ts';
import { atTime, forgeBlock, forgeCoinbase, OP_TRUE, withWork } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';

const scratch = mkdtempSync(join(tmpdir(), 'unspent-blk-'));
after(() => rmSync(scratch, { recursive: true }));
let folders = 0;

export const START_TIME = 1_700_000_000;

export function newFolder(...inside: readonly string[]): string {
  const folder = join(scratch, String(folders++), ...inside);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A block behind another one. `salt` tells it from others at its place. */
export function nextBlock(before: Uint8Array, height: number, salt = 0, time = START_TIME + height): Uint8Array {
  const raw = forgeBlock(headerHash(before), [forgeCoinbase(height, [{ value: BigInt(1000 + salt), script: OP_TRUE }])]);
  return withWork(atTime(raw, time));
}

/** So many blocks on top of the last of `base`, which is returned with them. */
export function extend(base: readonly Uint8Array[], count: number, salt = 0, startTime = START_TIME): Uint8Array[] {
  const chain = [...base];
  for (let i = 0; i < count; i++) chain.push(nextBlock(chain[chain.length - 1], chain.length, salt, startTime + chain.length));
  return chain;
}

/** A chain of its first block and so many more. */
export function newChain(count: number, salt = 0): Uint8Array[] {
  return extend([genesisBlock(regtest)], count, salt);
}

export function record(block: Uint8Array, magic = regtest.magic): Uint8Array {
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(magic);
  prefix.writeUInt32LE(block.length, 4);
  return concatBytes(prefix, block);
}

export const zeros = (length: number): Uint8Array => new Uint8Array(length);

/** The file as it stands on disk. Zeros marked as `blank` were never written, and so have no key on them. */
export function keyed(parts: readonly (Uint8Array | { readonly blank: number })[], key: Uint8Array | null): Uint8Array {
  let at = 0;
  const written = parts.map((part) => {
    const start = at;
    const bytes = 'blank' in part ? zeros(part.blank) : part;
    at += bytes.length;
    return key === null || 'blank' in part ? bytes : bytes.map((byte, i) => byte ^ key[(start + i) % 8]);
  });
  return concatBytes(...written);
}

export function fileName(number: number): string {
  return `blk${String(number).padStart(5, '0')}.dat`;
}

export function writeFile(folder: string, number: number, bytes: Uint8Array): void {
  writeFileSync(join(folder, fileName(number)), bytes);
}

/** A folder with one file of these blocks. */
export function folderOf(blocks: readonly Uint8Array[]): string {
  const folder = newFolder();
  writeFile(folder, 0, concatBytes(...blocks.map((block) => record(block))));
  return folder;
}
