/**
 * The parts of the Electrum server that need no store: how a stream is cut into
 * messages, what a message is, which version is spoken, statuses, and Merkle
 * branches, against the examples of the protocol's documentation where it has
 * them and against the plainest computation where not.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sha256d } from '../../../../src/crypto/sha256.ts';
import { formatId, genesisBlock, headerHash, merkleRoot } from '../../../../src/ledgers/bitcoin/index.ts';
import { MerkleTree } from '../../../../src/ledgers/bitcoin/merkle.ts';
import type { Query } from '../../../../src/query/query.ts';
import { HeaderProofs } from '../../../../src/server/bitcoin/electrum/header-proofs.ts';
import { readParams, scriptHash } from '../../../../src/server/bitcoin/electrum/params.ts';
import { RPC, RpcError, readMessage } from '../../../../src/server/bitcoin/electrum/rpc.ts';
import { byStatusOrder, type Entry, StatusHash } from '../../../../src/server/bitcoin/electrum/scripts.ts';
import { negotiate } from '../../../../src/server/bitcoin/electrum/version.ts';
import { Lines } from '../../../../src/server/bitcoin/electrum/wire.ts';
import { Workload } from '../../../../src/server/http/work/workload.ts';
import { concatBytes, toHex } from '../../../../src/util/bytes.ts';
import { bitcoin, readRun } from '../../../ledgers/bitcoin/samples.ts';
import { needsFixtures } from '../../../support/fixtures.ts';

const hashOf = (seed: number): Uint8Array => sha256d(Uint8Array.of(seed, seed >> 8, seed >> 16));

/** The fold of a branch over its leaf. */
function folded(leaf: Uint8Array, index: number, branch: readonly Uint8Array[]): Uint8Array {
  let hash = leaf;
  branch.forEach((other, i) => {
    hash = sha256d((index >> i) % 2 === 0 ? concatBytes(hash, other) : concatBytes(other, hash));
  });
  return hash;
}

function codeOf(body: () => unknown): { code: number; fatal: boolean } {
  try {
    body();
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return { code: error.code, fatal: error.fatal };
  }
  return assert.fail('nothing was thrown');
}

test('the status of the documentation, whatever order the mempool is in', () => {
  const entries: Entry[] = [
    { tx_hash: 'a6c9c361bd0bc536d6a22648efbf8f9b200e425ef6c3a7a9669dc444c532a347', height: 2472 },
    { tx_hash: '9c42f84b2fcdaff676ba25d9d4941741cc0d1a01cce0c23fdc4c0b2afa38431c', height: 2473 },
    { tx_hash: '770f2d4371b3fabb902dd9a103e2dd005fcd3971181078fca4a2a1d6ff127b30', height: 2473 },
  ];
  const unconfirmed: Entry[] = [
    { tx_hash: 'bb4c8ab438c13b89ca80d1d5bee25b0b6b7f55673f4d801998ba97db161d9e85', height: -1, fee: 200 },
    { tx_hash: 'e02a1dadfa83b996b24175df807b271ea5d02937ef5b35c195fac1e1bdc3198f', height: 0, fee: 300 },
    { tx_hash: '80b19848aed792565ab7c5a79b7c2a00fbf985741579396ebe0ab6098e607311', height: 0, fee: 200 },
  ];
  const hash = new StatusHash();
  for (const entry of [...entries, ...unconfirmed.sort(byStatusOrder)]) hash.add(entry);
  assert.equal(hash.end(), '78e96c6562cafa71c115503b9411fdfdc595a45031e2ab76ff75162fe1b0590d');
  assert.equal(new StatusHash().end(), null);
});

test('the script hash of the documentation is the key of its script, read from the end', () => {
  const { key, text } = scriptHash('8B01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161');
  assert.equal(toHex(key), '6191c3b590bfcfa0475e877c302da1e323497acf3b42c08d8fa28e36');
  assert.equal(text, '8b01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161');
  for (const bad of ['', '00', 7, null, 'g'.repeat(64), ['8b']]) assert.equal(codeOf(() => scriptHash(bad)).code, RPC.badRequest);
});

