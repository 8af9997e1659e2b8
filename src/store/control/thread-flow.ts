/**
 * Two numbers that the thread of a command and the one that sends its output
 * share: whether the command shall stop, and how much of its output is not sent
 * yet. A command that writes faster than its reader reads waits here, in its own
 * thread; one that computes and never waits sees here that nobody wants it any
 * more.
 */
import { CONTROL_WAITING_BYTES_MAX } from '../../util/limits.ts';
import type { CommandOutput } from './protocol.ts';

const STOPPED = 0;
const WAITING = 1;

export class ThreadFlow {
  static readonly BYTES = 2 * Int32Array.BYTES_PER_ELEMENT;
  readonly memory: SharedArrayBuffer;
  private readonly cells: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.cells = new Int32Array(memory);
  }

  get isStopped(): boolean {
    return Atomics.load(this.cells, STOPPED) === 1;
  }

  stop(): void {
    Atomics.store(this.cells, STOPPED, 1);
    // The number must change, too: a command that has looked and is about to wait would not hear of it.
    Atomics.add(this.cells, WAITING, 1);
    Atomics.notify(this.cells, WAITING);
  }

  /** Before it is sent, in the thread of the command: waits for the reader, unless the command is to stop. */
  begin(output: CommandOutput): void {
    for (let waiting = this.waiting; waiting > CONTROL_WAITING_BYTES_MAX && !this.isStopped; waiting = this.waiting)
      Atomics.wait(this.cells, WAITING, waiting);
    Atomics.add(this.cells, WAITING, sizeOf(output));
  }

  private get waiting(): number {
    return Atomics.load(this.cells, WAITING);
  }

  /** When it is on its way to the reader. */
  sent(output: CommandOutput): void {
    Atomics.sub(this.cells, WAITING, sizeOf(output));
    Atomics.notify(this.cells, WAITING);
  }
}

function sizeOf(output: CommandOutput): number {
  if ('out' in output) return output.out.length;
  return 'err' in output ? output.err.length : 0;
}
