/**
 * The manifest of a snapshot: which block it is of, what the set adds up to, and
 * the hash of every chunk. It is JSON with one way to write it: what is read is
 * written again and compared, so two manifests that say the same are the same
 * bytes.
 *
 * Its `id` is the sha256 of all its other lines: the name of the whole snapshot,
 * down to the last byte of the last chunk.
 */
import { createHash } from 'node:crypto';
import type { NetworkParameters } from '../families/family.ts';
import { familyNamed } from '../families/networks.ts';
import { OUTPOINT_BYTES } from '../ledgers/outpoint.ts';
import type { FamilyName } from '../proofs/index.ts';
import { isHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { SNAPSHOT_CHUNK_BYTES, SNAPSHOT_HEADER_BYTES_MAX } from '../util/limits.ts';

export const MANIFEST_FILE = 'manifest.json';
const FORMAT = 'unspent-snapshot';
const VERSION = 2;

const SHA256_BYTES = 32;

/** A file of a snapshot. */
export interface ManifestChunk {
  /** Its name in the folder. */
  readonly file: string;
  /** The outputs in it. */
  readonly rows: number;
  /** Its size. */
  readonly bytes: number;
  /** The key of its first row, in hex. */
  readonly first: string;
  /** The key of its last row, in hex. */
  readonly last: string;
  /** The hash of its bytes, in hex. */
  readonly sha256: string;
}

/** The network a snapshot is of. */
export interface ManifestNetwork {
  /** Its name. */
  readonly name: string;
  /** The family it is of. */
  readonly family: FamilyName;
  /** What its nodes know each other by. */
  readonly magic: number;
  /** Only of a private network, which has no others than these. */
  readonly parameters?: NetworkParameters;
}

/** What a snapshot says of itself: the block it is of, what the set adds up to, and the hash of every file. */
export interface SnapshotManifest {
  /** Always `unspent-snapshot`. */
  readonly format: 'unspent-snapshot';
  /** The version of the format. */
  readonly version: 2;
  /** SHA-256 over the rest of the manifest, in hex: it covers every byte of the snapshot. */
  readonly id: string;
  /** The network it is of. */
  readonly network: ManifestNetwork;
  /** The block it is of. A boundary block (of Cardano's Byron era) has the height of the one before it. */
  readonly point: {
    readonly height: number;
    readonly slot: number;
    /** As people write it. */
    readonly hash: string;
    readonly boundary: boolean;
  };
  /** The era of that block (0 where the chain has none), without which its header cannot be read. */
  readonly era: number;
  /** Its header, in hex: hash, previous hash and, on Cardano, height and slot follow from it. */
  readonly header: string;
  /** Unspent outputs in it. */
  readonly utxos: number;
  /** The sum of their values in the chain's smallest unit, in decimal. */
  readonly value: string;
  /** What the set hashes to: both follow from it alone, whatever else a store keeps. */
  readonly roots: { readonly setHash: string; readonly digest: string };
  /** Where chunks are cut: before the row that would take one past this. */
  readonly chunkBytes: number;
  /** Its files, in the order of their rows. */
  readonly chunks: readonly ManifestChunk[];
}

export type ManifestFacts = Omit<SnapshotManifest, 'format' | 'version' | 'id'>;

export function manifestText({ network, point, era, header, utxos, value, roots, chunkBytes, chunks }: ManifestFacts): string {
  const { name, family, magic, parameters } = network;
  const facts: ManifestFacts = {
    network: { name, family, magic, ...(parameters === undefined ? {} : { parameters: sorted(parameters) }) },
    point: { height: point.height, slot: point.slot, hash: point.hash, boundary: point.boundary },
    era,
    header,
    utxos,
    value,
    roots: { setHash: roots.setHash, digest: roots.digest },
    chunkBytes,
    chunks: chunks.map(({ file, rows, bytes, first, last, sha256 }) => ({ file, rows, bytes, first, last, sha256 })),
  };
  const head = { format: FORMAT, version: VERSION };
  const id = createHash('sha256')
    .update(textOf({ ...head, ...facts }))
    .digest('hex');
  return textOf({ ...head, id, ...facts });
}

/** A line each, so that the id can be taken out of the text as one. */
function textOf(value: object): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}

