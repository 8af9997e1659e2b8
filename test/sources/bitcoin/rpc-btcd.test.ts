/**
 * A node's RPC as btcd has it: over TLS with a certificate that signs itself,
 * without some of Core's methods, and with another code for a height that does
 * not exist.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { openNetwork } from '../../../src/families/networks.ts';
import { openNetworkSource } from '../../../src/families/open-source.ts';
import { RpcClient } from '../../../src/sources/bitcoin/rpc/client.ts';
import { openRpc } from '../../../src/sources/bitcoin/rpc/index.ts';
import { nodeSetInfo } from '../../../src/sources/bitcoin/rpc/set-info.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { type Certificate, makeCertificate } from '../../support/certificate.ts';
import { Reader } from './p2p-reader.ts';
import { hashOf } from './pump.ts';
import { FakeError, FakeNode, noMethod } from './rpc-fake.ts';

describe('a node such as btcd, over RPC', () => {
  let certificate: Certificate;
  let node: FakeNode;

  before(() => {
    certificate = makeCertificate();
  });
  after(() => certificate.remove());

  beforeEach(async () => {
    node = new FakeNode({ cert: readFileSync(certificate.tlsCert), key: readFileSync(certificate.tlsKey) });
    node.answers.set('getnetworkinfo', noMethod);
    node.answers.set('getblockhash', ([height]) => {
      const block = node.chain[height as number];
      if (block === undefined) throw new FakeError(-1, 'Block number out of range');
      return hashOf(block);
    });
    await node.start();
  });
  afterEach(() => node.stop());

  test('is followed over TLS, without a version', async () => {
    const versions = new Set<string | null>();
    const url = `${node.url}?cert=${certificate.tlsCert}`;
    const network = openNetwork(regtest.name, null);
    const reader = new Reader(regtest);
    await reader.sync(openNetworkSource(url, network, { onPeer: ({ version }) => versions.add(version) }));
    assert.equal(reader.fold.head?.height, 10);
    assert.ok(versions.has('RPC'), [...versions].join());
    node.chain = node.chain.slice(0, 8);
    await assert.doesNotReject(reader.sync(openRpc(url, regtest)));
  });

  test('is not trusted without its certificate, and says what to do', async () => {
    const client = new RpcClient(node.url, regtest);
    await assert.rejects(client.call('getbestblockhash'), { code: 'SOURCE_UNREACHABLE', message: /not trusted .*\?cert=FILE/ });
    const lost = new RpcClient(`${node.url}?cert=/nowhere/rpc.cert`, regtest);
    await assert.rejects(lost.call('getbestblockhash'), {
      code: 'SOURCE_UNREACHABLE',
      message: /certificate \/nowhere\/rpc.cert cannot be read/,
    });
    assert.deepEqual(node.requests, [], 'nothing was said to it, no password either');
  });

  test('is told apart from one that speaks plain HTTP', async () => {
    const plain = await new FakeNode().start();
    const client = new RpcClient(plain.url.replace('rpc:', 'rpcs:'), regtest);
    await assert.rejects(client.call('getbestblockhash'), { code: 'SOURCE_UNREACHABLE', message: /does not speak TLS: write rpc:/ });
    await plain.stop();
  });

  test('has no set to compare with, and that is said', async () => {
    const client = new RpcClient(`${node.url}?cert=${certificate.tlsCert}`, regtest);
    node.answers.set('gettxoutsetinfo', noMethod);
    await assert.rejects(nodeSetInfo(client), { code: 'UNSUPPORTED', message: /has no gettxoutsetinfo/ });
    client.close();
  });
});
