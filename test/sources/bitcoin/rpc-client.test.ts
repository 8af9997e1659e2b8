/**
 * The RPC client alone: addresses, cookies, batches, and answers that are late,
 * long, cut off or no answers at all.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { parseRpcAddress } from '../../../src/sources/bitcoin/rpc/address.ts';
import { RpcClient, RpcError } from '../../../src/sources/bitcoin/rpc/client.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { hashOf } from './pump.ts';
import { FakeError, FakeNode } from './rpc-fake.ts';

const scratch = mkdtempSync(join(tmpdir(), 'unspent-cookie-'));
after(() => rmSync(scratch, { recursive: true }));

let node: FakeNode;
let client: RpcClient;
beforeEach(async () => {
  node = await new FakeNode().start();
  client = new RpcClient(node.url, regtest);
});
afterEach(async () => {
  client.close();
  await node.stop();
});

describe('rpc address', () => {
  test('in its forms', () => {
    const of = (url: string) => parseRpcAddress(url, regtest);
    assert.deepEqual(of('rpc://a:b%2Fc%40d%25@node.example:18443'), {
      name: 'rpc://node.example:18443',
      host: 'node.example',
      port: 18443,
      tls: null,
      access: { kind: 'password', pair: 'a:b/c@d%' },
    });
    assert.deepEqual(of('rpc://[::1]:99?cookie=/x/.cookie'), {
      name: 'rpc://[::1]:99',
      host: '::1',
      port: 99,
      tls: null,
      access: { kind: 'cookie', path: '/x/.cookie' },
    });
    assert.deepEqual(of('rpcs://a:b@h:8334?cert=/x/rpc.cert'), {
      name: 'rpcs://h:8334',
      host: 'h',
      port: 8334,
      tls: { cert: '/x/rpc.cert' },
      access: { kind: 'password', pair: 'a:b' },
    });
    assert.deepEqual(of('rpcs://a:b@h:8334').tls, { cert: null });
    const { port, access } = of('rpc://localhost');
    assert.equal(port, 18443);
    assert.match(access.kind === 'cookie' ? access.path : '', /regtest.\.cookie$/);
  });

  test('what is none is refused without repeating it', () => {
    for (const url of [
      'rpc:',
      'rpc://',
      'http://u:secret@h:1',
      'rpc://u:secret/x@h:1',
      'rpc://u:secret@h:99999',
      'rpc://u:secret@h:1/path',
      'rpc://u:secret@h:1#x',
    ])
      assert.throws(
        () => parseRpcAddress(url, regtest),
        (error: Error & { code: string }) => error.code === 'USAGE' && !error.message.includes('secret'),
        url,
      );
    assert.throws(() => parseRpcAddress('rpc://h:1?coockie=/x', regtest), { code: 'USAGE', message: /unknown setting 'coockie'/ });
    assert.throws(() => parseRpcAddress('rpc://u:p@h:1?cert=/x', regtest), { code: 'USAGE', message: /write rpcs:/ });
    assert.throws(() => parseRpcAddress('rpc://u:p@h:1?cookie=/x', regtest), { code: 'USAGE', message: /not both/ });
    assert.throws(() => parseRpcAddress('rpc://u:p%zz@h:1', regtest), { code: 'USAGE', message: /%25/ });
  });
});

describe('rpc client: cookies', () => {
  test('are read from the file, and again when the node has a new one', async () => {
    const path = join(scratch, '.cookie');
    const withCookie = new RpcClient(`${node.name}?cookie=${path}`, regtest);
    await assert.rejects(withCookie.call('getbestblockhash'), {
      code: 'SOURCE_UNREACHABLE',
      message: /\.cookie is not there \(is the node running\?\)/,
    });
    node.password = '__cookie__:1234';
    writeFileSync(path, '__cookie__:1234\n');
    assert.equal(await withCookie.call('getbestblockhash'), hashOf(node.chain[10]));
    node.password = '__cookie__:5678';
    await assert.rejects(withCookie.call('getbestblockhash'), {
      code: 'SOURCE_UNREACHABLE',
      message: /does not take the cookie in .*is it of this node/,
    });
    writeFileSync(path, '__cookie__:5678');
    assert.equal(await withCookie.call('getbestblockhash'), hashOf(node.chain[10]));
    node.password = '__cookie__:90';
    writeFileSync(path, '__cookie__:90');
    assert.equal(await withCookie.call('getbestblockhash'), hashOf(node.chain[10]));
    withCookie.close();
  });
});

describe('rpc client: calls', () => {
  test('what the node says no to has its code and words', async () => {
    await assert.rejects(client.call('getblockhash', [99]), (error: RpcError) => {
      assert.ok(error instanceof RpcError);
      assert.deepEqual([error.code, error.nodeCode, error.nodeMessage], ['PROTOCOL', -8, 'Block height out of range']);
      return true;
    });
  });

  test('a batch keeps the order of its calls, whatever that of the answers', async () => {
    const calls = [3, 99, 0].map((height) => ({ method: 'getblockhash', params: [height] }));
    const [three, none, zero] = await client.batch([...calls]);
    assert.deepEqual([three, zero], [hashOf(node.chain[3]), hashOf(node.chain[0])]);
    assert.ok(none instanceof RpcError && none.nodeCode === -8);
    assert.deepEqual(await client.batch([]), []);
  });

  test('one that is loading in a batch is waited for', async () => {
    let left = 2;
    node.answers.set('getbestblockhash', () => {
      if (left-- > 0) throw new FakeError(-28, 'Loading block index...');
      return 'x';
    });
    assert.deepEqual(await client.batch([{ method: 'getbestblockhash' }]), ['x']);
  });

  test('one that is loading is not waited for longer than asked', async () => {
    node.answers.set('sendrawtransaction', () => {
      throw new FakeError(-28, 'Loading block index...');
    });
    await assert.rejects(client.call('sendrawtransaction', ['00'], { loadingMs: 0 }), {
      code: 'SOURCE_UNREACHABLE',
      message: /still loading/,
    });
    assert.equal(node.requests.length, 1);
  });

  test('connections are kept, and one that the node closed meanwhile costs nothing', async () => {
    for (let i = 0; i < 5; i++) await client.call('getbestblockhash');
    assert.equal(node.connections, 1);
    node.dropAll();
    assert.equal(await client.call('getbestblockhash'), hashOf(node.chain[10]));
  });
});

describe('rpc client: answers that are none', () => {
  const answering = (body: (response: ServerResponse) => void): void => {
    node.fault = (_calls, response) => {
      body(response);
      return true;
    };
  };
  const calls = [{ method: 'getbestblockhash' }, { method: 'getnetworkinfo' }];

  test('to a single call', async () => {
    const cases: readonly (readonly [number, string, string, RegExp])[] = [
      [200, '', 'PROTOCOL', /HTTP status 200 and nothing: is that a node's RPC/],
      [200, '<html>hello</html>', 'PROTOCOL', /<html>hello/],
      [404, 'Not Found', 'PROTOCOL', /HTTP status 404/],
      [302, '', 'PROTOCOL', /HTTP status 302/],
      [200, '{"result":', 'PROTOCOL', /answers with/],
      [200, '7', 'PROTOCOL', /no result/],
      [200, 'null', 'PROTOCOL', /no result/],
      [200, '{}', 'PROTOCOL', /no result/],
      [500, '{"error":{"message":"x"}}', 'PROTOCOL', /without a code/],
      [503, 'Work queue depth exceeded', 'SOURCE_UNREACHABLE', /too busy: Work queue depth exceeded/],
      [403, '', 'SOURCE_UNREACHABLE', /rpcallowip/],
    ];
    for (const [status, body, code, message] of cases) {
      answering((response) => response.writeHead(status).end(body));
      await assert.rejects(client.call('getbestblockhash'), { code, message }, body);
    }
  });

  test('to a batch', async () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [[{ id: 0, result: 1 }], /1 results to 2 calls/],
      [
        [
          { id: 0, result: 1 },
          { id: 0, result: 1 },
        ],
        /not made/,
      ],
      [
        [
          { id: 0, result: 1 },
          { id: 2, result: 1 },
        ],
        /not made/,
      ],
      [
        [
          { id: 0, result: 1 },
          { id: '1', result: 1 },
        ],
        /not made/,
      ],
      [[{ id: 0, result: 1 }, null], /not made/],
      [[{ id: 0, result: 1 }, { id: 1 }], /no result of getnetworkinfo/],
      [{ id: null, result: 5 }, /a single result to a batch/],
      [{ id: null, error: { code: -32700, message: 'Parse error' } }, /'Parse error' \(-32700\)/],
    ];
    for (const [body, message] of cases) {
      answering((response) => response.end(JSON.stringify(body)));
      await assert.rejects(client.batch(calls), { code: 'PROTOCOL', message }, JSON.stringify(body));
    }
  });

  test('cut off in the middle', async () => {
    answering((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"result"');
      setTimeout(() => response.destroy(), 20);
    });
    await assert.rejects(client.call('getbestblockhash'), { code: 'SOURCE_UNREACHABLE', message: /ended inside an answer/ });
  });

  test('longer than allowed, without reading it to the end', async () => {
    let isOpen = true;
    answering((response) => {
      response.on('close', () => (isOpen = false));
      const more = (): void => {
        while (isOpen && response.write(Buffer.alloc(65_536, 0x20)));
        if (isOpen) response.once('drain', more);
      };
      more();
    });
    await assert.rejects(client.call('getbestblockhash', [], { answerBytesMax: 1_000_000 }), {
      code: 'PROTOCOL',
      message: /more than 1000000 bytes/,
    });
  });

  test('late, or never', async () => {
    answering(() => {});
    await assert.rejects(client.call('getbestblockhash', [], { answerMs: 50 }), {
      code: 'SOURCE_UNREACHABLE',
      message: /no answer in 0.05 s/,
    });
    answering((response) => void response.write('{'));
    await assert.rejects(client.call('getbestblockhash', [], { answerMs: 50 }), {
      code: 'SOURCE_UNREACHABLE',
      message: /no answer in 0.05 s/,
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 30);
    await assert.rejects(client.call('getbestblockhash', [], { signal: stop.signal }), { code: 'INTERRUPTED' });
    await assert.rejects(client.call('getbestblockhash', [], { signal: stop.signal }), { code: 'INTERRUPTED' });
  });
});
