/**
 * A real node with a wallet, and a wallet of ours that watches the same
 * descriptors: our store follows the node, and blocks and mempool come to the
 * wallet as they do in a program. After each step both must have the same coins
 * and balances (node-compare.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config/load.ts';
import { type BitcoinNetwork, bitcoinNetwork, formatAddress, formatId } from '../../../src/ledgers/bitcoin/index.ts';
import { openRpc } from '../../../src/sources/bitcoin/rpc/index.ts';
import type { MempoolFeed } from '../../../src/sources/source.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import {
  type Account,
  accountDescriptor,
  type DerivedScript,
  type KeyRing,
  masterOf,
  openKeyRing,
  parseAccount,
} from '../../../src/wallet/bitcoin/keys/index.ts';
import { historyTxs, walletTxOf } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { storeFeed } from '../../../src/wallet/feed/store-feed.ts';
import { WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { WalletMempool } from '../../../src/wallet/feed/wallet-mempool.ts';
import type { AddressBranch, WalletId } from '../../../src/wallet/records.ts';
import type { WalletRows } from '../../../src/wallet/rows.ts';
import type { WalletStore } from '../../../src/wallet/store.ts';
import { type CoreNode, startNode } from '../../support/core-node.ts';
import { until } from '../../support/patience.ts';

const SECRET = { kind: 'seed', seed: fromHex('000102030405060708090a0b0c0d0e0f') } as const;
/** Of the kinds of descriptors that the node's wallet knows. */
const PURPOSES = [84, 49, 44] as const;
const FORMS = { 84: ['wpkh(', ')'], 49: ['sh(wpkh(', '))'], 44: ['pkh(', ')'] } as const;
/** The node's own wallets: one has our keys, the other those of everybody else. */
const OURS = 'ours';
const OTHERS = 'others';
/** Time that it is for the wallet: of whatever happens, each thing is later than the one before. */
const START_MS = 1_700_000_000_000;

/** A wallet store that shows its rows. */
export type ComparedStore = WalletStore & { rows(): Promise<WalletRows> };

export class NodeRig {
  readonly network: BitcoinNetwork = bitcoinNetwork('litecoin-regtest');
  readonly node: CoreNode;
  readonly wallets: ComparedStore;
  readonly walletId: WalletId;
  readonly ring: KeyRing;
  /** By script in hex. */
  readonly owners = new Map<string, DerivedScript>();
  private readonly accounts: readonly Account[];
  private readonly nextIndexes = new Map<string, number>();
  private readonly indexes: number;
  private readonly source;
  private readonly folder = mkdtempSync(join(tmpdir(), 'unspent-wallet-node-'));
  private readonly stopping = new AbortController();
  /** Ids of the mempool, as the node writes them, that the wallet was told of. */
  private readonly told = new Set<string>();
  private mempoolOfWallet: WalletMempool | null = null;
  private running: readonly Promise<unknown>[] = [];
  private failure: unknown = null;
  private clock = START_MS;

  private constructor(node: CoreNode, wallets: ComparedStore, walletId: WalletId, indexes: number) {
    this.node = node;
    this.wallets = wallets;
    this.walletId = walletId;
    this.indexes = indexes;
    this.ring = openKeyRing(this.network, SECRET);
    const master = masterOf(this.network, SECRET)!;
    this.accounts = PURPOSES.map((purpose) => parseAccount(this.network, accountDescriptor(this.network, master, { purpose, account: 0 })));
    this.source = openRpc(node.rpcUrl, this.network, { pollMs: 10, mempoolMs: 10 });
  }

  /** `wallets`: empty, and closed with the rig. `indexes`: addresses of each branch of each descriptor that both wallets know. */
  static async open(wallets: ComparedStore, indexes: number): Promise<NodeRig> {
    const node = await startNode({ args: ['-keypool=5', '-fallbackfee=0.0002', '-txindex=1'] });
    const { id } = await wallets.createWallet({ name: OURS, isWatchOnly: true });
    const rig = new NodeRig(node, wallets, id, indexes);
    await rig.importScripts();
    await rig.importIntoNode();
    await rig.node.rpc('createwallet', OTHERS);
    await rig.follow();
    return rig;
  }

  get mempool(): MempoolFeed {
    return this.source.mempool!;
  }

