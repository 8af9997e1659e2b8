/**
 * Runs commands as a user would, and says what came of it. Temporary
 * directories go with the process that made them.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Surroundings } from '../../src/cli/context.ts';
import type { TextStream } from '../../src/cli/output.ts';
import { createProgram, runCommand } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Digest } from '../../src/query/digest.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';

export const BIN = join(import.meta.dirname, '../../bin/unspent');

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The settings of the person who runs the tests must not matter. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('UNSPENT_')));

export function start(args: readonly string[], options: SpawnOptions & { bin?: string } = {}): ChildProcess {
  return spawn(options.bin ?? BIN, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: tmpdir(),
    ...options,
    env: { ...environment, ...options.env },
  });
}

export function ended(child: ChildProcess): Promise<Result> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/**
 * Commands that look at a store or work on it and are done. They run in this process, where they take a hundredth of
 * the time (`in-process.test.ts` compares); the others, and whatever needs a directory, variables or streams of its
 * own, are processes as users have them.
 */
const COMMANDS_HERE: readonly string[] = [
  'backup',
  'cage',
  'config',
  'digest',
  'prove',
  'prune',
  'publish',
  'query',
  'restore',
  'rollback',
  'root',
  'snapshot',
  'status',
  'txs',
  'upgrade',
  'verify',
  'verify-proof',
  'wallet',
];
/** Sources that leave nothing open when a sync ends, however it ends. */
const SOURCES_HERE = /^(devnet|immutable|blk):/;

export function unspent(args: readonly string[], options: SpawnOptions & { bin?: string } = {}): Promise<Result> {
  return Object.keys(options).length === 0 && runsHere(args) ? unspentHere(args) : ended(start(args, options));
}

export function runsHere(args: readonly string[]): boolean {
  const [command] = args;
  const source = args[args.indexOf('--source') + 1];
  return command === 'sync' ? SOURCES_HERE.test(source) : COMMANDS_HERE.includes(command);
}

export async function unspentHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { hears, ...more }: Pick<Surroundings, 'compactFrom'> & { readonly hears?: (text: string) => void } = {},
): Promise<Result> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written): TextStream => ({
    write(text: string | Uint8Array) {
      written[name] += text;
      hears?.(String(text));
      return true;
    },
  });
  const program = createProgram({ env: { ...environment, ...env }, stdout: stream('stdout'), stderr: stream('stderr'), ...more });
  return { code: await runCommand(program, args), ...written };
}

/** Runs with --json; the one document of a command that must succeed. */
export async function document<T>(args: readonly string[], options: SpawnOptions = {}): Promise<T> {
  const { code, stdout, stderr } = await unspent([...args, '--json', '--quiet'], options);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  assert.equal(stderr, '', 'nothing beside the document');
  return JSON.parse(stdout) as T;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly advice: string;
  readonly faultCount?: number;
}

/** Runs with --json; one line on stderr, one document on stdout, the exit code that goes with it. */
export async function failure(args: readonly string[], code: string, exitCode: number, options: SpawnOptions = {}): Promise<Failure> {
  const result = await unspent([...args, '--json', '--quiet'], options);
  const { error } = JSON.parse(result.stdout) as { error: Failure };
  assert.equal(error.code, code, result.stderr);
  assert.equal(result.code, exitCode, result.stderr);
  assert.match(result.stderr, /^unspent: [^\n]+\n$/, 'one line');
  assert.ok(result.stderr.includes(error.message) && result.stderr.includes(error.advice), 'which says what to do');
  assert.doesNotMatch(result.stderr, /\n\s+at /, 'and no stack trace');
  return error;
}

const made: string[] = [];

export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-cli-'));
  if (made.length === 0) {
    process.on('exit', () => {
      for (const each of made) rmSync(each, { recursive: true, force: true });
    });
  }
  made.push(directory);
  return directory;
}

/** A store opened in this process, closed after the body. */
export async function withStore<T>(data: string, body: (store: OpenStore) => T | Promise<T>): Promise<T> {
  const store = await openStore({ data, create: false, config: loadConfig({}).config });
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

export function digestOf(data: string): Promise<Digest & { readonly height: number }> {
  return withStore(data, (store) => ({ ...store.digest(), height: store.fold.head?.height ?? -1 }));
}
