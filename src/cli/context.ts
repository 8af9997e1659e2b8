/**
 * What every command starts with: its options, the settings that follow from
 * them, its output, and the store, which is closed whatever happens.
 */
import { Command } from 'commander';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { UncleanShutdown } from '../engine/open.ts';
import { changesOf } from '../store/control/changes.ts';
import { type OpenOptions, type OpenStore, openStore } from '../store/store.ts';
import { assert, isUnspentError, UnspentError } from '../util/errors.ts';
import { CONTROL_LOOK_MS, CONTROL_LOOKS_MAX } from '../util/limits.ts';
import type { Log } from '../util/log.ts';
import { pause } from '../util/pause.ts';
import type { Forgotten } from './compact.ts';
import type { FailureOptions } from './failure.ts';
import { isAnswered } from './held/answered.ts';
import { AnsweredByHolder, askHolder } from './held/ask-holder.ts';
import { type HeldSurroundings, heedStop, type StoreBody } from './held/surroundings.ts';
import { listenForSignals, SIGNAL_EXITS } from './interrupt.ts';
import type { CommandOptions } from './options.ts';
import { createOutput, type Output, type OutputStreams } from './output.ts';
import { createProgress, type ProgressLine } from './progress.ts';
import { createLog } from './terminal/log-writer.ts';
import { Terminal } from './terminal/terminal.ts';

/** What a program runs in: a process has all of it. */
export interface Surroundings extends OutputStreams {
  readonly env: NodeJS.ProcessEnv;
  /** Where a command is run for another process, which asked the one that has the store open. */
  readonly held?: HeldSurroundings;
  /** How much a command must have forgotten to compact the store at its end. Default: the limits. */
  readonly compactFrom?: Forgotten;
}

export interface Context {
  /** Of the command and of the program. */
  readonly options: CommandOptions;
  readonly output: Output;
  /** What happens while a command goes on. */
  readonly log: Log;
  readonly terminal: Terminal;
  readonly settings: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  /** Where relative paths begin. */
  readonly cwd: string;
  /** False: the command is run for another process, by the one that has the store open and goes on with it. */
  readonly ownsStore: boolean;
  readonly compactFrom: Forgotten | undefined;
  /** Aborted when a signal asks to stop; never for a command that is not stoppable, which the signal ends. */
  readonly stop: AbortSignal;
  progress(): ProgressLine;
  /** Opens the store (which must exist unless `create` says otherwise), and closes it after the body. */
  withStore<T>(body: (store: OpenStore) => T | Promise<T>, options?: OpenOptions): Promise<T>;
  /**
   * The same for a command that reads the store, and changes it only by what it is given for that: if another process has
   * the store open, the command is run there, and ends here with what it wrote there.
   */
  askStore<T>(body: StoreBody<T>, options?: Pick<OpenOptions, 'windows'>): Promise<T>;
}

export type CommandBody = (context: Context, ...operands: string[]) => void | Promise<void>;

/** From a command's body to what the parser calls with operands, options and the command. */
export function action(body: CommandBody): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const stop = programOf(command).surroundings.held?.stop ?? new AbortController().signal;
    await body(contextOf(command, stop, false), ...(given.slice(0, -2) as string[]));
  };
}

/** The same of a command that stops cleanly when a signal asks it to, from its start to its end, and then is not done. */
export function stoppable(body: CommandBody): (...given: unknown[]) => Promise<void> {
  return (...given) => listening(given, false, body);
}

/** The same of a command that goes on until it is stopped, and says in its log what happens. SIGTERM is how that is meant to end. */
export function longRunning(body: CommandBody): (...given: unknown[]) => Promise<void> {
  return (...given) => listening(given, true, body);
}

async function listening(given: readonly unknown[], goesOn: boolean, body: CommandBody): Promise<void> {
  const command = given.at(-1) as Command;
  const { held } = programOf(command).surroundings;
  const interruption = listenForSignals();
  try {
    const context = contextOf(command, held?.stop ?? interruption.signal, goesOn);
    try {
      await body(context, ...(given.slice(0, -2) as string[]));
    } catch (error) {
      if (!interruption.isTermination) throw error;
      // The process that ran it was told to stop, and not by which signal.
      if (error instanceof AnsweredByHolder && error.exitCode === SIGNAL_EXITS.SIGINT) throw new AnsweredByHolder(SIGNAL_EXITS.SIGTERM);
      if (!isUnspentError(error, 'INTERRUPTED')) throw error;
      if (!goesOn) throw new UnspentError('INTERRUPTED', error.message, { ...error.meta, signal: 'SIGTERM' }, error);
      reportStop(context.output, error.message);
    } finally {
      context.log.flush();
    }
  } finally {
    interruption.release();
  }
}

