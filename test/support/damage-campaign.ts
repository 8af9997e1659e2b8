/** Runs damaged copies in processes that may die of them, and counts what came of each. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DamageLine } from './damage-child.ts';

const CHILD = join(import.meta.dirname, 'damage-child.ts');

/** A database alone, or a whole store; on RocksDB unless it says SQLite. */
export type DamagedKind = 'engine' | 'store' | 'sqlite engine' | 'sqlite store';

export interface DamageTally {
  readonly copies: number;
  /** By outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What must not be: each with its seed. */
  readonly wrong: readonly DamageLine[];
}

/** Damages of these seeds: first, and one after the last. */
export async function runDamages(kind: DamagedKind, from: number, to: number): Promise<DamageTally> {
  const outcomes: Record<string, number> = {};
  const wrong: DamageLine[] = [];
  let copies = 0;
  const count = (line: DamageLine, outcome: string) => {
    copies++;
    const key = outcome.startsWith('WRONG') ? 'wrong' : outcome;
    outcomes[key] = (outcomes[key] ?? 0) + 1;
    if (key === 'wrong') wrong.push({ ...line, outcome });
  };
  for (let next = from; next < to; ) {
    const { last, signal, code } = await runChild(kind, next, to, count);
    if (code === 0) break;
    if (last === null) throw new Error(`the campaign itself failed at seed ${next}: ${signal ?? code}`);
    count(
      last,
      last.outcome === undefined ? `WRONG: the engine ended the process (${signal ?? code})` : `WRONG: the process ended after it`,
    );
    next = last.seed + 1;
  }
  return { copies, outcomes, wrong };
}

async function runChild(kind: string, from: number, to: number, count: (line: DamageLine, outcome: string) => void) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, kind, `${from}`, `${to}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  let last: DamageLine | null = null;
  for await (const text of createInterface({ input: child.stdout })) {
    const line: DamageLine = JSON.parse(text);
    if (line.outcome !== undefined) count(line, line.outcome);
    last = line;
  }
  return { last, ...(await gone) };
}
