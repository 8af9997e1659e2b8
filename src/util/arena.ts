/**
 * Memory for the bytes of one step: slabs that are filled, forgotten all at
 * once and filled again. Nothing in it outlives the step.
 */
const SLAB_BYTES = 1 << 20;

export class Arena {
  private readonly slabs: Uint8Array[] = [];
  private current = -1;
  /** The slab that the last `take` was served from, and where. */
  slab: Uint8Array = new Uint8Array(0);
  private used = 0;

  /** Reserves `length` bytes in `slab`; returns where they begin. */
  take(length: number): number {
    if (this.used + length > this.slab.length) this.nextSlab(length);
    const at = this.used;
    this.used = at + length;
    return at;
  }

  private nextSlab(length: number): void {
    if (length > SLAB_BYTES) {
      // An oversized item gets a slab of its own, not kept.
      this.slab = new Uint8Array(length);
    } else {
      this.current++;
      if (this.current === this.slabs.length) this.slabs.push(new Uint8Array(SLAB_BYTES));
      this.slab = this.slabs[this.current];
    }
    this.used = 0;
  }

  reset(): void {
    this.current = -1;
    this.slab = new Uint8Array(0);
    this.used = 0;
  }
}
