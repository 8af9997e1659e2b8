/**
 * Keys as they are pressed, from a terminal that echoes nothing and waits for no
 * end of line. Given back as it was when this ends, and with the process. Ctrl-C
 * and Ctrl-Z mean what they always mean.
 */
import type { ReadStream } from 'node:tty';

export type Key = { readonly name: 'enter' | 'backspace' | 'escape' | 'up' | 'down' | 'tab' | 'clear' | 'end' } | { readonly text: string };

// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of keys begin with it.
const SEQUENCE = /^\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])/;

const NAMED: Readonly<Record<string, Key>> = {
  '\r': { name: 'enter' },
  '\n': { name: 'enter' },
  '\x7f': { name: 'backspace' },
  '\b': { name: 'backspace' },
  '\t': { name: 'tab' },
  '\x15': { name: 'clear' },
  '\x04': { name: 'end' },
  '\x1b': { name: 'escape' },
  '\x1b[A': { name: 'up' },
  '\x1bOA': { name: 'up' },
  '\x1b[B': { name: 'down' },
  '\x1bOB': { name: 'down' },
};

/** `before` is called before the process is suspended, `after` when it goes on. Returns how to stop. */
export function readKeys(input: ReadStream, press: (key: Key) => void, suspended: { before(): void; after(): void }): () => void {
  const take = (text: string): void => {
    for (let rest = text; rest !== ''; ) {
      const [piece] = SEQUENCE.exec(rest) ?? [rest.slice(0, [...rest][0].length)];
      rest = rest.slice(piece.length);
      if (piece === '\x03') process.kill(process.pid, 'SIGINT');
      else if (piece === '\x1a') suspend(input, suspended);
      else {
        const key = NAMED[piece];
        if (key !== undefined) press(key);
        else if (piece >= ' ') press({ text: piece });
      }
    }
  };
  const restore = (): void => void input.setRawMode(false);
  input.setRawMode(true);
  input.setEncoding('utf8');
  input.on('data', take);
  input.on('error', () => {});
  process.on('exit', restore);
  return () => {
    input.off('data', take);
    process.off('exit', restore);
    input.setRawMode(false);
    input.pause();
  };
}

function suspend(input: ReadStream, { before, after }: { before(): void; after(): void }): void {
  before();
  input.setRawMode(false);
  process.once('SIGCONT', () => {
    input.setRawMode(true);
    after();
  });
  process.kill(process.pid, 'SIGTSTP');
}
