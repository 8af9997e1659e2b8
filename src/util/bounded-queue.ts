/**
 * An ordered queue with a fixed size between one producer and one consumer.
 * Full means the producer waits: nothing is dropped and memory is bounded.
 */
export class BoundedQueue<T> {
  private readonly capacity: number;
  private readonly items: T[] = [];
  private ended = false;
  private wakeProducer: (() => void) | null = null;
  private wakeConsumer: (() => void) | null = null;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get length(): number {
    return this.items.length;
  }

  /** Waits until there is room. Returns false when the consumer has gone. */
  async push(item: T): Promise<boolean> {
    while (this.items.length >= this.capacity && !this.ended) {
      await new Promise<void>((resolve) => {
        this.wakeProducer = resolve;
      });
    }
    if (this.ended) return false;
    this.items.push(item);
    this.wake('consumer');
    return true;
  }

  /** What is waiting, oldest first, at most `max`; undefined when the queue has ended and is empty. */
  async take(max = this.capacity): Promise<readonly T[] | undefined> {
    while (this.items.length === 0) {
      if (this.ended) return undefined;
      await new Promise<void>((resolve) => {
        this.wakeConsumer = resolve;
      });
    }
    const taken = this.items.splice(0, max);
    this.wake('producer');
    return taken;
  }

  /** No more items; what is waiting can still be taken. */
  end(): void {
    this.ended = true;
    this.wake('producer');
    this.wake('consumer');
  }

  private wake(who: 'producer' | 'consumer'): void {
    const wake = who === 'producer' ? this.wakeProducer : this.wakeConsumer;
    if (who === 'producer') this.wakeProducer = null;
    else this.wakeConsumer = null;
    wake?.();
  }
}
