/** The declarations of the package, emitted into a folder of their own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whoever asked for the folder removes it. */
export function emitDeclarations(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-declarations-'));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  // `npm run types` checks: here that would take three quarters of the time, and the declarations are the same.
  const options = ['-p', join(root, 'tsconfig.build.json'), '--emitDeclarationOnly', '--noCheck', '--outDir', folder];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...options], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the compiler says:\n${stdout}`);
  return folder;
}
