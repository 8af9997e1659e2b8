/** Writes the documentation as a folder of static files: `npm run docs:site [DIR]`, by default `dist-docs`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { open } from '../../src/index.ts';
import { DocsSite } from '../../src/server/docs/site.ts';
import { folderReference } from '../../src/server/native/reference.ts';

const directory = process.argv[2] ?? 'dist-docs';
const site = new DocsSite(folderReference(await readRoutes()));
for (const address of site.everyAddress) {
  const file = await site.read(address);
  if (file === null) throw new Error(`the site lists ${address} and has no such file`);
  mkdirSync(dirname(join(directory, address)), { recursive: true });
  writeFileSync(join(directory, address), file.body);
}
console.log(`${site.everyAddress.length} files in ${directory}; open ${join(directory, 'index.html')}`);

/** The OpenAPI document of a server, as it says it itself: of a store that has no block yet, which has the same routes. */
async function readRoutes(): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-docs-'));
  const store = await open({ data: join(folder, 'data'), network: 'preview', settings: { 'utxo.history': true } });
  try {
    const { url } = await store.serve({ port: 0, thread: false });
    return await (await fetch(`${url}api/v1/openapi.json`)).json();
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
