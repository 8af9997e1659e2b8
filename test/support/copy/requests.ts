/**
 * Requests by chance to a server of a devnet: every kind of route of the native
 * API, Kupo and Blockfrost, about things that are, were or never were on the
 * chain, at the newest block and at earlier ones.
 */
import type { InjectOptions } from 'fastify';
import type { ModelUtxo } from '../../../src/chains/cardano/devnet/model.ts';
import type { Random } from '../../../src/chains/random.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { keysOf } from '../expected.ts';
import type { Devnet } from '../harness.ts';

type Make = (requests: RandomRequests) => string;

/** Routes by kind; each is asked about something else every time. */
const ROUTES: Readonly<Record<string, Make>> = {
  outpoint: (r) => `/utxos/${r.output.txId}/${r.output.index}${r.at()}`,
  addressUtxos: (r) => `/addresses/${r.address}/utxos${r.list()}`,
  addressAll: (r) => `/addresses/${r.address}/utxos?all=true${r.at('&')}`,
  addressBalance: (r) => `/addresses/${r.address}/balance${r.at()}`,
  addressHistory: (r) => `/addresses/${r.address}/txs${r.list()}`,
  credentialUtxos: (r) => `/credentials/${r.key('payment')}/utxos${r.list()}`,
  stakeUtxos: (r) => `/stake/${r.key('stake')}/utxos${r.list()}`,
  tx: (r) => `/txs/${r.txId}`,
  txUtxos: (r) => `/txs/${r.txId}/utxos`,
  stakeTxs: (r) => `/stake/${r.key('stake')}/txs${r.list()}`,
  stakeBalance: (r) => `/stake/${r.key('stake')}/balance${r.at()}`,
  credentialTxs: (r) => `/credentials/${r.key('payment')}/txs${r.list()}`,
  block: (r) => `/blocks/${r.place}`,
  blockChanges: (r) => `/blocks/${r.place}/changes`,
  columnChanges: (r) => `/changes?limit=${1 + r.random.int(6)}&after=${r.recent}`,
  latest: () => '/blocks/latest',
  roots: (r) => `/roots${r.at()}`,
  csmtRoot: (r) => `/csmt/root${r.at()}`,
  csmtProof: (r) => `/csmt/utxo/${r.output.txId}/${r.output.index}/proof${r.at()}`,
  csmtOwner: (r) => `/csmt/addresses/${r.address}/proof${r.at()}`,
  kupo: (r) => `//kupo/matches/${r.address}${r.random.pick(['', '?unspent', '?spent', '?order=oldest_first'])}`,
  kupoTx: (r) => `//kupo/matches/*@${r.txId}`,
  kupoCheckpoints: () => '//kupo/checkpoints',
  frostAddress: (r) => `//blockfrost/addresses/${r.address}`,
  frostUtxos: (r) => `//blockfrost/addresses/${r.address}/utxos?count=${1 + r.random.int(20)}&page=${1 + r.random.int(3)}`,
  frostTx: (r) => `//blockfrost/txs/${r.txId}`,
  frostTxUtxos: (r) => `//blockfrost/txs/${r.txId}/utxos`,
  frostLatest: () => '//blockfrost/blocks/latest',
  frostBlock: (r) => `//blockfrost/blocks/${r.random.int(60)}/txs`,
};

export class RandomRequests {
  readonly random: Random;
  private readonly devnet: Devnet;

  constructor(random: Random, devnet: Devnet) {
    this.random = random;
    this.devnet = devnet;
  }

  static get kinds(): readonly string[] {
    return Object.keys(ROUTES);
  }

  next(kind: string = this.random.pick(RandomRequests.kinds)): InjectOptions & { readonly url: string } {
    const path = ROUTES[kind](this);
    const url = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
    const accept = this.random.chance(0.15) ? { accept: 'application/cbor' } : {};
    return { method: 'GET', url, headers: { host: 'localhost', ...accept } };
  }

  get output(): { readonly txId: string; readonly index: number } {
    const { txId, index } = this.anyOutput();
    return { txId: this.random.chance(0.05) ? '00'.repeat(32) : toHex(txId), index };
  }

  get address(): string {
    return this.anyOutput().addressHex;
  }

  key(kind: 'payment' | 'stake'): string {
    for (let tries = 0; tries < 50; tries++) {
      const key = keysOf(this.anyOutput())[kind];
      if (key !== undefined) return toHex(key);
    }
    return '00'.repeat(28);
  }

  get txId(): string {
    return this.output.txId;
  }

  get place(): string {
    const { blocks } = this.devnet.chain;
    if (blocks.length === 0 || this.random.chance(0.1)) return `height:${this.random.int(100)}`;
    return toHex(this.random.pick(blocks).hash);
  }

  /** The hash of a block that is not far below. */
  get recent(): string {
    const { blocks } = this.devnet.chain;
    return blocks.length === 0 ? 'origin' : toHex(this.random.pick(blocks.slice(-12)).hash);
  }

  list(): string {
    const parts = [`limit=${1 + this.random.int(40)}`, ...(this.random.chance(0.4) ? ['order=desc'] : [])];
    return `?${parts.join('&')}${this.at('&')}`;
  }

  /** Now and then an earlier block. */
  at(sign = '?'): string {
    const { blocks } = this.devnet.chain;
    return blocks.length === 0 || !this.random.chance(0.2) ? '' : `${sign}at=${toHex(this.random.pick(blocks.slice(-30)).hash)}`;
  }

  private anyOutput(): ModelUtxo {
    const { blocks } = this.devnet.chain;
    const made = blocks.length === 0 ? [] : this.random.pick(blocks).txs.flatMap(({ creates }) => creates);
    return this.random.pick(made.length > 0 ? made : this.devnet.genesis);
  }
}
