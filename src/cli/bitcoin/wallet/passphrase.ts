/**
 * Where a passphrase comes from: a file descriptor or a file that was named, a
 * variable, or whoever sits at the terminal, who types it unseen. Never from an
 * argument: other users of the machine can read those.
 */
import { readSync } from 'node:fs';
import type { Command } from 'commander';
import { UnspentError } from '../../../util/errors.ts';
import { PASSPHRASE_BYTES_MAX } from '../../../util/limits.ts';
import type { Context } from '../../context.ts';
import type { CommandOptions } from '../../options.ts';
import { readOperand } from '../../read-operand.ts';

interface PassphraseFlags extends CommandOptions {
  readonly passphraseFile?: string;
  readonly passphraseFd?: string;
  readonly newPassphraseFile?: string;
  readonly wordsPassphrase?: boolean;
  readonly wordsPassphraseFile?: string;
}

/** What a terminal can do that a pipe cannot. */
export interface Terminal {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: 'data', listener: (bytes: Uint8Array) => void): unknown;
  off(event: 'data', listener: (bytes: Uint8Array) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Of commands that open the secret of a wallet. */
export function passphraseOptions(command: Command): Command {
  return command
    .option('--passphrase-file <file>', 'file with the passphrase (default: UNSPENT_PASSPHRASE, or asked for)')
    .option('--passphrase-fd <n>', 'file descriptor that gives the passphrase');
}

/** Of commands that are given words, or make new ones. */
export function wordsPassphraseOptions(command: Command): Command {
  return command
    .option('--words-passphrase', 'the words have a passphrase of their own (BIP39), which is asked for')
    .option('--words-passphrase-file <file>', 'file with that passphrase (default: UNSPENT_WORDS_PASSPHRASE)');
}

/** The passphrase of a wallet; one that is new is typed twice, where it is typed. Throws USAGE where nobody can be asked, IO. */
export async function readPassphrase(context: Context, { isNew = false } = {}): Promise<string> {
  const { passphraseFile, passphraseFd }: PassphraseFlags = context.options;
  const { UNSPENT_PASSPHRASE: given } = context.env;
  if (passphraseFd !== undefined) return fromDescriptor(passphraseFd);
  if (passphraseFile !== undefined) return fromFile(passphraseFile);
  return given ?? ask(context, isNew ? 'new passphrase' : 'passphrase', isNew);
}

/**
 * What belongs to the words themselves (BIP39): other words with it, so that a slip gives other keys, and nobody can
 * tell. Empty: they have none. Where it is typed, it is typed twice if `isTwice`. Throws USAGE, IO.
 */
export async function readWordsPassphrase(context: Context, isTwice: boolean): Promise<string> {
  const { wordsPassphrase, wordsPassphraseFile }: PassphraseFlags = context.options;
  const { UNSPENT_WORDS_PASSPHRASE: given } = context.env;
  if (wordsPassphraseFile !== undefined) return fromFile(wordsPassphraseFile);
  if (given !== undefined || wordsPassphrase !== true) return given ?? '';
  return ask(context, 'passphrase of the words', isTwice, 'name a file (--words-passphrase-file), or set UNSPENT_WORDS_PASSPHRASE');
}

/** The one that takes its place. */
export async function readNextPassphrase(context: Context): Promise<string> {
  const { newPassphraseFile }: PassphraseFlags = context.options;
  const { UNSPENT_NEW_PASSPHRASE: given } = context.env;
  if (newPassphraseFile !== undefined) return fromFile(newPassphraseFile);
  return given ?? ask(context, 'new passphrase', true);
}

async function ask({ output }: Context, what: string, isTwice: boolean, advice?: string): Promise<string> {
  const hidden = (question: string): Promise<string> => askHidden(question, process.stdin, (text) => output.ask(text), advice);
  const typed = await hidden(`${what}: `);
  if (!isTwice || (await hidden('the same again: ')) === typed) return typed;
  throw new UnspentError('USAGE', 'the two passphrases are not the same');
}

async function fromFile(file: string): Promise<string> {
  return withoutLineEnd(await readOperand(file, PASSPHRASE_BYTES_MAX));
}

function fromDescriptor(text: string): string {
  if (!/^\d{1,4}$/.test(text))
    throw new UnspentError('USAGE', `--passphrase-fd is the number of a file descriptor, not '${text.slice(0, 40)}'`);
  const buffer = new Uint8Array(PASSPHRASE_BYTES_MAX);
  let length = 0;
  try {
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(Number(text), buffer, length, buffer.length - length, null);
    return withoutLineEnd(buffer.subarray(0, length));
  } catch (error) {
    throw new UnspentError('IO', `file descriptor ${text} cannot be read: ${(error as Error).message}`, {}, error);
  } finally {
    buffer.fill(0);
  }
}

function withoutLineEnd(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
  bytes.fill(0);
  return text;
}

const [ENTER, NEW_LINE, BACKSPACE, DELETE, CTRL_C, CTRL_D] = [13, 10, 8, 127, 3, 4];
/** What ends the line. */
const ENDS: readonly number[] = [ENTER, NEW_LINE, CTRL_C, CTRL_D];

const ADVICE = 'name a file (--passphrase-file), a file descriptor (--passphrase-fd), or set UNSPENT_PASSPHRASE';

/** One line from a terminal that shows nothing of it. Throws USAGE without a terminal, INTERRUPTED. */
export async function askHidden(question: string, terminal: Terminal, show: (text: string) => void, advice = ADVICE): Promise<string> {
  if (terminal.isTTY !== true || terminal.setRawMode === undefined) {
    throw new UnspentError('USAGE', `a passphrase is needed: ${advice}`);
  }
  show(question);
  terminal.setRawMode(true);
  const typed: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const listen = (bytes: Uint8Array): void => {
    const end = bytes.findIndex((byte) => ENDS.includes(byte));
    for (const byte of end < 0 ? bytes : bytes.subarray(0, end)) {
      if (byte === BACKSPACE || byte === DELETE) dropCharacter(typed);
      else typed.push(byte);
    }
    if (end < 0) return;
    terminal.off('data', listen);
    if (bytes[end] === CTRL_C) reject(new UnspentError('INTERRUPTED', 'interrupted'));
    else resolve();
  };
  terminal.on('data', listen);
  terminal.resume();
  try {
    await promise;
    return new TextDecoder().decode(Uint8Array.from(typed));
  } finally {
    typed.fill(0);
    terminal.setRawMode(false);
    terminal.pause();
    show('\n');
  }
}

/** The last character of UTF-8, with all its bytes. */
function dropCharacter(typed: number[]): void {
  while ((typed.pop() ?? 0) >> 6 === 0b10);
}
