/**
 * Opens the store of `fault-rig.ts` in the directory it is given and closes it,
 * in a process of its own: so that strace can fail its file operations, and
 * RocksDB can abort. Says the code of what failed, or `done`.
 */
import { writeSync } from 'node:fs';
import { isUnspentError } from '../../src/util/errors.ts';
import { openFaultStore } from './fault-rig.ts';

const [, , directory] = process.argv;
let said = 'done';
try {
  await (await openFaultStore(directory)).close();
} catch (error) {
  said = isUnspentError(error) ? error.code : `untyped ${(error as Error).stack}`;
}
writeSync(1, said);
