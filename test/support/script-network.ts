/**
 * Somebody with a key and a store with a node behind it, over real sockets: a
 * devnet that answers as a node does, with scripts on it, and a store that
 * follows it over its local socket and serves HTTP.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { encodeConwayParameters } from '../../src/chains/cardano/devnet/parameters.ts';
import { matches } from '../../src/chains/cardano/devnet/programs.ts';
import { makeWallet, type Wallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { serveChain } from '../../src/chains/cardano/responder/index.ts';
import { open, type Served, type ServeOptions, type Store } from '../../src/index.ts';
import { formatAddress } from '../../src/ledgers/cardano/index.ts';
import { decodeProtocolParameters, type ExecutionUnits, type ProtocolParameters } from '../../src/ledgers/cardano/protocol-parameters.ts';
import type { OutRef } from '../../src/ledgers/cardano/transaction.ts';
import { writeTransaction } from '../../src/ledgers/cardano/transaction-write.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';
import { temporary } from '../cli/run.ts';
import { until } from './patience.ts';
import { scriptAddress } from './script-tx.ts';
import { signTx } from './sign.ts';

const ADA = 1_000_000n;
const FEE = 400_000n;
/** What the output of `lock` holds. */
const LOCKED = 20n * ADA;
const NO_UNITS: ExecutionUnits = { memory: 0n, steps: 0n };

export class ScriptNetwork {
  readonly chain: LiveDevnet;
  readonly store: Store;
  readonly url: string;
  /** Those of wire shapes with ports of their own. */
  readonly ports: Served['ports'];
  readonly wallet: Wallet;
  readonly parameters: ProtocolParameters = decodeProtocolParameters(encodeConwayParameters());
  private readonly undo: (() => unknown)[];

  private constructor(parts: Pick<ScriptNetwork, 'chain' | 'store' | 'url' | 'ports' | 'wallet'>, undo: (() => unknown)[]) {
    ({ chain: this.chain, store: this.store, url: this.url, ports: this.ports, wallet: this.wallet } = parts);
    this.undo = undo;
  }

  static async start(seed: number, settings: Readonly<Record<string, unknown>> = {}, serve: ServeOptions = {}): Promise<ScriptNetwork> {
    const folder = temporary();
    const chain = new LiveDevnet({ seed, addresses: 3, txPerBlock: 1, scripts: true });
    const wallet = makeWallet(seed);
    for (let i = 0; i < 4; i++) chain.fund(wallet.address, BigInt(100 + i) * ADA);
    chain.mine(10);
    const socket = join(folder, 'node.socket');
    const responder = await serveChain(chain, { port: 0, socket });
    const store = await open({
      data: join(folder, 'store'),
      network: 'devnet',
      genesis: chain.genesis,
      settings: { 'engine.memtableBytes': '8MiB', ...settings },
    });
    const undo: (() => unknown)[] = [() => responder.close(), () => store.close()];
    try {
      const { url, ports } = await store.serve({ port: 0, follows: true, ...serve });
      const stop = new AbortController();
      const following = store.follow(`n2c:${socket}`, { stay: true, signal: stop.signal });
      undo.push(() => {
        stop.abort();
        return following;
      });
      const network = new ScriptNetwork({ chain, store, url, ports, wallet }, undo);
      await network.settled();
      return network;
    } catch (error) {
      for (const each of undo.reverse()) await each();
      throw error;
    }
  }

  /** In bech32. */
  get address(): string {
    return formatAddress(this.wallet.address);
  }

  /** Blocks come, and the store has them. */
  async mine(blocks = 1): Promise<void> {
    this.chain.mine(blocks);
    await this.settled();
  }

  /** The server answers from the newest block. */
  async settled(): Promise<void> {
    const tip = toHex(this.chain.tip.point!.hash);
    await until(
      async () => (await fetch(new URL('api/v1/status', this.url), { method: 'HEAD' })).headers.get('x-block-hash') === tip,
      'the store at the tip',
    );
  }

  /** The wallet's outputs, the richest first. */
  coins(): (OutRef & { readonly lovelace: bigint })[] {
    const { utxos } = this.store.utxos(this.address);
    return utxos
      .map(({ tx_hash, output_index, lovelace_amount }) => ({
        txId: fromHex(tx_hash),
        index: output_index,
        lovelace: BigInt(lovelace_amount!),
      }))
      .sort((a, b) => Number(b.lovelace - a.lovelace));
  }

  /** Signed: an output that whoever names the datum can spend. Its outpoint is number 0 of the transaction. */
  lock(datum: Uint8Array): { readonly tx: Uint8Array; readonly id: Uint8Array } {
    const [coin] = this.coins();
    const outputs = [
      { address: scriptAddress(matches(3)), lovelace: LOCKED, datum },
      { address: this.wallet.address, lovelace: coin.lovelace - LOCKED - FEE },
    ];
    const { tx, id } = writeTransaction({ ...this.common(), inputs: [coin], outputs, scripts: [] });
    return { tx: signTx(tx, this.wallet), id };
  }

  /** Signed: spends what `lock` made. */
  unlock(locked: OutRef, redeemer: Uint8Array, units = NO_UNITS): { readonly tx: Uint8Array; readonly id: Uint8Array } {
    const [coin] = this.coins();
    const { tx, id } = writeTransaction({
      ...this.common(),
      inputs: [{ ...locked, redeemer }],
      outputs: [{ address: this.wallet.address, lovelace: LOCKED - FEE }],
      collateral: { input: coin, total: 2n * FEE, change: { address: this.wallet.address, lovelace: coin.lovelace - 2n * FEE } },
      scripts: [matches(3).script],
      units,
    });
    return { tx: signTx(tx, this.wallet), id };
  }

  /** In a block: a transaction of the wallet with these certificates, as CBOR in hex, that gives so much to the treasury. */
  async certify(certificates: readonly string[], donation = 0n): Promise<void> {
    const [coin] = this.coins();
    const w = new CborWriter().array(4).map(5);
    w.uint(0).array(1).array(2).bytes(coin.txId).uint(coin.index);
    w.uint(1).array(1).array(2).bytes(this.wallet.address);
    w.bigUint(coin.lovelace - FEE - donation);
    w.uint(2).bigUint(FEE).uint(4).array(certificates.length);
    for (const certificate of certificates) w.raw(fromHex(certificate));
    const tx = w.uint(22).bigUint(donation).map(0).bool(true).null().take();
    assert.deepEqual(this.chain.submit(signTx(tx, this.wallet)).accepted, true);
    await this.mine();
  }

  async close(): Promise<void> {
    for (const each of this.undo.reverse()) await each();
  }

  private common() {
    return { fee: FEE, validity: {}, signers: [], references: [], units: NO_UNITS, costModel: this.parameters.costModels.get(2)! };
  }
}

/** A datum with a number in it. */
export function datumOf(value: number): Uint8Array {
  return new CborWriter().tag(121).array(1).uint(value).take();
}
