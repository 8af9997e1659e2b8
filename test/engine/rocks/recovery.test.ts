/**
 * What RocksDB would not notice is found before it runs: logs and columns that
 * are missing, in stores that were closed and in stores that were not. Damaged
 * at random in `npm run campaign`; here some hundred copies, and the cases that
 * matter one by one.
 */
import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Engine } from '../../../src/engine/engine.ts';
import { binding } from '../../../src/engine/rocks/binding.ts';
import { readLog } from '../../../src/engine/rocks/log.ts';
import { readManifest } from '../../../src/engine/rocks/manifest.ts';
import { openDatabase } from '../../../src/engine/rocks/open.ts';
import { checkRecovery } from '../../../src/engine/rocks/recovery.ts';
import { nativeOptions } from '../../../src/engine/rocks/tuning.ts';
import { crc32c } from '../../../src/util/crc32c.ts';
import { runDamages } from '../../support/damage-campaign.ts';
import { copyOfOpen } from '../../support/open-copy.ts';
import { COLUMNS, coded, fill, NAMES, newDirectory, open, reading, SMALL, shown } from './rig.ts';

const ENGINE_COPIES = 120;
const STORE_COPIES = 24;
const UNCLOSED = { columns: NAMES, sequence: null };

const logsOf = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort();

it('the checksum is CRC-32C', () => {
  equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  equal(crc32c(new Uint8Array(0)), 0);
});

it('a store whose process was killed twice before all columns were made opens as a new one', async () => {
  const { columns, ...others } = nativeOptions(COLUMNS, SMALL);
  const names = Object.keys(columns);
  for (const [first, second] of names.flatMap((_, at) => names.slice(at).map((__, more) => [at + 1, at + more + 1] as const))) {
    let directory = newDirectory();
    for (const made of [first, second]) {
      mkdirSync(directory, { recursive: true });
      const half = { ...others, columns: Object.fromEntries(Object.entries(columns).slice(0, made)) };
      const { native } = await openDatabase(directory, half, []);
      const left = newDirectory();
      await copyOfOpen(directory, left);
      await new Promise<void>((resolve, reject) => binding.db_close(native, (error) => (error ? reject(error) : resolve())));
      directory = left;
    }
    await reading(directory, COLUMNS, (engine) => fill(engine, 1, 1));
    await reading(directory, COLUMNS, (engine) => equal(shown(engine.scan('points')).length, 1));
  }
});

describe('a store whose process was killed', () => {
  let killed: string;
  /** A copy of it that something was done to. */
  const copyOf = (change: (directory: string) => void) => {
    const directory = newDirectory();
    cpSync(killed, directory, { recursive: true });
    change(directory);
    return directory;
  };

  before(async () => {
    const working = newDirectory();
    killed = newDirectory();
    await reading(working, COLUMNS, (engine) => fill(engine, 20, 20));
    const engine = await open(working);
    fill(engine, 300, 30);
    await copyOfOpen(working, killed);
    await engine.close();
  });

  it('has logs that follow one another, and passes', () => {
    ok(logsOf(killed).length > 1, `${logsOf(killed)}`);
    checkRecovery(killed, UNCLOSED);
    deepEqual(
      readManifest(killed)
        .columns.map(({ name }) => name)
        .filter((name) => NAMES.includes(name)),
      NAMES,
    );
  });

  it('is damaged without any one of its logs but the newest, and without the newest where it is the only one', async () => {
    const logs = logsOf(killed);
    for (const log of logs.slice(0, -1)) {
      const directory = copyOf((at) => rmSync(join(at, log)));
      await rejects(open(directory), coded('STORE_DAMAGED', directory));
    }
    const none = copyOf((at) => logs.map((log) => rmSync(join(at, log))));
    await rejects(open(none), coded('STORE_DAMAGED', none));
  });

  it('is damaged where an older log ends early between two records', async () => {
    // Nothing is missing from a log of one record when it ends there.
    const older = logsOf(killed).slice(0, -1);
    const log = older.find((name) => [...readLog(join(killed, name), 12)].length > 1);
    ok(log, `a log before the newest with two records: ${older}`);
    const directory = copyOf((at) => truncateSync(join(at, log), firstRecordEnd(join(at, log))));
    await rejects(open(directory), coded('STORE_DAMAGED', directory));
  });

  it('is damaged where two logs changed places, and does not abort', async () => {
    const [first, second] = logsOf(killed);
    const directory = copyOf((at) => {
      cpSync(join(killed, first), join(at, second));
      cpSync(join(killed, second), join(at, first));
    });
    await rejects(open(directory), coded('STORE_DAMAGED', directory));
  });

  it('is damaged where a log has a hole of zeros', async () => {
    const [first] = logsOf(killed);
    const directory = copyOf((at) => {
      const bytes = readFileSync(join(at, first));
      writeFileSync(join(at, first), bytes.fill(0, 0, 32_768));
    });
    await rejects(open(directory), coded('STORE_DAMAGED', directory));
  });

  it('is whole or damaged wherever the manifest is cut', async () => {
    const rows = (engine: Engine) => NAMES.map((name) => shown(engine.scan(name)));
    const whole = await reading(
      copyOf(() => {}),
      COLUMNS,
      rows,
    );
    const name = readFileSync(join(killed, 'CURRENT'), 'latin1').trim();
    const { size } = statSync(join(killed, name));
    let refused = 0;
    for (let cut = size - 1; cut > 0; cut -= Math.ceil(size / 40)) {
      const directory = copyOf((at) => truncateSync(join(at, name), cut));
      try {
        deepEqual(await reading(directory, COLUMNS, rows), whole, `cut at byte ${cut} of ${size}`);
      } catch (error) {
        coded('STORE_DAMAGED', directory)(error);
        refused++;
      }
    }
    ok(refused > 10, `${refused} of 40 were refused`);
  });

  it('is damaged where a column it must have is not in the manifest', () => {
    throws(() => checkRecovery(killed, { ...UNCLOSED, columns: [...NAMES, 'another'] }), coded('STORE_DAMAGED', killed));
  });
});

describe('damaged copies', () => {
  it(`open at a commit exactly, or are refused: ${ENGINE_COPIES} of a database, ${STORE_COPIES} of a store`, async (t) => {
    for (const [kind, copies] of [['engine', ENGINE_COPIES] as const, ['store', STORE_COPIES] as const]) {
      const { wrong, outcomes } = await runDamages(kind, 1, copies + 1);
      t.diagnostic(JSON.stringify(outcomes));
      deepEqual(wrong, []);
    }
  });
});

/** Where the first record ends, in bytes: it may have several fragments. No fragment of it leaves padding in a block. */
function firstRecordEnd(path: string): number {
  const bytes = readFileSync(path);
  for (let at = 0; ; ) {
    const [type, end] = [bytes[at + 6], at + 7 + bytes.readUInt16LE(at + 4)];
    if (type === 1 || type === 4) return end;
    at = end;
  }
}
