/**
 * Cardano wallets that follow a chain: a devnet with traffic of its own, some of
 * whose scripts fail, with blocks that come and go. Some wallets own addresses,
 * one owns stake credentials. After every step coins and assets of each are those
 * that the chain itself says are unspent.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import type { ModelUtxo } from '../../../src/chains/cardano/devnet/model.ts';
import { encodeConwayParameters } from '../../../src/chains/cardano/devnet/parameters.ts';
import { Random } from '../../../src/chains/random.ts';
import { describeOutput, readAddress, stakeAddressOf } from '../../../src/ledgers/cardano/index.ts';
import { decodeProtocolParameters } from '../../../src/ledgers/cardano/protocol-parameters.ts';
import { outpointText } from '../../../src/ledgers/outpoint.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { equalBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { stakeOwners, watchedAddress } from '../../../src/wallet/cardano/owners.ts';
import { scanCoins } from '../../../src/wallet/cardano/scan.ts';
import { spendableCoins } from '../../../src/wallet/cardano/spendable-coins.ts';
import { eventTxs } from '../../../src/wallet/cardano/wallet-tx.ts';
import { storeFeed } from '../../../src/wallet/feed/store-feed.ts';
import { type FeedSource, WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import type { WalletCoin, WalletInfo, WalletTxOutput, WalletTxRow } from '../../../src/wallet/records.ts';
import type { WalletRows } from '../../../src/wallet/rows.ts';
import { outcomeOf } from '../../../src/wallet/rules/status.ts';
import type { Selection } from '../../../src/wallet/selection/cardano/coin.ts';
import { selectCoins } from '../../../src/wallet/selection/cardano/select.ts';
import type { WalletStore } from '../../../src/wallet/store.ts';
import { applyDevnet } from '../../support/devnet-store.ts';
import { until } from '../../support/patience.ts';
import { WalletFiles } from '../sql/wallet-files.ts';
import { checkInvariants } from '../support/invariants.ts';

const NOW = 1_700_000_000_000;
const FEED = { feed: 'devnet', now: () => NOW, otherOwners: stakeOwners };
const FIRST_BLOCKS = 30;
const PARAMETERS = decodeProtocolParameters(encodeConwayParameters());

const root = mkdtempSync(join(tmpdir(), 'unspent-wallet-cardano-'));
const files = new WalletFiles();
after(() => {
  rmSync(root, { recursive: true, force: true });
  files[Symbol.dispose]();
});

type TownWallets = WalletStore & { rows(): Promise<WalletRows> };

/** Who owns an output: the name of the wallet for its address, or for its stake credential. */
interface Watched {
  readonly name: string;
  readonly scripts: readonly Uint8Array[];
}

/** A chain, a store that has none of its blocks yet, and wallets. */
class Town {
  readonly chain: DevnetChain;
  readonly store: OpenStore;
  readonly source: FeedSource;
  readonly wallets: TownWallets;
  readonly watched: Watched[] = [];
  /** By the id of a transaction of the chain, forks included. */
  readonly #inputCounts = new Map<string, number>();

  constructor(chain: DevnetChain, store: OpenStore, wallets: TownWallets) {
    this.chain = chain;
    this.store = store;
    this.wallets = wallets;
    for (const { txId } of chain.utxosAt(0).values()) this.#inputCounts.set(toHex(txId), 0);
    this.source = storeFeed(store, eventTxs, store.network.dialect.clock);
  }

  static async open(t: TestContext, name: string, wallets: TownWallets, seed: number): Promise<Town> {
    const chain = new DevnetChain({ seed, txPerBlock: 8 });
    const genesis = { byron: chain.genesisByron, shelley: chain.genesisShelley };
    const store = await openStore({ data: join(root, `${name}-${seed}`), network: 'devnet', genesis });
    t.after(async () => {
      await store.close();
      await wallets.close();
    });
    for (let i = 0; i < FIRST_BLOCKS; i++) chain.mine();
    return new Town(chain, store, wallets);
  }

  /** Addresses that have outputs now, in the order of the chain's own account. */
  addresses(): Uint8Array[] {
    return [...new Set([...this.chain.utxos.values()].map(({ addressHex }) => addressHex))]
      .map((hex) => fromHex(hex))
      .filter((address) => readAddress(address).kind !== 'unknown');
  }

