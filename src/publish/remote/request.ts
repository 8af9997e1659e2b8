/** Something that was asked for: to be awaited, or looked at by whoever sleeps until it is there. */
export class Request<T> {
  readonly promise: Promise<T>;
  isSettled = false;
  onSettled: () => void = () => undefined;
  private outcome: { readonly value: T } | { readonly error: Error } | null = null;
  private readonly settle: { resolve(value: T): void; reject(error: Error): void };

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.promise = promise;
    this.settle = { resolve, reject };
    // Whoever asked may have gone on without it.
    promise.catch(() => undefined);
  }

  resolve(value: T): void {
    this.outcome = { value };
    this.settled();
    this.settle.resolve(value);
  }

  reject(error: Error): void {
    this.outcome = { error };
    this.settled();
    this.settle.reject(error);
  }

  /** Once it is settled. */
  value(): T {
    if (this.outcome === null) throw new Error('it is not there yet');
    if ('error' in this.outcome) throw this.outcome.error;
    return this.outcome.value;
  }

  private settled(): void {
    this.isSettled = true;
    this.onSettled();
  }
}
