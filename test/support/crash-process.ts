/**
 * A child process of the crash tests, seen from outside: it starts up, waits
 * for a job, works, and is killed by its id. What it says goes to a witness.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compiledEnvironment } from './compile-cache.ts';
import type { Job, Phase, Witness } from './crash-witness.ts';
import { PATIENCE_MS } from './patience.ts';

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
/** A child that does not come to the phase aimed at in so many operations is killed anyway. They are counted, because on a busy machine each takes longer. */
const OPERATIONS_MAX = 100;
/** Timers are too coarse below this. */
const SPIN_MS_MAX = 4;

export async function pause(ms: number): Promise<void> {
  if (ms > SPIN_MS_MAX) await sleep(ms);
  else for (const start = performance.now(); performance.now() - start < ms; );
}

export class Child {
  private readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly begun = new Map<string, number>();
  private readonly waiters: { readonly phase: Phase; readonly count: number; readonly arrived: () => void }[] = [];
  private operations = 0;
  private errors = '';
  private failure: unknown;
  /** True: by our hand. */
  readonly gone: Promise<boolean>;

  constructor(folder: string) {
    this.process = spawn(process.execPath, [CHILD, folder], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: compiledEnvironment(folder),
    });
    // A pipe to a process that has just been killed.
    this.process.stdin.on('error', () => {});
    this.process.stderr.on('data', (chunk) => {
      this.errors += chunk;
    });
    this.gone = new Promise((resolve, reject) => {
      this.process.on('error', reject);
      this.process.on('close', (code, signal) => {
        for (const waiter of this.waiters) waiter.arrived();
        if (this.failure !== undefined) reject(this.failure);
        else if (signal === null && code !== 0) reject(new Error(`a child failed by itself:\n${this.errors}`));
        else resolve(signal === 'SIGKILL');
      });
    });
    // Looked at when its turn comes.
    this.gone.catch(() => {});
  }

  start(job: Job, witness: Witness, measure: (phase: Phase, ms: number) => void): void {
    let rest = '';
    let since = 0;
    this.process.stdout.on('data', (chunk) => {
      // A line that was cut off by the kill was not said.
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      try {
        for (const line of lines) {
          const before = witness.phase;
          witness.hear(line);
          if (line.startsWith('begin ')) {
            since = performance.now();
            this.count(witness.phase);
          } else if (line === 'end') measure(before, performance.now() - since);
        }
      } catch (error) {
        this.failure ??= error;
      }
    });
    this.process.stdin.end(`${JSON.stringify(job)}\n`);
  }

  /** Resolves when the phase has begun so many times, or it is no use to wait: the child is gone, or has said nothing for long. */
  async reached(phase: Phase, count: number): Promise<void> {
    if ((this.begun.get(phase) ?? 0) >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiters.push({ phase, count, arrived: resolve });
    const timer = setTimeout(resolve, PATIENCE_MS);
    await promise;
    clearTimeout(timer);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.gone.catch(() => {});
  }

  private count(phase: Phase): void {
    this.operations++;
    const count = (this.begun.get(phase) ?? 0) + 1;
    this.begun.set(phase, count);
    const isEnough = this.operations >= OPERATIONS_MAX;
    for (const waiter of this.waiters) if (isEnough || (waiter.phase === phase && count >= waiter.count)) waiter.arrived();
  }
}
