/**
 * What clients that submit are tried on: a devnet served on a local socket as a
 * node does, a store that follows it there and serves, and a wallet with coins.
 * Blocks come when the test says so.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { makeWallet, type Wallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { serveChain } from '../../src/chains/cardano/responder/index.ts';
import { open } from '../../src/index.ts';
import type { Asset } from '../../src/ledgers/asset.ts';
import { formatAddress } from '../../src/ledgers/cardano/index.ts';
import { readWholeTx } from '../../src/ledgers/cardano/transaction.ts';
import { writeTransaction } from '../../src/ledgers/cardano/transaction-write.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { until } from './patience.ts';
import { signTx } from './sign.ts';

const FEE = 200_000n;
/** Of what they read, what is not kept anyway. */
const SETTINGS = {
  'utxo.datums': true,
  'utxo.scripts': true,
  'utxo.index.asset': true,
  'utxo.index.policy': true,
  'utxo.history': true,
  'engine.memtableBytes': '8MiB',
};

/** Plutus data: the number 42. */
const REDEEMER = Uint8Array.of(0x18, 0x2a);

export interface WalletCoin {
  readonly txId: string;
  readonly index: number;
  readonly lovelace: bigint;
}

export interface SignedTx {
  readonly id: string;
  readonly hex: string;
  readonly unsigned: Uint8Array;
}

export class LiveStage {
  readonly chain: LiveDevnet;
  readonly wallet: Wallet;
  readonly address: string;
  /** Of the node that the devnet is. */
  readonly socket: string;
  /** Of the server, without a slash behind it. */
  readonly origin: string;
  private readonly undo: readonly (() => unknown)[];

  private constructor(chain: LiveDevnet, wallet: Wallet, socket: string, url: string, undo: readonly (() => unknown)[]) {
    this.chain = chain;
    this.socket = socket;
    this.wallet = wallet;
    this.address = formatAddress(wallet.address);
    this.origin = url.replace(/\/$/, '');
    this.undo = undo;
  }

  /** `coins`: outputs of the wallet, in lovelace. */
  static async start(seed: number, coins: readonly bigint[]): Promise<LiveStage> {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-live-'));
    const chain = new LiveDevnet({ seed, txPerBlock: 1 });
    const wallet = makeWallet(seed);
    for (const lovelace of coins) chain.fund(wallet.address, lovelace);
    chain.mine(3);
    const socket = join(folder, 'node.socket');
    const responder = await serveChain(chain, { socket });
    const store = await open({ data: join(folder, 'data'), network: 'devnet', genesis: chain.genesis, settings: SETTINGS });
    const { url } = await store.serve({ port: 0, follows: true });
    const stop = new AbortController();
    const following = store.follow(`n2c:${socket}`, { stay: true, signal: stop.signal });
    const end = (): Promise<unknown> => {
      stop.abort();
      return following;
    };
    const clean = (): void => rmSync(folder, { recursive: true, force: true });
    const stage = new LiveStage(chain, wallet, socket, url, [
      end,
      () => store.close(),
      () => responder.close(),
      () => chain.close(),
      clean,
    ]);
    await stage.settled();
    return stage;
  }

  /** Pays the wallet itself with one of its coins, and mints an asset where wanted; signed. `until`: the first slot it may not be in. */
  payment(coin: WalletCoin, asset?: Asset, until?: number): SignedTx {
    const { address } = this.wallet;
    const input = { txId: fromHex(coin.txId), index: coin.index };
    const { tx } = writeTransaction({
      inputs: [input],
      outputs: [{ address, lovelace: coin.lovelace - FEE, ...(asset === undefined ? {} : { assets: [asset] }) }],
      fee: FEE,
      validity: { until },
      // The devnet does not ask who may mint; but what has a redeemer has collateral.
      mint: asset === undefined ? undefined : { asset, redeemer: REDEEMER },
      collateral: asset === undefined ? undefined : { input, total: coin.lovelace, change: null },
      signers: [],
      references: [],
      scripts: [],
      units: { memory: 1700n, steps: 476_468n },
      costModel: [],
    });
    return this.sign(tx);
  }

  sign(unsigned: Uint8Array): SignedTx {
    const tx = signTx(unsigned, this.wallet);
    return { id: toHex(readWholeTx(tx).id), hex: toHex(tx), unsigned };
  }

  /** Blocks come, and the server answers from the last of them. */
  async mine(blocks = 1): Promise<void> {
    this.chain.mine(blocks);
    await this.settled();
  }

  async settled(): Promise<void> {
    const tip = toHex(this.chain.tip.point!.hash);
    const isThere = async (): Promise<boolean> => {
      const answer = await fetch(`${this.origin}/api/v1/blocks/latest`);
      return ((await answer.json()) as { readonly hash?: string }).hash === tip;
    };
    await until(isThere, 'the server at the tip of the devnet');
  }

  async close(): Promise<void> {
    for (const each of this.undo) await each();
  }
}