  async watch(name: string, scripts: readonly Uint8Array[]): Promise<WalletInfo> {
    assert.ok(scripts.length > 0, `${name} owns something`);
    const wallet = await this.wallets.createWallet({ name, isWatchOnly: true });
    for (const script of scripts) await this.wallets.importAddress(wallet.id, watchedAddress(script), NOW);
    this.watched.push({ name, scripts });
    return wallet;
  }

  /** The reward addresses of the stake credentials in addresses. */
  stakes(): Uint8Array[] {
    const stakes = this.addresses().flatMap((address) => stakeAddressOf(address) ?? []);
    return [...new Map(stakes.map((stake) => [toHex(stake), stake])).values()];
  }

  async feed(): Promise<() => Promise<void>> {
    const end = new AbortController();
    const following = new WalletFeed(this.wallets, FEED).follow(this.source, end.signal);
    await until(async () => (await this.wallets.feedPosition(FEED.feed)) !== null, 'the feed has begun');
    return async () => {
      end.abort();
      await following;
    };
  }

  async catchUp(): Promise<void> {
    applyDevnet(this.store, this.chain);
    for (const { txs } of this.chain.blocks) for (const { id, spends } of txs) this.#inputCounts.set(id, spends.length);
    const { hash, height } = this.chain.tip!;
    await until(async () => {
      const wallets = await this.wallets.listWallets();
      return wallets.every(({ syncedTo }) => syncedTo !== null && equalBytes(syncedTo.hash, hash));
    }, `the wallets are at ${height}`);
  }

