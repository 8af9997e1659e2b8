/**
 * A process that hands batches to the thread that writes: `run` until it is
 * killed, saying how many have landed; `fail` until one does not, saying what
 * is there then.
 */
import type { ColumnSpec } from '../../src/engine/engine.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { writeU32 } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { nextTurn } from '../../src/util/time-slice.ts';

const COLUMNS: readonly ColumnSpec[] = [
  { name: 'points', access: 'point', weight: 3, main: true },
  { name: 'prefixes', access: 'prefix', prefixBytes: 2, weight: 1 },
];
const ROWS = 50;

const [mode, directory] = process.argv.slice(2);
const engine = await openEngineIn(directory, COLUMNS, {
  createIfMissing: true,
  memtableBytes: 64 << 20,
  cacheBytes: 4 << 20,
  writerThread: 'on',
});
const writer = engine.ahead?.() ?? null;
if (writer === null) throw new Error('no thread that writes');
const key = new Uint8Array(4);
const value = new Uint8Array(mode === 'fail' ? 3000 : 100).fill(1);
const failures: Error[] = [];
let landed = 0;
let rows = 0;

function hand(): void {
  const batch = writer!.batch((failure) => {
    if (failure !== null) failures.push(failure);
    else landed++;
  });
  for (let n = 0; n < ROWS; n++) {
    writeU32(key, 0, rows++);
    batch.put('points', key, value);
  }
  // Those before it land, or fail, while it is filled.
  if (mode === 'fail' && rows % (3 * ROWS) === 0) writer!.settle();
  batch.commit();
}

if (mode === 'run')
  for (let told = 0; ; await nextTurn()) {
    hand();
    if (landed === told) continue;
    told = landed;
    console.log(told);
  }

let refused = '';
try {
  while (failures.length === 0 && rows < 1_000_000) {
    hand();
    await nextTurn();
  }
} catch (error) {
  refused = (error as Error).message;
}
const text = (error: Error): string => `${isUnspentError(error) ? error.code : 'none'} ${error.message}`;
const stored = [...engine.scan('points')].length / ROWS;
console.log(JSON.stringify({ landed, failures: failures.map(text), stored, refused }));
process.exit(0);
