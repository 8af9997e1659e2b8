/**
 * Damages copies of stores and opens them, a line of JSON each: a process of its
 * own, because RocksDB ends the process where its own assertions fail.
 * Arguments: a `DamagedKind`, the first seed, and the one after the last.
 */
import { AssertionError } from 'node:assert';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isUnspentError } from '../../src/util/errors.ts';
import { temporaryFolder } from './crash-store.ts';
import { damage, damageSqlite, damageStore } from './damage.ts';
import { type DamageBase, engineBases, storeBases } from './damage-stores.ts';
import { randomFrom } from './forged-chain.ts';

export interface DamageLine {
  readonly seed: number;
  /** Absent while it is under way: if there is no other line of that seed, the process died of it. */
  readonly outcome?: string;
  readonly what: string;
}

const [, , kind, from, to] = process.argv;

/** What came of it; begins with WRONG where that must not be. */
async function outcomeOf(base: DamageBase, directory: string): Promise<string> {
  try {
    // Without its seal a closed store is as good as one that is not.
    const isClosed = existsSync(join(directory, 'db', 'unspent.seal'));
    const at = await base.check(directory);
    return at === 'earlier' && isClosed ? 'WRONG: closed, and at an earlier commit' : at;
  } catch (error) {
    if (error instanceof AssertionError) return `WRONG: ${error.message.split('\n')[0]}`;
    return isUnspentError(error) ? `refused ${error.code}` : `WRONG: untyped ${(error as Error).stack}`;
  }
}

const folder = temporaryFolder();
try {
  mkdirSync(folder, { recursive: true });
  const engine = kind.startsWith('sqlite') ? 'sqlite' : 'rocks';
  const isStore = kind.endsWith('store');
  const bases = isStore ? await storeBases(folder, 1, engine) : await engineBases(folder, engine);
  const damageOnce = engine === 'sqlite' ? damageSqlite : isStore ? damageStore : damage;
  const write = (line: DamageLine) => process.stdout.write(`${JSON.stringify(line)}\n`);
  for (let seed = Number(from); seed < Number(to); seed++) {
    const random = randomFrom(seed);
    for (let warm = 0; warm < 4; warm++) random(2);
    const base = bases[random(bases.length)];
    const directory = join(folder, 'copy');
    cpSync(base.directory, directory, { recursive: true });
    const done = damageOnce(directory, random);
    if (done !== null) {
      const what = `${base.directory.slice(folder.length + 1)}, ${done}`;
      write({ seed, what });
      write({ seed, what, outcome: await outcomeOf(base, directory) });
    }
    rmSync(directory, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
