/** Whether a process of this machine is alive. */

export function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // One that we may not signal is alive too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
