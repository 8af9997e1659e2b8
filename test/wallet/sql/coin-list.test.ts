/** A list of coins in memory says what it was told, whatever came and went: compared with coins that are simply sorted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import { outpointText } from '../../../src/ledgers/outpoint.ts';
import { LEASE_WITHOUT_END, SCRIPT_KINDS, type WalletCoin } from '../../../src/wallet/records.ts';
import { compareCoins } from '../../../src/wallet/rules/coins.ts';
import { CoinList } from '../../../src/wallet/sql/coin-list.ts';

const ROUNDS = 200;
const NOW = 1000;

const ACCOUNTS = [1, 2].map((id) => ({ id, scope: { purpose: 84, coinType: 0 }, number: id, name: `account ${id}` }));

/** Few amounts, so that txids and indexes decide; some above 2^53, which a number does not tell apart. */
function randomCoin(random: Random): WalletCoin {
  const isMined = random.chance(0.7);
  const assets = [{ policy: random.bytes(28), name: random.bytes(random.int(33)), quantity: 2n ** 64n - 1n }];
  const lease = {
    id: random.bytes(32),
    expiresAt: random.pick([NOW - 1, NOW, NOW + 1, LEASE_WITHOUT_END]),
    releaseAfterSpendConfs: random.pick([null, 3]),
  };
  return {
    outpoint: { txId: random.bytes(32), index: random.int(3) },
    amount: random.pick([0n, 5n, 6n, 2n ** 53n, 2n ** 53n + 1n]),
    script: random.bytes(1 + random.int(40)),
    kind: random.pick(SCRIPT_KINDS),
    assets: random.chance(0.2) ? assets : [],
    carriesScript: random.chance(0.1),
    account: random.pick([null, ...ACCOUNTS]),
    received: random.int(5000),
    isCoinbase: random.chance(0.2),
    height: isMined ? random.int(100) : null,
    isOwnChange: random.chance(0.5),
    isEvicted: !isMined && random.chance(0.3),
    lease: random.chance(0.4) ? lease : null,
  };
}

const coinsOf = (list: CoinList): WalletCoin[] => Array.from({ length: list.count }, (_, i) => list.coinAt(i));

const isFree = ({ isEvicted, lease }: WalletCoin): boolean => !isEvicted && (lease === null || lease.expiresAt <= NOW);

test('coins come, change and go, some of them hundreds of times', () => {
  const random = new Random(1);
  const list = new CoinList();
  const model = new Map<string, WalletCoin>();
  const sorted = (): WalletCoin[] => [...model.values()].sort(compareCoins);
  for (let round = 0; round < ROUNDS; round++) {
    const held = sorted();
    const fresh = round % 3 === 0 ? Array.from({ length: random.int(12) }, () => randomCoin(random)) : [];
    const changed = held
      .filter(() => random.chance(0.2))
      .map((coin) => ({ ...randomCoin(random), outpoint: coin.outpoint, amount: coin.amount }));
    const gone = round % 4 === 0 ? held.filter(() => random.chance(0.1)) : [];
    for (const coin of [...fresh, ...changed]) model.set(outpointText(coin.outpoint), coin);
    for (const { outpoint } of gone) model.delete(outpointText(outpoint));
    const now = [...fresh, ...changed].filter(({ outpoint }) => model.has(outpointText(outpoint))).sort(compareCoins);
    list.change([...changed.filter(({ outpoint }) => model.has(outpointText(outpoint))), ...gone], now);
    assert.deepEqual(coinsOf(list), sorted());
    const free = list.free({ now: NOW }, 100);
    assert.deepEqual(
      [...free],
      sorted()
        .filter(isFree)
        .map((coin) => ({ ...coin, lease: null })),
    );
  }
  assert.ok(model.size > 20, 'there were coins to change');
});

test('coins of a transaction go together', () => {
  const random = new Random(2);
  const coins = Array.from({ length: 30 }, () => randomCoin(random)).sort(compareCoins);
  const list = new CoinList();
  list.append(coins.slice(0, 10));
  list.append(coins.slice(10));
  const gone = new Set([3, 4, 29].map((i) => Buffer.from(coins[i].outpoint.txId).toString('hex')));
  list.removeTxs(gone);
  assert.deepEqual(
    coinsOf(list),
    coins.filter((_, i) => ![3, 4, 29].includes(i)),
  );
});