test('the newest version both sides know is spoken', () => {
  assert.equal(negotiate('1.4', false), '1.4');
  assert.equal(negotiate(['1.4', '1.4.5'], false), '1.4.3');
  assert.equal(negotiate(['1.1', '1.4'], false), '1.4');
  assert.equal(negotiate(['1.4', '1.6'], false), '1.6');
  assert.equal(negotiate(['1.4.2', '9.0'], false), '1.6');
  assert.equal(negotiate('1.6.0', false), '1.6');
  // 1.6 begins with the version; who has asked something else before speaks the last that does not.
  assert.equal(negotiate(['1.4', '1.6'], true), '1.4.3');
  const refused = { code: RPC.badRequest, fatal: true };
  for (const asked of ['1.2', '1.5', '1.7', ['0.1', '1.3'], ['1.6', '1.4'], [], ['1.4'], ['1.4', '1.6', '1.7'], 1.4, null, {}, 'x', '1.4.'])
    assert.deepEqual(
      codeOf(() => negotiate(asked, false)),
      refused,
      JSON.stringify(asked),
    );
  assert.deepEqual(
    codeOf(() => negotiate('1.6', true)),
    refused,
  );
});

test('lines come out as they went in, however the stream is cut', () => {
  const text = fc.array(
    fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', '')),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(text, fc.array(fc.nat(9), { minLength: 1 }), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const cutter = new Lines();
      const given: string[] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const length = cuts[i % cuts.length] + 1;
        assert.ok(cutter.push(bytes.subarray(at, at + length), (line) => given.push(line)));
        at += length;
      }
      assert.deepEqual(
        given,
        lines.map((line) => Buffer.from(line).toString()),
      );
    }),
  );
});

test('a line may be as long as the limit and no longer', () => {
  const push = (...chunks: string[]): [boolean, string[]] => {
    const lines = new Lines();
    const given: string[] = [];
    return [chunks.every((chunk) => lines.push(Buffer.from(chunk), (line) => given.push(line), 5)), given];
  };
  assert.deepEqual(push('12345\n', '123', '45\n1'), [true, ['12345', '12345']]);
  assert.deepEqual(push('12\n123456\n'), [false, ['12']]);
  assert.deepEqual(push('123', '456'), [false, []]);
});

test('what is no request is told so, with its id where it has one', () => {
  for (const text of ['', '{', 'GET / HTTP/1.1', '[1,', 'undefined', '\u0000']) {
    assert.deepEqual(
      codeOf(() => readMessage(text)),
      { code: RPC.parse, fatal: true },
      text,
    );
  }
  assert.deepEqual(
    codeOf(() => readMessage('[]')),
    { code: RPC.invalid, fatal: false },
  );
  assert.deepEqual(
    codeOf(() => readMessage(`[${'1,'.repeat(1000)}1]`)),
    { code: RPC.invalid, fatal: true },
  );
  const bad = ['1', 'null', '"x"', '{}', '{"method":1,"id":3}', '{"method":"a","params":3,"id":3}', '{"method":"a","id":[]}'];
  for (const text of [...bad, '{"jsonrpc":"3.0","method":"a","id":3}', '{"result":1,"id":3}']) {
    const [call] = readMessage(text).calls;
    assert.ok('error' in call && call.error.code === RPC.invalid && !call.error.fatal, text);
    assert.equal(call.id, text.includes('"id":3') ? 3 : null);
  }
  const { batch, calls } = readMessage('[{"method":"a","params":{"x":1},"id":"7"},[],{"method":"b"}]');
  assert.equal(batch, true);
  assert.deepEqual(calls[0], { id: '7', method: 'a', params: { x: 1 } });
  assert.ok('error' in calls[1]);
  assert.deepEqual(calls[2], { id: undefined, method: 'b', params: [] });
});

