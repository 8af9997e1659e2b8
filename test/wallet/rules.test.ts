/** The rules of wallets that need no store. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WalletTx } from '../../src/wallet/records.ts';
import { parentsFirst } from '../../src/wallet/rules/batch-order.ts';
import { confirmations, isDeepEnough, isMature } from '../../src/wallet/rules/confirmations.ts';
import { detailParts } from '../../src/wallet/rules/detail-range.ts';
import { ownerScripts, ownersOf } from '../../src/wallet/rules/ownership.ts';
import { prunable } from '../../src/wallet/rules/prunable.ts';
import { permutations } from './scenarios/batches.ts';
import { idOf, NOW, nameOf, outpointOf, scriptOf } from './support/world.ts';

function tx(name: string, ...spends: readonly string[]): WalletTx {
  const outputs = [0, 1, 2].map((n) => ({ script: scriptOf(1, n), amount: 1n }));
  return { id: idOf(name), raw: new Uint8Array(), inputs: spends.map(outpointOf), outputs, isCoinbase: false };
}

const ordered = (...txs: readonly WalletTx[]): string =>
  parentsFirst(txs.map((entry) => ({ tx: entry })))
    .map((entry) => nameOf(entry.tx.id))
    .join('');

describe('the order of a batch', () => {
  it('is the order it has, where nothing depends on anything', () => assert.equal(ordered(tx('C'), tx('A'), tx('B')), 'CAB'));
  it('has parents before children', () => {
    assert.equal(ordered(tx('C', 'B:0'), tx('B', 'A:0', 'A:1'), tx('A')), 'ABC');
    assert.equal(ordered(tx('C', 'A:0'), tx('X'), tx('A')), 'XAC');
  });
  it('has parents before children in whatever order they are given', () => {
    const spends = { A: ['x:0'], B: ['A:0'], C: ['A:1'], D: ['B:0', 'C:1'], E: ['D:1'], F: ['y:0', 'C:0'] };
    for (const order of permutations(Object.entries(spends))) {
      const result = ordered(...order.map(([name, outpoints]) => tx(name, ...outpoints)));
      assert.match(result, /^A.*B.*D.*E/);
      assert.match(result, /C.*D/);
      assert.match(result, /C.*F/);
    }
  });
  it('has cycles last, as they were', () => assert.equal(ordered(tx('B', 'A:0'), tx('A', 'B:0'), tx('C', 'A:0'), tx('X')), 'XBAC'));
  it('keeps a transaction that is there twice', () => assert.equal(ordered(tx('B', 'A:0'), tx('A'), tx('A')), 'AAB'));
});

describe('owners of credits', () => {
  const credits = new Map([
    [2, null],
    [0, scriptOf(1, 0)],
  ]);
  const creditCandidates = new Map([[1, [scriptOf(1, 7)]]]);
  const news = { walletId: 1, tx: tx('A'), received: NOW, status: 'published', credits, creditCandidates } as const;

  it('are found among scripts that can be looked up beforehand', () => {
    const scripts = ownerScripts(news);
    assert.deepEqual(scripts, [scriptOf(1, 2), scriptOf(1, 0), scriptOf(1, 1), scriptOf(1, 7)]);
    const asked: Uint8Array[] = [];
    const owners = ownersOf(news, (script) => {
      asked.push(script);
      return { script, publicKey: null };
    });
    assert.deepEqual([...owners.keys()], [0, 1, 2]);
    for (const script of asked) assert.ok(scripts.some((other) => Buffer.compare(other, script) === 0));
  });
});

describe('confirmations', () => {
  it('are 0 in no block, and unknown above the tip or without one', () => {
    assert.equal(confirmations(null, 7), 0);
    assert.equal(confirmations(7, 7), 1);
    assert.equal(confirmations(8, 7), null);
    assert.equal(confirmations(8, null), null);
  });
  it('that are unknown pass no bound but 0', () => {
    assert.equal(isDeepEnough(null, { minConfs: 0 }), true);
    assert.equal(isDeepEnough(null, { minConfs: 1 }), false);
    assert.equal(isDeepEnough(null, { maxConfs: 9 }), false);
  });
  it('make a coinbase mature', () => {
    assert.deepEqual(
      [98, 99, 100].map((above) => isMature(true, confirmations(1, 1 + above), 100)),
      [false, true, true],
    );
    assert.deepEqual(
      [98, 99, 100].map((above) => isMature(true, confirmations(1, 1 + above), 101)),
      [false, false, true],
    );
    assert.equal(isMature(true, null, 0), true);
    assert.equal(isMature(true, null, 1), false);
  });
});

describe('dead rows', () => {
  const goes = (candidates: string, ...edges: readonly string[]): string =>
    prunable([...candidates], (id) => edges.filter((edge) => edge[1] === id).map(([replaced]) => replaced)).join('');

  it('go with whatever they replaced', () => {
    assert.equal(goes('ABX', 'AB', 'BC'), 'ABX');
    assert.equal(goes('BX', 'AB', 'BC'), 'X');
    assert.equal(goes('BC', 'AB', 'BC'), '');
    assert.equal(goes('AB', 'AB', 'BA'), 'AB');
  });
});

describe('a range of details', () => {
  it('has four forms', () => {
    assert.deepEqual(detailParts(2, 5), [{ from: 2, to: 5, newestBlockFirst: false }]);
    assert.deepEqual(detailParts(5, 2), [{ from: 2, to: 5, newestBlockFirst: true }]);
    assert.deepEqual(detailParts(-1, 2), ['unmined', { from: 2, to: null, newestBlockFirst: true }]);
    assert.deepEqual(detailParts(2, -1), [{ from: 2, to: null, newestBlockFirst: false }, 'unmined']);
    assert.deepEqual(detailParts(-1, -1), ['unmined']);
  });
});
