/**
 * What every command starts with: its options, the settings that follow from
 * them, its output, and the store, which is closed whatever happens.
 */
import { Command } from 'commander';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { UncleanShutdown } from '../engine/open.ts';
import { type OpenOptions, type OpenStore, openStore } from '../store/store.ts';
import { assert, UnspentError } from '../util/errors.ts';
import { listenForSignals } from './interrupt.ts';
import type { CommandOptions } from './options.ts';
import { createOutput, type Output, type OutputStreams } from './output.ts';
import { createProgress, type ProgressLine } from './progress.ts';

/** What a program runs in: a process has all of it. */
export interface Surroundings extends OutputStreams {
  readonly env: NodeJS.ProcessEnv;
}

export interface Context {
  /** Of the command and of the program. */
  readonly options: CommandOptions;
  readonly output: Output;
  readonly settings: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted when a signal asks to stop; never for a command that is not stoppable, which the signal ends. */
  readonly stop: AbortSignal;
  progress(): ProgressLine;
  /** Opens the store (which must exist unless `create` says otherwise), and closes it after the body. */
  withStore<T>(body: (store: OpenStore) => T | Promise<T>, options?: OpenOptions): Promise<T>;
}

export type CommandBody = (context: Context, ...operands: string[]) => void | Promise<void>;

/** From a command's body to what the parser calls with operands, options and the command. */
export function action(body: CommandBody): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    await body(contextOf(command, new AbortController().signal), ...(given.slice(0, -2) as string[]));
  };
}

/** The same of a command that stops at a block when a signal asks it to, from its start to its end. */
export function stoppable(body: CommandBody): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const interruption = listenForSignals();
    try {
      const context = contextOf(given.at(-1) as Command, interruption.signal);
      try {
        await body(context, ...(given.slice(0, -2) as string[]));
      } catch (error) {
        if (!interruption.isTermination || !(error instanceof UnspentError) || error.code !== 'INTERRUPTED') throw error;
        reportStop(context.output, error.message);
      }
    } finally {
      interruption.release();
    }
  };
}

function reportStop(output: Output, text: string): void {
  output.remark(text);
  if (output.json && !output.hasDocument) output.document({ stopped: text });
}

function contextOf(command: Command, stop: AbortSignal): Context {
  const flags: Record<string, unknown> = command.optsWithGlobals();
  const options: CommandOptions = flags;
  const program = programOf(command);
  const { surroundings } = program;
  const output = createOutput(options.json === true, options.quiet === true, surroundings);
  const settings = loadConfig({ flags, env: surroundings.env, file: options.config });
  program.output = output;
  return {
    options,
    output,
    settings,
    env: surroundings.env,
    stop,
    progress: () => createProgress(output.quiet, surroundings.stderr),
    withStore: (body, more = {}) => useStore(output, { create: false, config: settings.config, ...more }, body),
  };
}

async function useStore<T>(output: Output, options: OpenOptions, body: (store: OpenStore) => T | Promise<T>): Promise<T> {
  const store = await openStore(options);
  if (store.ignored.length > 0)
    output.remark(`left aside, because the store has its own: ${store.ignored.join(', ')}; sync and start change what can be changed`);
  if (store.unclosed !== null) output.remark(unclosedText(store.unclosed));
  let result: T;
  try {
    result = await body(store);
  } catch (error) {
    // What went wrong first is what the reader has to know.
    await store.discard().catch(() => {});
    throw error;
  }
  await store.close();
  return result;
}

/** RocksDB aborts the process where the disk fails under it, and cannot say more than a line of its own: so the next command does. */
function unclosedText({ process, since }: UncleanShutdown): string {
  const who = process === null ? 'the last process' : `process ${process}${since === null ? '' : ` (since ${since})`}`;
  return `${who} ended without closing the store; it was recovered from its logs and is whole`;
}

/** The command at the root of all, which knows where it runs and what it writes to. */
export class Program extends Command {
  readonly surroundings: Surroundings;
  /** Of the command that runs. */
  output: Output | undefined;

  constructor(surroundings: Surroundings) {
    super('unspent');
    this.surroundings = surroundings;
  }

  /** The output of the command that runs, or one that suits the arguments where it did not come to that. */
  outputFor(args: readonly string[]): Output {
    const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    return this.output ?? createOutput(options.includes('--json'), options.includes('--quiet'), this.surroundings);
  }
}

function programOf(command: Command): Program {
  let root = command;
  while (root.parent !== null) root = root.parent;
  assert(root instanceof Program, 'commands belong to a program');
  return root;
}
