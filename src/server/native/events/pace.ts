/**
 * Work on events in slices, so that whoever shares the thread gets his turn. A
 * replay works between the waits for its reader, so it asks for a whole slice.
 */
import type { Task } from '../../http/work/task.ts';

export class Pace {
  private readonly task: Task;
  private readonly sliceMs: number;
  private began = performance.now();

  constructor(task: Task, sliceMs: number) {
    this.task = task;
    this.sliceMs = sliceMs;
  }

  /** True when it is somebody else's turn. */
  get isOver(): boolean {
    return performance.now() - this.began >= this.sliceMs;
  }

  async turn(): Promise<void> {
    await this.task.turn();
    this.began = performance.now();
  }
}
