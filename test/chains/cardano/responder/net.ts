/**
 * A devnet that is served, and stores that follow it: what the tests of the
 * responder share. All of it goes away with the test.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { LiveDevnet, type LiveOptions } from '../../../../src/chains/cardano/devnet/live.ts';
import { type Responder, type ServedChain, serveChain } from '../../../../src/chains/cardano/responder/index.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { type OuroborosSource, openOuroboros } from '../../../../src/sources/cardano/ouroboros/index.ts';
import type { FollowResult } from '../../../../src/sources/follow.ts';
import { type OpenStore, openStore } from '../../../../src/store/store.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import type { UnspentError } from '../../../../src/util/errors.ts';
import { type Faults, wiringWith } from '../../../support/faults.ts';
import { until } from '../../../support/patience.ts';

export type Wire = 'n2n' | 'n2c';
export const WIRES: readonly Wire[] = ['n2n', 'n2c'];

/** Small, and with little in each block: what is tested is the way, not the cargo. */
export const SMALL: LiveOptions = { seed: 11, addresses: 3, txPerBlock: 1 };

const undoings = new WeakMap<TestContext, (() => unknown)[]>();

/** Undone when the test ends, the last first: a store is closed before its folder goes. */
export function later(t: TestContext, undo: () => unknown): void {
  const known = undoings.get(t);
  const list = known ?? [];
  list.push(undo);
  if (known !== undefined) return;
  undoings.set(t, list);
  t.after(async () => {
    for (let undo = list.pop(); undo !== undefined; undo = list.pop()) await undo();
  });
}

export function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'unspent-net-'));
  later(t, () => rmSync(path, { recursive: true, force: true }));
  return path;
}

export interface Net {
  readonly devnet: LiveDevnet;
  readonly responder: Responder;
  readonly data: string;
  url(wire: Wire): string;
}

export async function serveDevnet(
  t: TestContext,
  blocks: number,
  faults?: Faults,
  options: LiveOptions = SMALL,
  onEnd?: (why: UnspentError | null) => void,
): Promise<Net> {
  const devnet = new LiveDevnet(options);
  if (blocks > 0) devnet.mine(blocks);
  return { devnet, ...(await serveFor(t, devnet, faults, onEnd)) };
}

export async function serveFor(
  t: TestContext,
  chain: ServedChain,
  faults?: Faults,
  onEnd?: (why: UnspentError | null) => void,
): Promise<Omit<Net, 'devnet'>> {
  const data = folder(t);
  const socket = join(data, 'socket');
  const responder = await serveChain(chain, {
    port: 0,
    socket,
    ...(faults ? { wiring: wiringWith(faults) } : {}),
    onDisconnect: (_, why) => onEnd?.(why),
  });
  later(t, async () => {
    await responder.close();
    await chain.close();
  });
  return { responder, data, url: (wire) => (wire === 'n2n' ? `n2n://127.0.0.1:${responder.port}` : `n2c:${socket}`) };
}

/** `set`: settings, as `KEY=VALUE`. */
export async function openFollower(
  t: TestContext,
  data: string,
  name: string,
  { genesis }: Pick<LiveDevnet, 'genesis'>,
  set: readonly string[] = [],
): Promise<OpenStore> {
  const { config } = loadConfig({ flags: { set: [...set] } });
  const store = await openStore({ data: join(data, name), network: 'devnet', genesis, config });
  later(t, () => store.close());
  return store;
}

/** Comes back fast after a loss; a test does not want to wait for manners. */
export function source(url: string | readonly string[], { network }: ServedChain, attempts = 5): OuroborosSource {
  const { magic, byronEpochSlots } = network;
  return openOuroboros(typeof url === 'string' ? [url] : url, { magic, byronEpochSlots, reconnectMs: [5, 40], attempts });
}

export interface Following {
  readonly source: OuroborosSource;
  /** Resolves when it has stopped; rejects with what stopped it. */
  readonly ended: Promise<FollowResult>;
  stop(): Promise<FollowResult>;
}

export function follow(store: OpenStore, from: OuroborosSource): Following {
  const quit = new AbortController();
  const ended = store.follow(from, { follow: true, signal: quit.signal });
  // Awaited later, or in `stop`; until then a failure is not an unhandled one.
  ended.catch(() => {});
  return {
    source: from,
    ended,
    stop() {
      quit.abort();
      return ended;
    },
  };
}

export function isAtTip(store: OpenStore, { tip }: ServedChain): boolean {
  return toHex(store.fold.head?.hash ?? new Uint8Array()) === toHex(tip.point?.hash ?? new Uint8Array());
}

/** Waits for the follower to be where the devnet is; throws what has stopped it, if anything has. */
export async function settled(store: OpenStore, devnet: LiveDevnet, { ended }: Following): Promise<void> {
  let hasEnded = false;
  const note = (): void => {
    hasEnded = true;
  };
  ended.then(note, note);
  await until(() => hasEnded || isAtTip(store, devnet), 'the follower at the tip');
  if (!hasEnded) return;
  await ended;
  assert.fail('the follower has stopped');
}

/** Count, value and digest are those of the devnet's own account. */
export function assertSame(store: OpenStore, devnet: LiveDevnet, when = ''): void {
  const { utxos, digest } = store.digest();
  assert.deepEqual({ utxos, digest }, { utxos: devnet.utxos.size, digest: devnet.digest() }, when);
}

export function assertNothingHeld({ devnet, responder }: Pick<Net, 'devnet' | 'responder'>): void {
  assert.equal(responder.clients, 0);
  assert.deepEqual(devnet.held, { readers: 0, listeners: 0, views: 0 });
}
