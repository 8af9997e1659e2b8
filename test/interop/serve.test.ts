/**
 * A real `bitcoind` that follows our own regtest chain over P2P: it checks every
 * block by its own rules, through blocks that come many at once, through forks
 * and with transactions that wait, and comes to the same set.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RegtestDevnet } from '../../src/chains/bitcoin/regtest/index.ts';
import { type P2pServer, serveP2p } from '../../src/chains/bitcoin/responder/index.ts';
import { formatId } from '../../src/ledgers/bitcoin/index.ts';
import { type CoreNode, startNode } from '../support/core-node.ts';
import { BITCOIND, nodeMissing } from '../support/node-kinds.ts';
import { until } from '../support/patience.ts';

const options = { skip: nodeMissing(BITCOIND) };

describe('bitcoind follows our regtest chain', () => {
  const devnet = new RegtestDevnet({ seed: 34 });
  /** How connections ended. Core tries its encrypted transport (BIP324) first, which we do not speak, and comes again at once without it. */
  const ends: string[] = [];
  let server: P2pServer;
  let node: CoreNode;

  before(async () => {
    if (options.skip) return;
    devnet.mine(600);
    server = await serveP2p(devnet, { port: 0, onDisconnect: ({ message }) => ends.push(message) });
    node = await startNode({ kind: BITCOIND, args: [`-connect=127.0.0.1:${server.port}`] });
  });

  after(async () => {
    await node?.stop();
    await server?.close();
    await devnet.close();
  });

  async function assertSame(): Promise<void> {
    const tip = formatId(devnet.tip.hash);
    await until(async () => (await node.rpc('getbestblockhash')) === tip, `it has block ${devnet.height}`);
    const { bestblock, txouts } = await node.rpc('gettxoutsetinfo', 'none');
    assert.deepEqual([bestblock, txouts], [tip, devnet.utxos.size]);
    assert.ok(ends.length <= 1 && server.clients === 1, `it is still connected: ${ends}`);
  }

  test('from the first block', options, assertSame);

  for (const blocks of [1, 5, 40]) {
    test(`${blocks} at once`, options, async () => {
      devnet.mine(blocks);
      await assertSame();
    });
  }

  for (const depth of [1, 6, 30]) {
    test(`through a fork of ${depth}`, options, async () => {
      devnet.fork(depth);
      await assertSame();
    });
  }
});
