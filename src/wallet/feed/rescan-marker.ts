/**
 * Where a feed is whose wallets are being scanned anew: at no block, but in a
 * rescan from a height on. It stands in the place of the position from the moment
 * in which the wallets lose what they know of the blocks from there on, so that no
 * feed goes on as if nothing were missing, whenever the rescan is cut off.
 */
const MARKER = /^rescan:(\d{1,9})$/;

/** The blocks from `height` on are to be found anew. */
export function rescanMarker(height: number): string {
  return `rescan:${height}`;
}

/** From which height on; null: the position is one of a chain, or there is none. */
export function rescanHeight(position: string | null): number | null {
  const [, height] = MARKER.exec(position ?? '') ?? [];
  return height === undefined ? null : Number(height);
}
