/**
 * Two pieces of work at a time that need each other: when one fails, the other
 * is told to stop, and what failed first is thrown when both have ended.
 */
export async function runBoth<A, B>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<A>,
  other: (signal: AbortSignal) => Promise<B>,
): Promise<[A, B]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let failure: { readonly error: unknown } | null = null;
  const watched = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      failure ??= { error };
      stop.abort();
      throw error;
    }
  };
  const [first, second] = await Promise.allSettled([watched(one(either)), watched(other(either))]);
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value];
  throw failure!.error;
}
