/** `npm run docs:api`: writes docs/reference/api/ from the doc comments of what the package exports. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readDoors, undocumented, unexported } from './doors.ts';
import { emitDeclarations } from './emit.ts';
import { apiPages } from './pages.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'docs/reference/api');
const declared = emitDeclarations(root);
try {
  const doors = readDoors(root, declared);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of apiPages(doors)) writeFileSync(join(folder, name), text);
  const lacking = [...undocumented(doors).map((what) => `${what} has no doc comment`), ...unexported(doors)];
  for (const line of lacking) console.error(line);
  process.exitCode = lacking.length > 0 ? 1 : 0;
} finally {
  rmSync(declared, { recursive: true, force: true });
}
