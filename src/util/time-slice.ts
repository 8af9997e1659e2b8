/**
 * Long work on a thread that others use too. Whoever works asks between two
 * steps whether its slice is over, and if so takes a turn: it waits until the
 * others have had theirs, and begins the next slice.
 */
export class TimeSlice {
  private readonly sliceMs: number;
  private readonly others: () => Promise<unknown>;
  private began = performance.now();

  /** `others` resolves when the others have had their turn. */
  constructor(sliceMs: number, others: () => Promise<unknown>) {
    this.sliceMs = sliceMs;
    this.others = others;
  }

  get isOver(): boolean {
    return performance.now() - this.began >= this.sliceMs;
  }

  async turn(): Promise<void> {
    await this.others();
    this.began = performance.now();
  }
}