function reportStop(output: Output, text: string): void {
  output.remark(text);
  if (output.json && !output.hasDocument) output.document({ stopped: text });
}

function contextOf(command: Command, stop: AbortSignal, goesOn: boolean): Context {
  const flags: Record<string, unknown> = command.optsWithGlobals();
  const options: CommandOptions = flags;
  const program = programOf(command);
  const { surroundings, terminal } = program;
  const { held } = surroundings;
  const settings = held?.settings ?? loadConfig({ flags, env: surroundings.env, file: options.config });
  const isQuiet = options.quiet === true;
  const log = createLog(settings.config.log, isQuiet, terminal);
  const output = createOutput(options.json === true, isQuiet, terminal, goesOn ? log : undefined);
  program.output = output;
  program.isDebug = settings.config.log.level === 'debug';
  program.data = settings.config.data;
  const usual: OpenOptions = { create: false, config: settings.config, holder: `unspent ${commandPath(command)}` };
  const context: Context = {
    options,
    output,
    log,
    terminal,
    settings,
    env: surroundings.env,
    cwd: held?.cwd ?? process.cwd(),
    stop,
    progress: () => heedStop(createProgress(output.quiet, terminal), held),
    withStore: (body, more = {}) => useStore(output, { ...usual, ...more }, body),
    ownsStore: held === undefined,
    compactFrom: surroundings.compactFrom,
    async askStore(body, more = {}) {
      assert(isAnswered(commandPath(command)), `'${commandPath(command)}' asks for a store, so whoever has it open must answer it`);
      if (held !== undefined) return held.useStore(body, output, more.windows === true);
      for (let looks = 1; ; looks++) {
        await askHolder(program.commandLine, context);
        try {
          return await useStore(output, { ...usual, ...more }, (store) => body(store, changesOf(store)));
        } catch (error) {
          // Whoever has just opened the store listens in a moment, and who is closing it is gone then.
          if (!isUnspentError(error, 'STORE_LOCKED') || looks === CONTROL_LOOKS_MAX) throw error;
        }
        await pause(CONTROL_LOOK_MS, {});
      }
    },
  };
  return context;
}

/** `snapshot export`: the command without the program. */
export function commandPath(command: Command): string {
  const names: string[] = [];
  for (let each = command; each.parent !== null; each = each.parent) names.unshift(each.name());
  return names.join(' ');
}

async function useStore<T>(output: Output, options: OpenOptions, body: (store: OpenStore) => T | Promise<T>): Promise<T> {
  const store = await openStore(options);
  remarkIgnored(output, store.ignored);
  if (store.unclosed !== null) output.remark(unclosedText(store.unclosed));
  if (store.controlFailure !== null) output.remark(`other commands cannot ask this one while it runs: ${store.controlFailure}`);
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

export function remarkIgnored(output: Output, ignored: readonly string[]): void {
  if (ignored.length > 0)
    output.remark(`left aside, because the store has its own: ${ignored.join(', ')}; sync and start change what can be changed`);
}

/** RocksDB aborts the process where the disk fails under it, and cannot say more than a line of its own: so the next command does. */
function unclosedText({ process, since }: UncleanShutdown): string {
  const who = process === null ? 'the last process' : `process ${process}${since === null ? '' : ` (since ${since})`}`;
  return `${who} ended without closing the store; it was recovered from its logs and is whole`;
}

/** The command at the root of all, which knows where it runs and what it writes to. */
export class Program extends Command {
  readonly surroundings: Surroundings;
  readonly terminal: Terminal;
  /** Of the command that runs. */
  output: Output | undefined;
  /** Whether failures say where in the code they began. */
  isDebug: boolean;
  /** Where its store is. */
  data: string | undefined;
  /** Without the name of the program. */
  commandLine: readonly string[] = [];

  constructor(surroundings: Surroundings) {
    super('unspent');
    this.surroundings = surroundings;
    this.terminal = new Terminal(surroundings);
    const { UNSPENT_LOG_LEVEL: level } = surroundings.env;
    this.isDebug = level === 'debug';
  }

  failureOptions(args: readonly string[]): FailureOptions {
    return { isDebug: this.isDebug, command: commandPath(calledCommand(this, args)) };
  }

  /** The output of the command that runs, or one that suits the arguments where it did not come to that. */
  outputFor(args: readonly string[]): Output {
    const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    return this.output ?? createOutput(options.includes('--json'), options.includes('--quiet'), this.terminal);
  }
}

/** As far as the words of a command line name one: options and their values are passed over. */
function calledCommand(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const arg of args) command = command.commands.find((each) => each.name() === arg) ?? command;
  return command;
}

function programOf(command: Command): Program {
  let root = command;
  while (root.parent !== null) root = root.parent;
  assert(root instanceof Program, 'commands belong to a program');
  return root;
}
