/**
 * How a failure leaves the process: one line on stderr, with --json one
 * document on stdout, and the documented exit code. A stack trace is for those
 * who ask (`--log-level debug`).
 */
import { CommanderError } from 'commander';
import { CONFIG_FLAGS } from '../config/load.ts';
import { flagOf } from '../config/schema.ts';
import { type ErrorCode, UnspentError } from '../util/errors.ts';
import { didYouMean } from '../util/suggest.ts';
import { SIGNAL_EXITS } from './interrupt.ts';
import type { Output } from './output.ts';

interface Failure {
  readonly code: ErrorCode | 'BUG';
  readonly message: string;
  readonly advice: string;
  readonly exitCode: number;
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface FailureOptions {
  /** Whether it says where in the code it began. */
  readonly isDebug: boolean;
  /** The command that was called, as its help is asked for: `query address`. */
  readonly command: string;
}

/** Says what went wrong; returns the exit code. */
export function reportFailure(error: unknown, output: Output, { isDebug, command }: FailureOptions): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const { code, message, advice: general, exitCode, meta } = describe(error);
  const advice = adviceFor(code, message, general, command);
  // The help is on stderr already, and says more.
  if (!isHelp(error)) output.complain(`${output.alarm('unspent:')} ${sentence(message)} ${advice}`.trim());
  if (isDebug) output.complain(withCauses(error));
  if (output.json && !output.hasDocument) output.document({ error: { code, message: oneLine(message), advice, exitCode, ...meta } });
  return exitCode;
}

function describe(error: unknown): Failure {
  if (error instanceof UnspentError) {
    const { code, message, advice, meta } = error;
    const exitCode = meta['signal'] === 'SIGTERM' ? SIGNAL_EXITS.SIGTERM : error.exitCode;
    return { code, message, advice, exitCode, meta };
  }
  if (error instanceof CommanderError) return describe(new UnspentError('USAGE', usageMessage(error)));
  const message = `unexpected error: ${error instanceof Error ? error.message || error.name : String(error)}`;
  return { code: 'BUG', message, advice: 'This is a bug in unspent; --log-level debug shows where.', exitCode: 1, meta: {} };
}

/** `error: unknown option '--x'\n(Did you mean --y?)` -> one line without the prefix. */
function usageMessage(error: CommanderError): string {
  if (isHelp(error)) return 'which command?';
  const message = oneLine(error.message)
    .replace(/^error: /, '')
    .replace(/ ?\(Did you mean (.*)\?\)$/, "; did you mean '$1'?");
  // The parser suggests what its help shows; most settings are not in there.
  const [, option] = /^unknown option '(--[^'=]+)[^']*'$/.exec(message) ?? [];
  return option === undefined
    ? message
    : message +
        didYouMean(
          option,
          CONFIG_FLAGS.map(({ key }) => flagOf(key)),
        );
}

/** Whoever is told what was meant needs no more; else a wrong command line has its own help. */
function adviceFor(code: Failure['code'], message: string, general: string, command: string): string {
  if (message.includes('did you mean')) return '';
  return code === 'USAGE' ? `\`unspent ${command === '' ? '' : `${command} `}--help\` shows how it is called.` : general;
}

function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.code === 'commander.help';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function sentence(text: string): string {
  const line = oneLine(text);
  return /[.?!]$/.test(line) ? line : `${line}.`;
}

function withCauses(error: unknown): string {
  const traces: string[] = [];
  for (let each = error; each !== undefined && traces.length < 10; each = each instanceof Error ? each.cause : undefined) {
    traces.push(each instanceof Error ? (each.stack ?? each.message) : String(each));
  }
  return traces.join('\ncaused by: ');
}
