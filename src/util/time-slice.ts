/**
 * How long work shares a thread: the one place where it is given away. Work that
 * is made in pieces takes a turn between two of them (`nextTurn`); work whose
 * pieces are short takes one whenever its slice of time is over (`TimeSlice`).
 * Requests of the server share their thread by turns among themselves, too
 * (`server/http/work/`); long computations are written as `Steps`, and whoever
 * runs them decides about turns.
 */

/** Lets signals, timers and everybody else's work run: without it, work that never waits would keep the event loop to itself. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class TimeSlice {
  private readonly sliceMs: number;
  private readonly others: () => Promise<void>;
  private began = performance.now();

  /** `others` resolves when the others have had their turn. */
  constructor(sliceMs: number, others: () => Promise<void> = nextTurn) {
    this.sliceMs = sliceMs;
    this.others = others;
  }

  get isOver(): boolean {
    return performance.now() - this.began >= this.sliceMs;
  }

  /** Waits for the others; then the next slice begins. */
  async turn(): Promise<void> {
    await this.others();
    this.began = performance.now();
  }
}
