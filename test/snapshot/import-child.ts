/** The process that is killed while it imports a snapshot: it says when it begins, and after each chunk. */
import { writeSync } from 'node:fs';
import { importSnapshot } from '../../src/store/snapshots.ts';
import { keepCompiled } from '../support/compile-cache.ts';
import { configOf } from './world.ts';

const [, , folder, data] = process.argv;
keepCompiled();
writeSync(1, 'begin\n');
await importSnapshot(folder, { data, config: configOf([]), onRows: (rows) => writeSync(1, `${rows}\n`) });
writeSync(1, 'done\n');
