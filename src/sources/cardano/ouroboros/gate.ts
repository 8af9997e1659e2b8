/**
 * Where one waits until another says that something has changed. Opening a gate
 * nobody waits at is remembered, so that no change is missed.
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
