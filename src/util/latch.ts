/** Remembers that something has happened until somebody asks, and lets one reader wait for it. */
export class Latch {
  private isSet = false;
  private wake: (() => void) | null = null;

  set(): void {
    this.isSet = true;
    this.wake?.();
  }

  /** Whether it was set since it was taken last. */
  take(): boolean {
    const { isSet } = this;
    this.isSet = false;
    return isSet;
  }

  /** Resolves when it is set, at once if it is. It is not taken. */
  wait(): Promise<void> {
    if (this.isSet) return Promise.resolve();
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
