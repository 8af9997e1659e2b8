/**
 * A signal for one waiter: `wait` resolves after the next `open`. If `open`
 * comes first it is remembered, so that no change is missed.
 */
export class Gate {
  private waiter: (() => void) | null = null;
  private isOpen = false;

  wait(): Promise<void> {
    if (this.isOpen) {
      this.isOpen = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.waiter = resolve;
    });
  }

  open(): void {
    const { waiter } = this;
    if (waiter === null) {
      this.isOpen = true;
      return;
    }
    this.waiter = null;
    waiter();
  }
}
