/**
 * Several nodes of one chain: one is followed, and left for another that has
 * more work; those that have less, lie or say nothing are passed over.
 */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { type P2pServer, serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { openP2p, type P2pOptions } from '../../../src/sources/bitcoin/p2p/index.ts';
import type { NodeSource } from '../../../src/sources/peer.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { TestChain } from './p2p-chain.ts';
import { Reader, until } from './p2p-reader.ts';
import { ScriptedNode } from './p2p-scripted.ts';

const QUICK: P2pOptions = { reconnectMs: [1, 20], timeScale: 0.2, compareMs: [20, 20] };

const open: { close(): Promise<void> }[] = [];
const readers: Reader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.end();
  for (const one of open.splice(0)) await one.close();
});

async function served(chain: TestChain): Promise<P2pServer> {
  const server = await serveP2p(chain, { port: 0 });
  open.push(server);
  return server;
}

function sourceOf(...nodes: readonly { readonly port: number }[]): NodeSource {
  return openP2p([`p2p://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`], regtest, QUICK);
}

function reading(window?: number): Reader {
  const reader = new Reader(regtest, window);
  readers.push(reader);
  return reader;
}

/** Another chain with the first blocks of that one. */
function copyOf(chain: TestChain, height = chain.height): TestChain {
  const copy = new TestChain();
  for (const { raw } of chain.best.slice(1, height + 1)) copy.adopt(raw);
  return copy;
}

const urlOf = ({ port }: { readonly port: number }): string => `p2p://127.0.0.1:${port}`;

/** A node that has nothing to give and counts how often it is asked. */
async function counter(): Promise<{ readonly port: number; readonly asked: () => number }> {
  let asked = 0;
  const node = await ScriptedNode.open(regtest, 0, ({ kind }, link) => {
    if (kind !== 'getheaders') return;
    asked++;
    link.send({ kind: 'headers', headers: [] });
  });
  open.push(node);
  return { port: node.port, asked: () => asked };
}

describe('several nodes', () => {
  it('a node that is stuck is left for one that went on', async () => {
    const stuck = new TestChain(60);
    const alive = copyOf(stuck);
    const [first, second] = [await served(stuck), await served(alive)];
    const source = sourceOf(first, second);
    const reader = reading();
    reader.start(source);
    await reader.reach(stuck.tip.hash);
    alive.mine(5);
    await reader.reach(alive.tip.hash);
    const { peer, lastError } = source.status();
    assert.deepEqual([peer, lastError?.message], [urlOf(second), `${urlOf(first)} has less work than ${urlOf(second)}`]);
    assert.equal(reader.rollbacks, 0);
  });

  it('one on a branch that lost is left for one on the branch that won', async () => {
    const chain = new TestChain(60);
    const other = copyOf(chain, 50);
    const [first, second] = [await served(chain), await served(other)];
    const source = sourceOf(first, second);
    const reader = reading();
    reader.start(source);
    await reader.reach(chain.tip.hash);
    other.ballastBytes = 1;
    other.mine(11);
    await reader.reach(other.tip.hash);
    assert.deepEqual([reader.rollbacks, source.status().peer], [1, urlOf(second)]);
  });

  it('one with as much work, less, or none is no reason to leave; nor one whose branch is too deep', async () => {
    const chain = new TestChain(60);
    const side = copyOf(chain, 55);
    side.ballastBytes = 1;
    side.mine(5);
    const deep = copyOf(chain, 20);
    deep.ballastBytes = 1;
    deep.mine(60);
    const last = await counter();
    const first = await served(chain);
    const source = sourceOf(first, await served(side), await served(copyOf(chain, 30)), await served(deep), last);
    const reader = reading(10);
    reader.start(source);
    await reader.reach(chain.tip.hash);
    await until(() => last.asked() >= 3);
    assert.deepEqual([source.status().lost, source.status().peer, reader.rollbacks], [0, urlOf(first), 0]);
    chain.mine(1);
    await reader.reach(chain.tip.hash);
  });

  it('one that cannot be reached, or breaks the protocol, is no reason either', async () => {
    const chain = new TestChain(30);
    const gone = await serveP2p(new TestChain(), { port: 0 });
    await gone.close();
    const liar = await ScriptedNode.open(regtest, 31, ({ kind }, link) => {
      if (kind === 'getheaders') link.send({ kind: 'headers', headers: [new Uint8Array(80), chain.best[3].raw.subarray(0, 80)] });
    });
    const bad = await ScriptedNode.open(regtest, 31, ({ kind }, link) => {
      const raw = Uint8Array.from(chain.best[30].raw.subarray(0, 80));
      raw[72] = 0;
      if (kind === 'getheaders') link.send({ kind: 'headers', headers: [raw] });
    });
    open.push(liar, bad);
    const last = await counter();
    const first = await served(chain);
    const source = sourceOf(first, gone, liar, bad, last);
    const reader = reading();
    reader.start(source);
    await reader.reach(chain.tip.hash);
    await until(() => last.asked() >= 2 && liar.connections >= 2 && bad.connections >= 2);
    assert.deepEqual([source.status().lost, source.status().peer], [0, urlOf(first)]);
    assert.equal(reader.tip, toHex(chain.tip.hash));
  });
});
