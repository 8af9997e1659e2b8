/**
 * Reads one item ahead: the next slab is read from the disk while the present
 * one is folded. An error is thrown after the items before it.
 */

/** `stop` ends a wait inside `items`; it is called when the reader leaves before the end. */
export async function* readAhead<T>(items: AsyncGenerator<T, void, undefined>, stop: () => void): AsyncGenerator<T, void, undefined> {
  const pull = (): Promise<IteratorResult<T, void>> => {
    const pulled = items.next();
    // It is awaited later, or never; until then a failure is not an unhandled one.
    pulled.catch(() => {});
    return pulled;
  };
  let next = pull();
  try {
    for (let item = await next; !item.done; item = await next) {
      next = pull();
      yield item.value;
    }
  } finally {
    stop();
    await next.catch(() => {});
    await items.return();
  }
}
