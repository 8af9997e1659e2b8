/**
 * Where several nodes are given, one is followed, and now and then another is
 * asked for its headers. If they come to more work than the followed node has
 * shown, and it does not show as much soon after, the other one is followed: a
 * node that is stuck, or kept from the rest of the network, cannot hold us.
 */
import { UnspentError } from '../../../util/errors.ts';
import { P2P_ANSWER_MS, P2P_HEADERS_MAX } from '../../../util/limits.ts';
import { pause } from '../../../util/pause.ts';
import type { NodeAddress } from './address.ts';
import type { HeaderBranches } from './header-branches.ts';
import type { HeaderPath } from './header-path.ts';
import type { OpenLink } from './submission.ts';

const NONE = -1;
const NO_HASH = new Uint8Array(32);

export interface ComparisonOptions {
  readonly route: HeaderPath;
  /** Asked in this order, again and again. */
  readonly others: readonly NodeAddress[];
  readonly connect: (address: NodeAddress) => Promise<OpenLink>;
  /** Milliseconds from one look at another node to the next, and for the followed one to catch up. */
  readonly everyMs: number;
  readonly graceMs: number;
  readonly timeScale: number;
  readonly signal: AbortSignal;
}

/** The first node that is found to have more work than the followed one; null: none was, until the signal. */
export async function findBetter(options: ComparisonOptions): Promise<NodeAddress | null> {
  const { others, everyMs, signal } = options;
  for (let turn = 0; others.length > 0; turn++) {
    await pause(everyMs, { signal });
    if (signal.aborted) return null;
    const address = others[turn % others.length];
    if (await isBetter(address, options)) return address;
  }
  return null;
}

async function isBetter(address: NodeAddress, { route, connect, graceMs, timeScale, signal }: ComparisonOptions): Promise<boolean> {
  const { headers, lowestFork } = route.best();
  const { tree } = headers;
  const ours = tree.best;
  try {
    await addHeaders(headers, address, connect, timeScale, signal);
  } catch (error) {
    // Whatever is wrong with it, it is not the one that we follow.
    if (error instanceof UnspentError) return false;
    throw error;
  }
  if (tree.best === ours || tree.height(tree.fork(ours, tree.best)) < lowestFork) return false;
  await pause(graceMs, { signal });
  // Where the followed node has gone on meanwhile, the next look tells.
  const hasMoved = route.tree.find(tree.hash(tree.best)) !== NONE || route.tree.best !== route.tree.find(tree.hash(ours));
  return !signal.aborted && !hasMoved;
}

/** Adds the headers of that node, until they come to more work or end. Throws PROTOCOL, SOURCE_UNREACHABLE. */
async function addHeaders(
  headers: HeaderBranches,
  address: NodeAddress,
  connect: ComparisonOptions['connect'],
  timeScale: number,
  signal: AbortSignal,
): Promise<void> {
  const { link, messages } = await connect(address);
  const end = (why: string): void => link.fail(new UnspentError('SOURCE_UNREACHABLE', `${address.url}: ${why}`));
  const onAbort = (): void => end('stopped');
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => end('does not give its headers'), P2P_ANSWER_MS * timeScale);
  const ask = (since?: number): void => link.send({ kind: 'getheaders', locator: headers.locator(since), stop: NO_HASH });
  const ours = headers.tree.best;
  try {
    ask();
    for await (const message of messages) {
      if (message.kind === 'ping') link.send({ kind: 'pong', nonce: message.nonce });
      if (message.kind !== 'headers') continue;
      if (message.headers.length === 0 || !headers.links(message.headers[0])) return;
      const last = headers.take(message.headers);
      if (headers.tree.best !== ours || message.headers.length < P2P_HEADERS_MAX) return;
      ask(last);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    end('compared');
  }
}
