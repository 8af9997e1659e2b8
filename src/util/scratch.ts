/**
 * One buffer, seen through views of every length. Handing the engine a fresh
 * view per key costs as much as the write itself; a cached view of the right
 * length over the same bytes costs nothing (docs/internals/speed.md).
 */
export class Scratch {
  bytes: Uint8Array;
  private readonly views: Uint8Array[] = [];

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** The first `length` bytes, as a view that is made once per length. */
  view(length: number): Uint8Array {
    const view = this.views[length];
    if (view !== undefined) return view;
    return this.newView(length);
  }

  private newView(length: number): Uint8Array {
    this.need(length);
    const view = this.bytes.subarray(0, length);
    // Rare long values are not worth remembering.
    if (length <= VIEW_BYTES_MAX) this.views[length] = view;
    return view;
  }

  /** Makes room for `length` bytes; what was written before is lost when it grows. */
  need(length: number): void {
    if (length <= this.bytes.length) return;
    this.bytes = new Uint8Array(Math.max(length, 2 * this.bytes.length));
    this.views.length = 0;
  }
}

const VIEW_BYTES_MAX = 4096;
