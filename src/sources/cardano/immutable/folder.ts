/**
 * The folder of a cardano-node's ImmutableDB: which chunk files there are, in
 * order, and which index file lies beside each. Archived chunks (`.gz`) count
 * too; where both forms lie side by side the plain one is read.
 *
 * Whatever keeps us from listing it is SOURCE_UNREACHABLE, in one line.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UnspentError } from '../../../util/errors.ts';

export interface ChunkFile {
  readonly number: number;
  /** File name, for messages. */
  readonly name: string;
  readonly path: string;
  readonly packed: boolean;
  /** Path of its secondary index, or null where there is none. */
  readonly secondary: string | null;
}

const CHUNK_OR_INDEX = /^(\d{5,})\.(chunk|secondary)(\.gz)?$/;

/** The folder that holds the chunks: `path` itself, or `immutable` inside a node's database folder. */
export async function findFolder(path: string): Promise<string> {
  if ((await listChunks(path)).length > 0) return path;
  const inner = join(path, 'immutable');
  try {
    if ((await listChunks(inner)).length > 0) return inner;
  } catch (error) {
    // No such folder inside: the outer one is what the reader named, so the message is about that.
    if (!isMissing(error)) throw error;
  }
  throw noChunks(path);
}

export function noChunks(path: string): UnspentError {
  return new UnspentError('SOURCE_UNREACHABLE', `${path}: no chunk files here (expected 00000.chunk and so on)`, { path });
}

/** Every chunk of the folder in numeric order. */
export async function listChunks(folder: string): Promise<ChunkFile[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    throw unreachable(folder, error);
  }
  const chunks = new Map<number, string>();
  const indexes = new Map<number, string>();
  for (const name of names) {
    const match = CHUNK_OR_INDEX.exec(name);
    if (match === null) continue;
    const files = match[2] === 'chunk' ? chunks : indexes;
    const number = Number(match[1]);
    if (match[3] === undefined || !files.has(number)) files.set(number, name);
  }
  return [...chunks]
    .sort(([a], [b]) => a - b)
    .map(([number, name]) => {
      const index = indexes.get(number);
      const secondary = index === undefined ? null : join(folder, index);
      return { number, name, path: join(folder, name), packed: isPacked(name), secondary };
    });
}

export function isPacked(name: string): boolean {
  return name.endsWith('.gz');
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  EISDIR: 'a directory, expected a file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

export function unreachable(path: string, cause: unknown): UnspentError {
  // It names the path and what is there itself.
  if (cause instanceof UnspentError) return new UnspentError('SOURCE_UNREACHABLE', cause.message, { path }, cause);
  const code = systemCode(cause);
  const reason = code === undefined ? String(cause) : (REASONS[code] ?? code);
  return new UnspentError('SOURCE_UNREACHABLE', `${path}: ${reason}`, { path, reason: code }, cause);
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof UnspentError)) return false;
  const { reason } = error.meta;
  return reason === 'ENOENT' || reason === 'ENOTDIR';
}
