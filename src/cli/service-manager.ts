/**
 * Tells the service manager that the command is up, that it is about to end, and
 * that it is alive (systemd: `Type=notify`, `WatchdogSec=`). Node cannot send to
 * a datagram socket of the file system, so `systemd-notify` does, as a child:
 * the unit says `NotifyAccess=all`.
 */
import { spawn } from 'node:child_process';
import type { Context } from './context.ts';
import { onAbort } from './interrupt.ts';

/** Once, when the store is open and whatever it serves listens. Does nothing where no service manager wants to know. */
export function announceReady({ env, stop, output }: Pick<Context, 'env' | 'stop' | 'output'>): void {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs = '', PATH: path } = env;
  if (socket === undefined || socket === '') return;
  let isMissing = false;
  const tell = (...states: string[]): void => {
    if (isMissing) return;
    const child = spawn('systemd-notify', states, { env: { NOTIFY_SOCKET: socket, PATH: path }, stdio: 'ignore' });
    child.unref();
    child.once('error', (error) => {
      isMissing = true;
      output.complain(`the service manager cannot be told (systemd-notify: ${error.message}); without it use Type=exec`);
    });
  };
  tell('READY=1', `MAINPID=${process.pid}`);
  onAbort(stop, () => tell('STOPPING=1'));
  const everyMs = Number(watchdogUs) / 2000;
  // Twice in the time that it allows: a process whose thread of the fold hangs says nothing, and is started anew.
  if (everyMs > 0) setInterval(() => tell('WATCHDOG=1'), everyMs).unref();
}
