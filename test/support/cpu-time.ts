/**
 * How much this thread has computed. Unlike the clock on the wall it stands
 * still while other programs have the processor, so a limit on it says the same
 * on an idle machine and on a busy one.
 */

/** Milliseconds of processor time that `body` took in this thread, with its result. */
export function cpuTimed<T>(body: () => T): [result: T, ms: number] {
  const before = process.threadCpuUsage();
  const result = body();
  const { user, system } = process.threadCpuUsage(before);
  return [result, (user + system) / 1000];
}
