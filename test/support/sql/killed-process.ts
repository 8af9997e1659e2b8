/** Processes that kill themselves in the middle of a call. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

/** Runs the file. True: it was killed; false: it came to its end. */
export async function wasKilled(file: URL, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [file.pathname, ...args], { stdio: 'inherit' });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => child.once('exit', (...end) => resolve(end)));
  if (code === 0) return false;
  assert.equal(signal, 'SIGKILL');
  return true;
}
