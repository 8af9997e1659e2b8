/** A process that upgrades the store in DATA in small batches, and is killed at the report of progress that AT counts to. */
import { loadConfig } from '../../src/config/load.ts';
import { upgradeStore } from '../../src/store/upgrade/upgrade.ts';

const [data, at] = process.argv.slice(2);
let reports = 0;
const onProgress = (): void => {
  if (++reports === Number(at)) process.kill(process.pid, 'SIGKILL');
};
const { resumed } = await upgradeStore({ data, config: loadConfig({ env: {} }).config, batchBytes: 1000, onProgress });
console.log(JSON.stringify({ resumed, reports }));
