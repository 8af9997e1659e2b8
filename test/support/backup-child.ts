/**
 * A process that makes or restores a backup and is killed on the way:
 * `backup|restore FOLDER DATA AT`, where AT counts the reports of progress. Without
 * AT it goes to its end, and prints what failed.
 */
import { loadConfig } from '../../src/config/load.ts';
import { pinStore } from '../../src/store/backup/pinned-store.ts';
import { restoreBackup } from '../../src/store/backup/restore.ts';
import { writeBackup } from '../../src/store/backup/write.ts';
import { openStore } from '../../src/store/store.ts';
import type { UnspentError } from '../../src/util/errors.ts';

const [what, folder, data, at = '0'] = process.argv.slice(2);
const { config } = loadConfig({ env: {} });
let reports = 0;
const onProgress = (): void => {
  if (++reports === Number(at)) process.kill(process.pid, 'SIGKILL');
};

async function run(): Promise<void> {
  if (what === 'restore') {
    await restoreBackup(folder, { data, config, onProgress });
    return;
  }
  const store = await openStore({ data, config, create: false });
  try {
    await writeBackup({ data, network: store.network, pin: () => pinStore(store) }, folder, { copy: true, onProgress });
  } finally {
    await store.close();
  }
}

try {
  await run();
  console.log(`done ${reports}`);
} catch (error) {
  console.log(`${(error as UnspentError).code}: ${(error as Error).message}`);
}
