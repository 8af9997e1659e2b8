/** The thread in which the process that has a store open runs a command for another one. */
import { parentPort, workerData } from 'node:worker_threads';
import type { CommandReport, CommandThreadData } from '../../store/control/command-thread.ts';
import type { CommandOutput } from '../../store/control/protocol.ts';
import { assert } from '../../util/errors.ts';
import { failureOf } from '../../util/failure.ts';
import { HeldCommand } from './held-command.ts';

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;

async function run(): Promise<CommandOutput> {
  try {
    return await new HeldCommand(port, workerData as CommandThreadData).run();
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

port.postMessage({ kind: 'output', output: await run() } satisfies CommandReport);
// Whatever the command may still wait for must not keep the thread.
port.close();
process.exit();
