/**
 * Simple commands on standard input, one a line, each answered in turn: how a
 * running devnet or follower is asked and told things. Input that ends is not
 * an order to stop: a service has none.
 */
import { createInterface } from 'node:readline';
import { UnspentError } from '../util/errors.ts';
import { didYouMean } from '../util/suggest.ts';

export interface ControlCommand {
  /** As in the help: `fund ADDRESS AMOUNT`. */
  readonly syntax: string;
  readonly doc: string;
  /** The answer. Throws UnspentError for what cannot be done. */
  run(...operands: string[]): string | Promise<string>;
}

export interface Control {
  /** Resolves when `quit` was read. */
  readonly quit: Promise<void>;
  stop(): void;
}

export function readControl(
  commands: readonly ControlCommand[],
  say: (text: string) => void,
  input: NodeJS.ReadableStream = process.stdin,
): Control {
  const lines = createInterface({ input, terminal: false });
  const byName = new Map(commands.map((command) => [nameOf(command), command]));
  let order = Promise.resolve();
  const quit = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      const [name, ...operands] = line.trim().split(/\s+/);
      if (name === '') return;
      order = order.then(async () => {
        if (name === 'quit' || name === 'exit') resolve();
        else if (name === 'help') say(help(commands));
        else say(await answer(byName.get(name), name, operands, byName.keys()));
      });
    });
  });
  // Input that breaks says no more than input that ends.
  input.on('error', () => {});
  return { quit, stop: () => lines.close() };
}

async function answer(
  command: ControlCommand | undefined,
  name: string,
  operands: readonly string[],
  names: Iterable<string>,
): Promise<string> {
  if (command === undefined) return `no command '${name.slice(0, 40)}'${didYouMean(name, names) || '; type help'}`;
  const wanted = command.syntax.split(' ').length - 1;
  if (operands.length !== wanted) return `usage: ${command.syntax}`;
  try {
    return await command.run(...operands);
  } catch (error) {
    if (!(error instanceof UnspentError)) throw error;
    return `cannot: ${error.message}`;
  }
}

function help(commands: readonly ControlCommand[]): string {
  const all = [...commands, { syntax: 'help', doc: 'this list' }, { syntax: 'quit', doc: 'stop' }];
  const width = Math.max(...all.map(({ syntax }) => syntax.length));
  return all.map(({ syntax, doc }) => `  ${syntax.padEnd(width)}  ${doc}`).join('\n');
}

function nameOf({ syntax }: ControlCommand): string {
  return syntax.split(' ')[0];
}

/** A whole number from 1 on. Throws USAGE. */
export function countOperand(text: string, what: string, most: number): number {
  const value = Number(text);
  if (/^[1-9]\d{0,9}$/.test(text) && value <= most) return value;
  throw new UnspentError('USAGE', `${what} is a whole number from 1 to ${most}, not '${text.slice(0, 40)}'`);
}
