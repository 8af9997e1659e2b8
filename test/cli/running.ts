/**
 * A command that goes on: what it has said so far, a way to tell it things, and
 * its end. It is killed with the test that started it.
 */
import type { ChildProcess } from 'node:child_process';
import type { TestContext } from 'node:test';
import { until } from '../support/patience.ts';
import { ended, type Result, start } from './run.ts';

export class Running {
  readonly end: Promise<Result>;
  out = '';
  err = '';
  private readonly child: ChildProcess;

  constructor(t: TestContext, args: readonly string[], cwd: string) {
    this.child = start(args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.end = ended(this.child);
    this.child.stdout!.on('data', (text: string) => {
      this.out += text;
    });
    this.child.stderr!.on('data', (text: string) => {
      this.err += text;
    });
    t.after(() => this.child.kill('SIGKILL'));
  }

  tell(line: string): void {
    this.child.stdin!.write(`${line}\n`);
  }

  /** Tells it something and waits for an answer that fits. */
  async ask(line: string, answer: RegExp): Promise<RegExpExecArray> {
    const before = this.out.length;
    this.tell(line);
    return this.says(answer, before);
  }

  async says(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    await until(
      () => pattern.test(this.out.slice(from)),
      () => `${pattern} in ${this.out.slice(from)}${this.err}`,
    );
    return pattern.exec(this.out.slice(from))!;
  }

  /** On its other stream: what is not the result. */
  async remarks(pattern: RegExp): Promise<RegExpExecArray> {
    await until(
      () => pattern.test(this.err),
      () => `${pattern} in ${this.err}`,
    );
    return pattern.exec(this.err)!;
  }

  interrupt(signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): Promise<Result> {
    this.child.kill(signal);
    return this.end;
  }
  /** Without a chance to close anything. */
  kill(): Promise<Result> {
    this.child.kill('SIGKILL');
    return this.end;
  }
}
