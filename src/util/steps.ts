/**
 * Long work in small steps, so that whoever runs it can do something else
 * between two of them, or stop. The value comes with the last.
 */
export type Steps<T> = Generator<void, T, void>;

/** All of it at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
