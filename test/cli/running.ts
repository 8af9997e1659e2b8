/**
 * A command that goes on: what it has said so far, a way to tell it things, and
 * its end. It is killed with the test that started it.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import type { TestContext } from 'node:test';
import { until } from '../support/patience.ts';
import { ended, type Result, start } from './run.ts';

export class Running {
  readonly end: Promise<Result>;
  out = '';
  err = '';
  private readonly child: ChildProcess;
  /** Undefined: it goes on. */
  private result: Result | undefined;

  /** `bin`: another program than the one of the checkout. */
  constructor(t: TestContext, args: readonly string[], cwd: string, bin?: string) {
    this.child = start(args, { cwd, stdio: ['pipe', 'pipe', 'pipe'], ...(bin === undefined ? {} : { bin }) });
    this.end = ended(this.child);
    void this.end.then(
      (result) => {
        this.result = result;
      },
      () => {},
    );
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
    await this.shows(
      pattern,
      () => this.out.slice(from),
      () => this.out.slice(from) + this.err,
    );
    return pattern.exec(this.out.slice(from))!;
  }

  /** On its other stream: what is not the result. */
  async remarks(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    await this.shows(
      pattern,
      () => this.err.slice(from),
      () => this.err.slice(from),
    );
    return pattern.exec(this.err.slice(from))!;
  }

  /** Waits for the text, and not for a process that has ended. */
  private async shows(pattern: RegExp, text: () => string, all: () => string): Promise<void> {
    await until(
      () => {
        // In this order: what it said last has come when its end is told.
        const { result } = this;
        if (pattern.test(text())) return true;
        if (result !== undefined) assert.fail(`it has ended with code ${result.code}, without ${pattern} in ${all()}`);
        return false;
      },
      () => `${pattern} in ${all()}`,
    );
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
