/** Pages of answers. */
import { refusal } from '../rules/failures.ts';
import type { Page } from '../store.ts';

/** Throws INVALID_PARAM. */
export function checkPage(page: Page<unknown> | undefined): void {
  if (page !== undefined && !(Number.isInteger(page.limit) && page.limit >= 1))
    throw refusal.invalid(`a page cannot have ${page.limit} rows`);
}
