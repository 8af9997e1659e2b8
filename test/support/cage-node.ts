/**
 * A devnet served on a local socket as a node does, and a store that follows it
 * there: what a program of the cage protocol has around it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CageContext, openCage } from '../../src/cage.ts';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { makeWallet, type Wallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { type Responder, serveChain } from '../../src/chains/cardano/responder/index.ts';
import { type OpenOptions, open, type Store } from '../../src/index.ts';
import type { Asset } from '../../src/ledgers/asset.ts';
import { formatAddress, slotToTime } from '../../src/ledgers/cardano/index.ts';
import { writeTransaction } from '../../src/ledgers/cardano/transaction-write.ts';
import { concatBytes, fromHex } from '../../src/util/bytes.ts';
import { signTx } from './sign.ts';

/** The time of a devnet's newest block, in POSIX milliseconds. */
export function timeOf({ network, tip }: LiveDevnet): number {
  return 1000 * slotToTime(network, tip.point!.slot);
}

export class CageNodeRig {
  readonly chain: LiveDevnet;
  readonly wallet: Wallet;
  readonly address: string;
  /** Of the node's local socket. */
  readonly url: string;
  readonly store: Store;
  readonly cage: CageContext;
  private readonly responder: Responder;
  private readonly folder: string;
  private readonly stop = new AbortController();
  private readonly following: Promise<unknown>;

  /** `coins`: outputs of the wallet, in lovelace. `more`: settings of the store besides those it needs. */
  static async start(seed: number, coins: readonly bigint[], more: OpenOptions['settings'] = {}): Promise<CageNodeRig> {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-cage-node-'));
    const chain = new LiveDevnet({ seed, txPerBlock: 1 });
    const wallet = makeWallet(seed);
    for (const lovelace of coins) chain.fund(wallet.address, lovelace);
    chain.mine(3);
    const socket = join(folder, 'node.socket');
    const responder = await serveChain(chain, { socket });
    const settings = { 'cage.enabled': true, 'cage.deployments': 'devnet', 'engine.memtableBytes': '8MiB', ...more };
    const store = await open({ data: join(folder, 'data'), network: 'devnet', genesis: chain.genesis, settings });
    return new CageNodeRig(
      folder,
      chain,
      wallet,
      responder,
      store,
      openCage(store, { node: `n2c:${socket}`, clock: () => timeOf(chain) }),
      `n2c:${socket}`,
    );
  }

  private constructor(
    folder: string,
    chain: LiveDevnet,
    wallet: Wallet,
    responder: Responder,
    store: Store,
    cage: CageContext,
    url: string,
  ) {
    this.folder = folder;
    this.chain = chain;
    this.wallet = wallet;
    this.address = formatAddress(wallet.address);
    this.url = url;
    this.responder = responder;
    this.store = store;
    this.cage = cage;
    this.following = store.follow(url, { stay: true, signal: this.stop.signal });
  }

  /** Waits until the store has the newest block. */
  async settled(): Promise<void> {
    await this.cage.indexer.waitForBlock(this.chain.tip.height);
  }

  async mine(blocks = 1): Promise<void> {
    this.chain.mine(blocks);
    await this.settled();
  }

  /** Of the chain, in POSIX milliseconds; the program's clock. */
  get now(): number {
    return timeOf(this.chain);
  }

  /** Blocks come until so much time has passed. */
  async pass(ms: number): Promise<void> {
    for (const until = this.now + ms; this.now < until; ) this.chain.mine();
    await this.settled();
  }

  /** Leaves an output without a datum at a script, with an asset beside its lovelace where wanted: output 0 of the transaction. Anybody can. */
  async leaveAt(script: Uint8Array, asset?: Asset): Promise<string> {
    const [coin] = this.cage.provider.utxos(this.address);
    const input = { txId: fromHex(coin.tx_hash), index: coin.output_index };
    const lovelace = BigInt(coin.lovelace_amount!);
    const { address } = this.wallet;
    const [left, fee] = [2_000_000n, 200_000n];
    const { tx } = writeTransaction({
      inputs: [input],
      outputs: [
        { address: concatBytes(Uint8Array.of(0x70), script), lovelace: left, ...(asset === undefined ? {} : { assets: [asset] }) },
        { address, lovelace: lovelace - left - fee },
      ],
      fee,
      validity: {},
      // The devnet does not ask who may mint; but what has a redeemer has collateral.
      mint: asset === undefined ? undefined : { asset, redeemer: Uint8Array.of(0) },
      collateral: asset === undefined ? undefined : { input, total: 1_000_000n, change: { address, lovelace: lovelace - 1_000_000n } },
      signers: [],
      references: [],
      scripts: [],
      units: { memory: 0n, steps: 0n },
      costModel: [],
    });
    const id = await this.cage.submitter.submit(signTx(tx, this.wallet));
    await this.mine();
    return id;
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.following;
    await this.cage.close();
    await this.responder.close();
    await this.chain.close();
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
