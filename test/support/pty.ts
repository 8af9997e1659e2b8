/**
 * A command on a real pseudo-terminal, which `script` of util-linux makes, and
 * what one would see on it: the few sequences that we write are carried out on a
 * grid of characters.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { BIN } from '../cli/run.ts';
import { until } from './patience.ts';

export const needsPty = {
  skip:
    existsSync(BIN) && spawnSync('script', ['-qec', 'stty cols 80', '/dev/null']).status === 0
      ? false
      : 'there is no `script` (util-linux)',
};

export class Pty {
  /** All that was written, with its sequences. */
  raw = '';
  readonly columns: number;
  readonly end: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(t: TestContext, args: readonly string[], { cwd, columns = 80, rows = 24, env = {}, program = BIN }: PtyOptions) {
    this.columns = columns;
    const command = [program, ...args].map((word) => `'${word}'`).join(' ');
    const kept = Object.entries(process.env).filter(([name]) => !/^(UNSPENT_|NO_COLOR$|FORCE_COLOR$)/.test(name));
    this.child = spawn('script', ['-qec', `stty cols ${columns} rows ${rows}; exec ${command}`, '/dev/null'], {
      cwd,
      env: { ...Object.fromEntries(kept), TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.raw += text;
    });
    this.end = new Promise((resolve) => this.child.once('close', resolve));
    t.after(() => this.child.kill('SIGKILL'));
  }

  type(keys: string): void {
    this.child.stdin!.write(keys);
  }

  /** Waits until the screen shows it. */
  async shows(pattern: RegExp): Promise<void> {
    await until(
      () => pattern.test(this.screen().join('\n')),
      () => `${pattern} on\n${this.screen().join('\n')}`,
    );
  }

  /** What is on the screen and above it, a line each. */
  screen(): string[] {
    return drawn(this.raw, this.columns);
  }
}

interface PtyOptions {
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Default: `unspent`. */
  readonly program?: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with it.
const PIECES = /\x1b\[([0-9;?]*)([A-Za-z])|\r|\n|[^\x1b\r\n]/gu;

/** Without an end at the bottom: what a terminal scrolls away is still there. The other screen begins empty. */
export function drawn(raw: string, columns: number): string[] {
  let lines: string[][] = [[]];
  let [row, column] = [0, 0];
  const line = (): string[] => {
    while (lines.length <= row) lines.push([]);
    return lines[row];
  };
  for (const [piece, operand = '', kind] of raw.matchAll(PIECES)) {
    const times = Number(operand) || 1;
    if (piece === '\r') column = 0;
    else if (piece === '\n') row++;
    else if (kind === 'A') row = Math.max(0, row - times);
    else if (kind === 'H') [row, column] = [0, 0];
    else if (kind === 'K') line().length = Math.min(line().length, column);
    else if (kind === 'J') {
      line().length = Math.min(line().length, column);
      lines = lines.slice(0, row + 1);
    } else if (kind === 'h' && operand === '?1049') [lines, row, column] = [[[]], 0, 0];
    else if (kind === undefined) {
      if (column === columns) [row, column] = [row + 1, 0];
      const cells = line();
      while (cells.length < column) cells.push(' ');
      cells[column++] = piece;
    }
  }
  return lines.map((cells) => cells.join('').trimEnd());
}
