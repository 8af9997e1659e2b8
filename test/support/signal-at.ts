/**
 * A process that gets a signal at a certain call, however fast or slow the
 * machine is: a module that Node loads before the program wraps the calls by
 * which work begins, and sends the signal after the first that fits.
 */

/** `renameSync FROM TO`, `mkdtemp PREFIX`, `write TEXT` (of a socket). */
const WRAPPED = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

let isSent = !isMainThread;
function wrap(object, name) {
  const call = object[name];
  object[name] = function (...args) {
    const result = call.apply(this, args);
    if (!isSent && PATTERN.test(name + ' ' + args.join(' '))) {
      isSent = true;
      process.kill(process.pid, SIGNAL);
    }
    return result;
  };
}
wrap(fs, 'renameSync');
wrap(fs.promises, 'mkdtemp');
wrap(Socket.prototype, 'write');
syncBuiltinESMExports();
`;

/** Variables of the process. */
export function signalAt(pattern: RegExp, signal: NodeJS.Signals = 'SIGTERM'): { readonly NODE_OPTIONS: string } {
  const source = WRAPPED.replace('PATTERN', () => String(pattern)).replace('SIGNAL', () => JSON.stringify(signal));
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}
