/**
 * From names and URLs to networks and sources, through the descriptors: what
 * each family offers, and what is said to whoever asks one family for what only
 * the other has.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openDevnet } from '../../src/chains/cardano/devnet/index.ts';
import { needBitcoin } from '../../src/families/bitcoin.ts';
import { needCardano } from '../../src/families/cardano.ts';
import { FAMILIES, familyNamed, familyOfNetwork, networkNames, openNetwork } from '../../src/families/networks.ts';
import { openEmbedded, openNetworkSource } from '../../src/families/open-source.ts';
import { credentialsOf } from '../../src/query/dialect.ts';

const preview = openNetwork('preview', null);
const regtest = openNetwork('bitcoin-regtest', null);
const { genesis } = openDevnet('devnet:?blocks=1');

describe('networks', () => {
  it('each opens with the ledger and the unit of its family', () => {
    for (const name of networkNames()) {
      const network = openNetwork(name, null);
      const { family, ledger, dialect } = network;
      assert.deepEqual([network.name, network.parameters.name], [name, name]);
      assert.deepEqual([family, ledger.family, dialect.currency.unit], [familyOfNetwork(name), family.name, family.unit]);
      assert.ok(family.windowBlocks(network) >= 432);
      assert.equal(family.withoutGenesis(network).hasGenesis, true);
    }
    assert.throws(() => openNetwork('dogecoin', null), { code: 'NETWORK_UNKNOWN', message: /mainnet.*bitcoin/ });
  });

  it('a private one remembers its parameters, and only parameters of its kind are taken', () => {
    const devnet = openNetwork('devnet', genesis);
    const own = devnet.family.ownParameters(devnet);
    assert.ok(own !== null);
    assert.deepEqual(openNetwork('devnet', null, own).parameters, own);
    assert.deepEqual([preview.family.ownParameters(preview), regtest.family.ownParameters(regtest)], [null, null]);
    const given = { ...own } as Record<string, unknown>;
    assert.equal(devnet.family.canBeOwnParameters(given), true);
    const spoilt: Record<string, unknown>[] = [
      { ...given, more: 1 },
      { ...given, name: 5 },
      { ...given, shelleySlotMs: 0 },
      { ...given, k: Number.NaN },
      { ...given, eraStartSlots: [] },
      { ...given, eraStartSlots: { byron: -1 } },
      Object.fromEntries(Object.entries(given).slice(1)),
    ];
    for (const parameters of spoilt) assert.equal(devnet.family.canBeOwnParameters(parameters), false, JSON.stringify(parameters));
    assert.equal(regtest.family.canBeOwnParameters(given), false);
  });

  it('genesis files are of one family', () => {
    const wrong = { code: 'GENESIS_WRONG', message: /built in/ };
    assert.throws(() => openNetwork('bitcoin', genesis), wrong);
    assert.throws(() => familyOfNetwork('bitcoin').readGenesis('/nowhere', 'bitcoin'), wrong);
    assert.throws(() => familyOfNetwork('mainnet').readGenesis('/nowhere', 'mainnet'), { code: 'GENESIS_NEEDED' });
  });

  it('what only one family has says so', () => {
    assert.equal(needBitcoin(regtest, 'this').parameters.coinbaseMaturity, 100);
    assert.equal(needCardano(preview, 'that').parameters.magic, 2);
    assert.throws(() => needBitcoin(preview, 'this'), {
      code: 'UNSUPPORTED',
      message: "this is of the Bitcoin family, and 'preview' is of Cardano",
    });
    assert.throws(() => needCardano(regtest, 'that'), { code: 'UNSUPPORTED', message: /that is of Cardano/ });
    assert.throws(() => credentialsOf(regtest.dialect), { code: 'UNSUPPORTED' });
    const stake = `e0${'17'.repeat(28)}`;
    assert.equal(preview.dialect.holder(stake).kind, 'stake');
    assert.equal(regtest.dialect.holder('17'.repeat(32)).kind, 'address');
  });

  it('a mempool and commitments are there or absent, for each family as a whole', () => {
    assert.deepEqual(
      FAMILIES.map(({ name, mempool, commitment }) => [name, mempool !== undefined, commitment !== undefined]),
      [
        ['cardano', true, false],
        ['bitcoin', true, true],
      ],
    );
    for (const [name, network] of [
      ['cardano', preview],
      ['bitcoin', regtest],
    ] as const) {
      const mempool = familyNamed(name).mempool?.(network);
      assert.throws(() => mempool?.check(Uint8Array.of(1, 2, 3)), { code: 'BLOCK_INVALID' });
    }
  });
});

describe('sources by URL', () => {
  it('are of the network they are opened for', () => {
    assert.equal(openNetworkSource('n2n://127.0.0.1:3001', preview).name, 'n2n://127.0.0.1:3001');
    assert.equal(openNetworkSource(['n2n://127.0.0.1:3001', 'n2c:/node.socket'], preview).name, 'n2n://127.0.0.1:3001, n2c:/node.socket');
    assert.throws(() => openNetworkSource('p2p://127.0.0.1:8333', preview), {
      code: 'USAGE',
      message: "p2p: cannot be a source of 'preview'; its sources are immutable:PATH, n2n://HOST:PORT, n2c:PATH, devnet:?blocks=N&seed=N",
    });
    assert.throws(() => openNetworkSource('immutable:/db', regtest), { code: 'USAGE', message: /^immutable: cannot .*blk:PATH$/ });
  });

  it('only nodes of one chain can be several', () => {
    const message = 'only nodes of one chain can be several sources: n2n://HOST:PORT and n2c:PATH, or p2p://HOST:PORT';
    for (const urls of [
      ['immutable:/a', 'immutable:/b'],
      ['n2n://127.0.0.1:3001', 'immutable:/a'],
      ['n2n://127.0.0.1:3001', 'p2p://127.0.0.1:8333'],
      ['rpc://u:p@127.0.0.1:8332', 'rpcs://u:p@127.0.0.1:8332'],
    ])
      assert.throws(() => openNetworkSource(urls, preview), { code: 'USAGE', message }, urls.join());
    assert.throws(() => openNetworkSource([], preview), { code: 'USAGE' });
  });

  it('a URL that nobody knows is shown without its password', () => {
    for (const url of ['rpx://user:secret@127.0.0.1', 'constructor:x', 'nothing'])
      assert.throws(
        () => openNetworkSource(url, regtest),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'SOURCE_UNKNOWN');
          assert.doesNotMatch(error.message, /secret/);
          return true;
        },
      );
  });

  it('one that makes its own chain needs no network, and names it', () => {
    const embedded = openEmbedded(['devnet:?blocks=1']);
    assert.equal(embedded?.network, 'devnet');
    assert.deepEqual(embedded?.source.genesis, genesis);
    assert.equal(openEmbedded(['n2n://127.0.0.1:3001']), null);
    assert.throws(() => openEmbedded(['devnet:', 'devnet:']), { code: 'USAGE' });
  });
});