/** Throws SNAPSHOT_INVALID. */
export function parseManifest(bytes: Uint8Array): SnapshotManifest {
  let text: string;
  let value: unknown;
  try {
    // Strict, and with a mark of byte order left where it is: equal texts are then equal bytes.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid('is not JSON', cause);
  }
  const { format, version } = object(value, 'it');
  if (format !== FORMAT) throw invalid(`has no "format": "${FORMAT}"`);
  // Before the rest is looked at: a newer version may have changed it.
  if (version !== VERSION) throw invalid(`is of version ${JSON.stringify(version)}; this program reads version ${VERSION}`);
  const manifest = value as SnapshotManifest;
  checkFields(manifest);
  if (manifestText(manifest) !== text) throw invalid('is not written the way manifests are: something was added, moved or changed');
  return manifest;
}

export function invalid(what: string, cause?: unknown): UnspentError {
  return new UnspentError('SNAPSHOT_INVALID', `${MANIFEST_FILE} ${what}`, { file: MANIFEST_FILE }, cause);
}

function checkFields({ network, point, era, header, utxos, value, roots, chunkBytes, chunks }: SnapshotManifest): void {
  const { name, family: familyName, magic, parameters } = object(network, '"network"');
  const family = familyNamed(familyName);
  need(typeof name === 'string' && family !== undefined && isCount(magic), '"network"');
  const what = '"network.parameters"';
  if (parameters !== undefined) need(family.canBeOwnParameters(object(parameters, what)), what);
  const { height, slot, hash, boundary } = object(point, '"point"');
  need(isCount(height) && height < 2 ** 32 && isCount(slot) && typeof boundary === 'boolean' && isHexText(hash, 32), '"point"');
  need(isCount(era) && era < 0x100, '"era"');
  need(isHexText(header) && header.length <= 2 * SNAPSHOT_HEADER_BYTES_MAX, '"header"');
  need(isCount(utxos), '"utxos"');
  need(typeof value === 'string' && /^(0|[1-9]\d{0,38})$/.test(value), '"value"');
  const { setHash, digest } = object(roots, '"roots"');
  need(isHexText(setHash, SHA256_BYTES) && isHexText(digest, SHA256_BYTES), '"roots"');
  need(isCount(chunkBytes) && chunkBytes > 0 && chunkBytes <= SNAPSHOT_CHUNK_BYTES, '"chunkBytes"');
  need(Array.isArray(chunks), '"chunks"');
  chunks.forEach(checkChunk);
}

function checkChunk(chunk: ManifestChunk, i: number): void {
  const what = `"chunks" (entry ${i})`;
  const { file, rows, bytes, first, last, sha256 } = object(chunk, what);
  need(file === chunkFile(i) && isCount(rows) && rows > 0 && isCount(bytes) && bytes > 0, what);
  need(isHexText(first, OUTPOINT_BYTES) && isHexText(last, OUTPOINT_BYTES) && isHexText(sha256, SHA256_BYTES), what);
}

export function chunkFile(number: number): string {
  return `${number.toString().padStart(6, '0')}.chunk`;
}

function need(isGood: boolean, what: string): asserts isGood {
  if (!isGood) throw invalid(`has no valid ${what}`);
}

function object(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`has no valid ${what}`);
  return value as Readonly<Record<string, unknown>>;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Lower case only: there is one way to write it. */
function isHexText(value: unknown, bytes?: number): value is string {
  return typeof value === 'string' && isHex(value, bytes) && value === value.toLowerCase();
}

/** With keys in ascending order at every level. */
function sorted<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sorted(each)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}