  /** A coin that only a transaction without a block spends is unspent for the chain, though the wallet keeps it for that transaction. */
  async assertSame(): Promise<void> {
    const rows = await this.wallets.rows();
    const told = rows.wallets.map(({ replacements }) => new Set(replacements.map((edge) => `${edge.replaced}>${edge.replacement}`)));
    checkInvariants(rows, this.#inputCounts, told);
    for (const { name, scripts } of this.watched) {
      const own = new Set(scripts.map((script) => toHex(script)));
      const expected = [...this.chain.utxos.values()].filter(({ addressHex }) => isOwn(addressHex, own)).map(utxoText);
      const { id } = await this.wallets.getWallet(name);
      const rows = await this.wallets.listTxs(id, { from: 0, to: this.chain.tip!.height });
      const outputs = new Map(
        rows.flatMap(({ tx }) => tx.outputs.map((output, index) => [outpointText({ txId: tx.id, index }), output] as const)),
      );
      const watched = (await this.wallets.listOutputsToWatch(id)).map(({ outpoint }) => outpointText(outpoint));
      const found = watched.flatMap((key) => walletText(key, outputs.get(key)));
      assert.deepEqual(found.sort(), expected.sort(), name);
      assert.deepEqual(watched.filter((key) => outputs.has(key)).sort(), this.#indexed(scripts).sort(), name);
      for (const coin of await this.wallets.listCoins(id, { now: NOW, minConfs: 1 })) {
        const key = outpointText(coin.outpoint);
        assert.deepEqual(walletText(key, coin), walletText(key, outputs.get(key)), name);
      }
    }
  }

  /** By the indexes of the store. That of stake credentials does not tell keys from scripts. */
  #indexed(scripts: readonly Uint8Array[]): string[] {
    return this.store.read((query) => {
      const { holder } = this.store.network.dialect;
      return scripts.flatMap((script) => {
        const { kind, key } = holder(toHex(script));
        const found = [...query.byKey(kind, key)];
        return found.filter(({ output }) => isOwn(toHex(describeOutput(output.raw).address), new Set([toHex(script)]))).map(outpointText);
      });
    });
  }

  async failures(): Promise<WalletTxRow[]> {
    const wallets = await this.wallets.listWallets();
    const rows = await Promise.all(wallets.map(({ id }) => this.wallets.listTxs(id, { from: 0, to: this.chain.tip!.height })));
    return rows.flat().filter(({ tx }) => tx.scriptsFailed === true);
  }
}

function isOwn(addressHex: string, own: ReadonlySet<string>): boolean {
  if (own.has(addressHex)) return true;
  const stake = stakeAddressOf(fromHex(addressHex));
  return stake !== null && own.has(toHex(stake));
}

function utxoText({ key, addressHex, lovelace, assets, output }: ModelUtxo): string {
  return `${key} ${addressHex} ${lovelace} ${assetsText(assets)} ${describeOutput(output).scriptRef !== null}`;
}

function walletText(key: string, output: WalletTxOutput | undefined): string[] {
  if (output === undefined) return [];
  const held = new Map((output.assets ?? []).map(({ policy, name, quantity }) => [`${toHex(policy)}.${toHex(name)}`, quantity]));
  return [`${key} ${toHex(output.script)} ${output.amount} ${assetsText(held)} ${output.carriesScript ?? false}`];
}

function assetsText(assets: ReadonlyMap<string, bigint>): string {
  return [...assets]
    .map(([unit, quantity]) => `${unit}:${quantity}`)
    .sort()
    .join(',');
}

function choose(coins: readonly WalletCoin[], holder: Uint8Array): { readonly coins: Selection['inputs']; readonly selection: Selection } {
  const request = { outputs: [{ address: holder, lovelace: 5_000_000n }], changeAddress: holder, parameters: PARAMETERS };
  const selection = selectCoins(spendableCoins(coins), request, new Random(1));
  return { coins: selection.inputs, selection };
}

const STORES: readonly (readonly [name: string, open: () => Promise<TownWallets>])[] = [
  ['memory', async () => new MemoryWalletStore()],
  ['SQLite', () => files.openFresh()],
];

for (const [name, open] of STORES) {
  describe(`Cardano wallets in ${name}`, () => {
    it('have the coins and assets of the chain after every block and every fork, failed scripts included', async (t) => {
      const town = await Town.open(t, name, await open(), 1);
      const addresses = town.addresses();
      for (let part = 0; part < 2; part++)
        await town.watch(
          `addresses ${part}`,
          addresses.filter((_, i) => i % 3 === part),
        );
      await town.watch(
        'stake',
        town.stakes().filter((_, i) => i % 2 === 0),
      );
      const stop = await town.feed();
      let failures = 0;
      for (let step = 0; step < 12; step++) {
        if (step % 4 === 3) town.chain.fork(1 + (step % 7));
        else for (let i = 0; i < step % 3; i++) town.chain.mine();
        await town.catchUp();
        await town.assertSame();
        for (const row of await town.failures()) {
          failures++;
          assert.deepEqual([row.status, outcomeOf(row)], ['published', 'failed']);
        }
      }
      assert.ok(failures > 0, 'scripts have failed');
      await stop();
    });

    it('find their coins in the indexes, and keep them right when blocks before the scan are undone', async (t) => {
      const town = await Town.open(t, name, await open(), 2);
      applyDevnet(town.store, town.chain);
      await (await town.feed())();
      const [block] = (await town.wallets.listSyncedBlocks(0, town.chain.tip!.height)).slice(-1);
      const scans = [await town.watch('addresses', town.addresses().slice(0, 8)), await town.watch('stake', town.stakes().slice(0, 4))];
      const { clock } = town.store.network.dialect;
      for (const { id } of scans) {
        for (const blocks of [10, 12])
          assert.equal(await scanCoins(town.wallets, town.store, { walletId: id, block, clock, blocks }), true);
      }
      const stop = await town.feed();
      await town.catchUp();
      await town.assertSame();
      town.chain.fork(9);
      await town.catchUp();
      await town.assertSame();
      await stop();
      const gone = { walletId: scans[0].id, block, clock };
      assert.equal(await scanCoins(town.wallets, town.store, gone), false, 'the block is gone');
    });

    it('choose and lease coins for payments, none twice, and none of scripts', async (t) => {
      const town = await Town.open(t, name, await open(), 3);
      const { id } = await town.watch('everything', town.addresses());
      const stop = await town.feed();
      await town.catchUp();
      await stop();
      const holder = town.addresses().find((address) => readAddress(address).payment?.kind === 'key')!;
      const taken = new Set<string>();
      for (let n = 0; n < 3; n++) {
        const lease = { id: new Uint8Array(32).fill(n), now: NOW, durationMs: 1000 };
        const { selection } = await town.wallets.selectAndLease(
          id,
          { now: NOW, minConfs: 1 },
          (coins) => choose([...coins], holder),
          lease,
        );
        for (const input of selection.inputs) {
          const coin = await town.wallets.getCoin(id, input, NOW);
          assert.deepEqual(coin.lease?.id, lease.id);
          assert.deepEqual([readAddress(coin.script).payment?.kind, coin.carriesScript], ['key', false]);
          assert.deepEqual([input.lovelace, input.assets], [coin.amount, coin.assets]);
          assert.equal(taken.has(outpointText(input)), false, 'a coin is chosen once');
          taken.add(outpointText(input));
        }
      }
      assert.ok(taken.size >= 3);
    });
  });
}
