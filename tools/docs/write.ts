/** Writes the documentation as a folder of static files: `npm run docs:site [DIR]`, by default `dist-docs`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DocsSite } from '../../src/server/docs/site.ts';

const directory = process.argv[2] ?? 'dist-docs';
const site = new DocsSite();
for (const address of site.everyAddress) {
  const file = await site.read(address);
  if (file === null) throw new Error(`the site lists ${address} and has no such file`);
  mkdirSync(dirname(join(directory, address)), { recursive: true });
  writeFileSync(join(directory, address), file.body);
}
console.log(`${site.everyAddress.length} files in ${directory}; open ${join(directory, 'index.html')}`);