test('parameters by place and by name are the same', () => {
  const method = { names: ['height', 'cp_height'], needed: 1 };
  const read = (params: never[] | object) => readParams(method, { id: 1, method: 'm', params: params as never[] });
  assert.deepEqual(read([5] as never[]), [5, undefined]);
  assert.deepEqual(read({ cp_height: 8, height: 5 }), [5, 8]);
  assert.deepEqual(read([5, null] as never[]), [5, undefined]);
  for (const params of [[], {}, [1, 2, 3], { height: 1, depth: 2 }, [null], { toString: 1, height: 2 }]) {
    assert.equal(codeOf(() => read(params)).code, RPC.params, JSON.stringify(params));
  }
});

test('every branch folds to the root that a block has', () => {
  for (const count of [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 31, 33]) {
    const leaves = Array.from({ length: count }, (_, i) => hashOf(i));
    const tree = new MerkleTree(leaves);
    const { root } = merkleRoot(leaves);
    assert.deepEqual(tree.root(), root, `${count} leaves`);
    for (const [i, leaf] of leaves.entries()) assert.deepEqual(folded(leaf, i, tree.branch(i)), root, `leaf ${i} of ${count}`);
  }
});

/** As much of a query as proofs need. */
function chainQuery(hashes: readonly Uint8Array[]): Query {
  const row = (height: number) => (height < hashes.length ? { height, hash: hashes[height] } : null);
  return {
    blockAtHeight: row,
    *blocksAfter(from: { height: number } | null) {
      for (let height = from === null ? 0 : from.height + 1; height < hashes.length; height++) yield row(height);
    },
  } as unknown as Query;
}

const task = new Workload().task(() => false);

test('proofs of headers are right at every width, in any order, across reorganisations', async () => {
  const proofs = new HeaderProofs();
  const first = Array.from({ length: 1300 }, (_, i) => hashOf(i));
  const forked = (at: number, seed: number) => [...first.slice(0, at), ...Array.from({ length: 1300 - at }, (_, i) => hashOf(seed + i))];
  const chains = [first, forked(1290, 10_000), first.slice(0, 700), forked(500, 20_000), forked(255, 30_000), forked(256, 40_000), first];
  let seed = 1;
  const below = (bound: number): number => {
    seed = (seed * 48_271) % 0x7fff_ffff;
    return seed % bound;
  };
  for (const hashes of chains) {
    const query = chainQuery(hashes);
    const widths = [1, 2, 255, 256, 257, 511, 512, 513, hashes.length, ...Array.from({ length: 12 }, () => 1 + below(hashes.length))];
    for (const width of widths) {
      const height = below(width);
      const { branch, root } = await proofs.prove(task, query, height, width - 1);
      const tree = new MerkleTree(hashes.slice(0, width));
      assert.deepEqual(root, tree.root(), `root of ${width}`);
      assert.deepEqual(branch, tree.branch(height), `branch of ${height} in ${width}`);
      assert.deepEqual(root, merkleRoot(hashes.slice(0, width)).root);
    }
  }
  await assert.rejects(async () => proofs.prove(task, chainQuery(first.slice(0, 300)), 5, 600), { code: 'UNSUPPORTED' });
});

test('the proof of the documentation: header 5 of the main network up to block 8', needsFixtures, async () => {
  const blocks = [genesisBlock(bitcoin), ...readRun('btcd-blocks1-255.dat').slice(0, 8)];
  const { branch, root } = await new HeaderProofs().prove(task, chainQuery(blocks.map(headerHash)), 5, 8);
  assert.equal(formatId(root), 'e347b1c43fd9b5415bf0d92708db8284b78daf4d0e24f9c3405f45feb85e25db');
  assert.deepEqual(branch.map(formatId), [
    '000000004ebadb55ee9096c9a2f8880e09da59c0d68b1c228da88e48844a1485',
    '96cbbc84783888e4cc971ae8acf86dd3c1a419370336bb3c634c97695a8c5ac9',
    '965ac94082cebbcffe458075651e9cc33ce703ab0115c72d9e8b1a9906b2b636',
    '89e5daa6950b895190716dd26054432b564ccdc2868188ba1da76de8e1dc7591',
  ]);
});
