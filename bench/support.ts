/**
 * What the benchmarks share: sample chunks unpacked to a temporary folder, a
 * bare engine, rounds and their best, and one way to print.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { Cursor } from '../src/util/cbor.ts';
import { UnspentError } from '../src/util/errors.ts';

export interface BenchOptions {
  readonly json: boolean;
  readonly args: readonly string[];
}

/** Where the sample chains are: UNSPENT_FIXTURES, or ../shared beside the checkout. */
export function samples(...path: string[]): string {
  const { UNSPENT_FIXTURES } = process.env;
  const root = UNSPENT_FIXTURES ?? resolve(import.meta.dirname, '..', '..', 'shared');
  return join(root, ...path);
}

export function temporary(name: string): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `unspent-bench-${name}-`));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Unpacks the chunk and secondary files of a sample folder whose names match. */
export function unpackChunks(from: string, names: RegExp, to: string): void {
  let files: string[];
  try {
    files = readdirSync(from);
  } catch (cause) {
    throw new UnspentError('SOURCE_UNREACHABLE', `the sample chain ${from} is not there; set UNSPENT_FIXTURES`, {}, cause);
  }
  mkdirSync(to, { recursive: true });
  for (const file of files) {
    if (names.test(file)) writeFileSync(join(to, file.replace(/\.gz$/, '')), gunzipSync(readFileSync(join(from, file))));
  }
}

/** The blocks of a folder of chunks, in their order. */
export function rawBlocks(folder: string): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith('.chunk'))
    .sort()) {
    const bytes = readFileSync(join(folder, name));
    const cursor = new Cursor(bytes);
    while (cursor.at < bytes.length) {
      const start = cursor.at;
      cursor.skip();
      blocks.push(bytes.subarray(start, cursor.at));
    }
  }
  return blocks;
}

/** Of the kernel, for the times of processes. */
const TICKS_PER_SECOND = 100;

/** Seconds of processor time that another process has used so far. */
export function processorSecondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    // It has ended; or this system does not tell.
    return 0;
  }
}

/** Seconds of processor time that this process has used so far. */
export function ownProcessorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

export async function timed<T>(body: () => T | Promise<T>): Promise<{ seconds: number; result: T }> {
  const start = performance.now();
  const result = await body();
  return { seconds: (performance.now() - start) / 1000, result };
}

/** Before a measurement, so that it does not pay for what was done before it. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/** The best of several rounds: what the work costs when the machine does nothing else. */
export function best(seconds: readonly number[]): number {
  return Math.min(...seconds);
}

export function round(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}

/** Undefined: it is not given. */
export function textOption(args: readonly string[], name: string): string | undefined {
  const at = args.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  if (at < 0) return undefined;
  return args[at].includes('=') ? args[at].slice(name.length + 3) : args[at + 1];
}

export function option(args: readonly string[], name: string, fallback: number): number {
  const at = args.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  if (at < 0) return fallback;
  const text = args[at].includes('=') ? args[at].split('=')[1] : args[at + 1];
  const value = Number(text);
  if (!Number.isFinite(value)) throw new UnspentError('USAGE', `--${name} needs a number, got '${text}'`);
  return value;
}

export function say(options: BenchOptions, line: string): void {
  (options.json ? process.stderr : process.stdout).write(`${line}\n`);
}
