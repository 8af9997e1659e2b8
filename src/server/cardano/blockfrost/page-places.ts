/**
 * Where pages end. A numbered page is found by passing over the rows before it,
 * so a client that reads all pages of a long list would cost the square of its
 * length. The place at which each page ended is remembered, for as long as the
 * store is at the same block, and the next page begins there.
 */
import { UnspentError } from '../../../util/errors.ts';
import { HTTP_SKIPPED_ROWS_MAX, PAGE_PLACES_MAX } from '../../../util/limits.ts';
import type { NumberedPage } from './page.ts';

/** From where to read, and how many rows to pass over there. */
export interface PageStart<Place> {
  /** Undefined: from the first row. */
  readonly after: Place | undefined;
  readonly skip: number;
}

/** `Place` is how rows say where they stand. */
export class PagePlaces<Place extends object> {
  /** By list, and in it by how many rows there are up to the place. */
  private readonly lists = new Map<string, Map<number, Place>>();
  private count = 0;

  /** `list` names the rows, their order and their block. Throws LIMIT for a page far behind all that were read. */
  find(list: string, { skip }: NumberedPage): PageStart<Place> {
    let start: PageStart<Place> = { after: undefined, skip };
    for (const [rows, after] of this.lists.get(list) ?? [])
      if (rows <= skip && skip - rows < start.skip) start = { after, skip: skip - rows };
    if (start.skip <= HTTP_SKIPPED_ROWS_MAX) return start;
    const message = `page passes over ${start.skip} rows, at most ${HTTP_SKIPPED_ROWS_MAX} are; read the pages before it first`;
    throw new UnspentError('LIMIT', message, { field: 'page', limit: HTTP_SKIPPED_ROWS_MAX });
  }

  /** The last of the first `rows` rows stands there. */
  remember(list: string, rows: number, place: Place): void {
    const places = this.lists.get(list) ?? new Map<number, Place>();
    if (places.has(rows)) return;
    this.lists.set(list, places.set(rows, place));
    this.count++;
    while (this.count > PAGE_PLACES_MAX) this.forgetOldest();
  }

  private forgetOldest(): void {
    const [[list, places]] = this.lists;
    this.lists.delete(list);
    this.count -= places.size;
  }
}
