/**
 * Work in slices, so that whoever shares the thread gets his turn. Those who
 * work share one queue: between two slices, whoever's they are, the loop goes
 * round once, so that a hundred replays hold a request up no longer than one.
 */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.last = this.last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.last;
  }
}

export class Pace {
  private readonly turns: Turns;
  private readonly sliceMs: number;
  private began = performance.now();

  constructor(turns: Turns, sliceMs: number) {
    this.turns = turns;
    this.sliceMs = sliceMs;
  }

  /** True when it is somebody else's turn. */
  get isOver(): boolean {
    return performance.now() - this.began >= this.sliceMs;
  }

  async turn(): Promise<void> {
    await this.turns.next();
    this.began = performance.now();
  }
}
