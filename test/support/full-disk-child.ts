/**
 * Opens copies of a store on a small file system on which less and less is free,
 * and again when there is room: a line of JSON each. Arguments: where the file
 * system is mounted, and the store.
 */
import { closeSync, cpSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/store/store.ts';
import { isUnspentError } from '../../src/util/errors.ts';

export interface FullDiskLine {
  readonly freeKb: number;
  /** `done`, or the code of what was said. */
  readonly said: string;
  /** Of the store when there was room again. */
  readonly digest: string;
}

const FREE_KB = [0, 4, 8, 12, 16, 32, 48, 64];
const KB = 1024;

const [, , place, original] = process.argv;
const [data, filler] = [join(place, 'data'), join(place, 'filler')];
const { config } = loadConfig({ env: {} });

/** Until no more than that is free. */
function fill(freeKb: number): void {
  const file = openSync(filler, 'w');
  const { bsize } = statfsSync(place);
  const free = (): number => statfsSync(place).bavail * bsize - freeKb * KB;
  while (free() > 0) writeSync(file, new Uint8Array(Math.min(free(), 256 * KB)));
  closeSync(file);
}

async function digestOf(): Promise<string> {
  const store = await openStore({ data, config, create: false });
  const { digest } = store.digest();
  await store.close();
  return digest;
}

for (const freeKb of FREE_KB) {
  cpSync(original, data, { recursive: true });
  fill(freeKb);
  const said = await digestOf().then(
    () => 'done',
    (error: unknown) => (isUnspentError(error) ? error.code : `untyped ${(error as Error).stack}`),
  );
  rmSync(filler);
  const digest = await digestOf().catch((error: Error) => `${error.message}`);
  process.stdout.write(`${JSON.stringify({ freeKb, said, digest } satisfies FullDiskLine)}\n`);
  rmSync(data, { recursive: true });
}