  now(): number {
    return this.clock++;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as of the node itself.
  ours<T = any>(method: string, ...params: unknown[]): Promise<T> {
    return this.node.walletRpc<T>(OURS, method, ...params);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as of the node itself.
  others<T = any>(method: string, ...params: unknown[]): Promise<T> {
    return this.node.walletRpc<T>(OTHERS, method, ...params);
  }

  /** The next address of a branch, each time of another kind until all were used, and then from the first on. */
  nextOwner(branch: AddressBranch): DerivedScript {
    const index = this.nextIndexes.get(`${branch}`) ?? 0;
    this.nextIndexes.set(`${branch}`, index + 1);
    const account = this.accounts[index % this.accounts.length];
    return account.derive(branch, Math.floor(index / this.accounts.length) % this.indexes)[0];
  }

  nextAddress(branch: AddressBranch): string {
    return formatAddress(this.network, this.nextOwner(branch).script)!;
  }

  /** The wallet has all blocks of the node, and its mempool. */
  async settle(): Promise<void> {
    const [best, ids] = await Promise.all([this.node.rpc<string>('getbestblockhash'), this.node.rpc<string[]>('getrawmempool')]);
    await until(async () => {
      if (this.failure !== null) throw this.failure;
      const [{ syncedTo }] = await this.wallets.listWallets();
      const hasMempool = ids.length === this.told.size && ids.every((id) => this.told.has(id));
      return hasMempool && syncedTo !== null && formatId(syncedTo.hash) === best;
    }, 'the wallet is where the node is');
    await this.mempoolOfWallet!.moved();
    await this.node.rpc('syncwithvalidationinterfacequeue');
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled(this.running);
    this.ring.wipe();
    await this.wallets.close();
    await this.node.stop();
    rmSync(this.folder, { recursive: true, force: true });
    if (this.failure !== null) throw this.failure;
  }

  private async importScripts(): Promise<void> {
    for (const account of this.accounts)
      for (const branch of [0, 1] as const)
        for (let index = 0; index < this.indexes; index++) {
          const [owner] = account.derive(branch, index);
          const { script, kind, keys } = owner;
          this.owners.set(toHex(script), owner);
          if (kind === 'other') throw new Error('a descriptor of a known kind');
          await this.wallets.importAddress(this.walletId, { script, kind, publicKey: keys[0].publicKey }, this.now());
        }
  }

  /** A wallet of the kind that has no seed, with private descriptors: what the packaged node can make. */
  private async importIntoNode(): Promise<void> {
    await this.node.rpc('createwallet', OURS, false, true);
    const master = masterOf(this.network, SECRET)!;
    const requests: unknown[] = [];
    for (const purpose of PURPOSES)
      for (const branch of [0, 1]) {
        const [before, after] = FORMS[purpose];
        const text = `${before}${master.privateExtendedKey}/${purpose}h/${this.network.keys.coinType}h/0h/${branch}/*${after}`;
        const { checksum } = await this.node.rpc('getdescriptorinfo', text);
        requests.push({ desc: `${text}#${checksum}`, range: [0, this.indexes - 1], timestamp: 'now', internal: branch === 1 });
      }
    const answers = await this.ours<{ success: boolean }[]>('importmulti', requests);
    if (!answers.every(({ success }) => success)) throw new Error(JSON.stringify(answers));
  }

  private async follow(): Promise<void> {
    const { config } = loadConfig({ flags: { set: ['utxo.history=true'] }, env: {} });
    const store: OpenStore = await openStore({ network: this.network.name, data: join(this.folder, 'data'), config });
    const { signal } = this.stopping;
    const feed: WalletFeed = new WalletFeed(this.wallets, { feed: OURS, now: () => this.now(), onMove: () => mempool.moved() });
    const mempool = new WalletMempool(feed, (raw) => walletTxOf(raw, this.network.mweb));
    this.mempoolOfWallet = mempool;
    const source = storeFeed(store, historyTxs(this.network.mweb), store.network.dialect.clock);
    const stopWatching = this.mempool.watch((change) => {
      if (change.kind === 'reset') this.told.clear();
      mempool
        .take(change)
        .then(() => {
          if (change.kind === 'add') for (const raw of change.txs) this.told.add(formatId(walletTxOf(raw, this.network.mweb).id));
          if (change.kind === 'remove') for (const id of change.ids) this.told.delete(formatId(id));
        })
        .catch((error) => (this.failure ??= error));
    });
    const following = store.follow(this.source, { follow: true, signal }).finally(() => stopWatching());
    const feeding = feed.follow(source, signal);
    this.running = [following, feeding].map((work) => work.catch((error) => (this.failure ??= error)));
    this.running = [...this.running, Promise.all(this.running).then(() => store.close())];
  }
}
