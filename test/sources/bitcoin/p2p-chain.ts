/**
 * A small chain for tests, in memory: forged regtest blocks with real work, that
 * can turn. Each block after the second spends the coinbase of the one before,
 * with a witness, so that a fold over it has something to do and to undo.
 */

import type { ChainNews, ServedChain } from '../../../src/chains/bitcoin/responder/index.ts';
import { type BitcoinNetwork, decodeBlock, decodeTx, genesisBlock, headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, toHex } from '../../../src/util/bytes.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { atTime, forgeBlock, forgeCoinbase, forgeTx, OP_TRUE, u32, withWork } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';

const OP_RETURN = 0x6a;
const REWARD = 5_000_000_000n;
const START_TIME = 1_700_000_000;

interface Known {
  readonly raw: Uint8Array;
  readonly hash: Uint8Array;
  readonly height: number;
  /** What the next block spends. */
  readonly coinbase: Uint8Array;
}

export class TestChain implements ServedChain {
  readonly network: BitcoinNetwork;
  readonly best: Known[];
  /** Bytes that each new block carries besides, in an output that nobody can spend. */
  ballastBytes = 0;
  private readonly known = new Map<string, Known>();
  private readonly waiting = new Map<string, Uint8Array>();
  private readonly listeners = new Set<(news: ChainNews) => void>();
  private made = 0;

  constructor(blocks = 0, network: BitcoinNetwork = regtest) {
    this.network = network;
    const raw = genesisBlock(network);
    this.best = [{ raw, hash: headerHash(raw), height: 0, coinbase: new Uint8Array(32) }];
    this.known.set(toHex(this.best[0].hash), this.best[0]);
    this.mine(blocks);
  }

  get height(): number {
    return this.best.length - 1;
  }

  get tip(): Known {
    return this.best[this.height];
  }

  mine(blocks: number): void {
    for (let i = 0; i < blocks; i++) this.grow();
    this.waiting.clear();
    if (blocks > 0) this.tell({ kind: 'tip' });
  }

  /** Takes over a block that another chain made on the same tip. */
  adopt(raw: Uint8Array): void {
    const { tip } = this;
    const { txs } = decodeBlock(raw, tip.height + 1);
    this.add({ raw, hash: headerHash(raw), height: tip.height + 1, coinbase: txs[0].id });
    this.tell({ kind: 'tip' });
  }

  /** Another branch, one block longer. */
  fork(depth: number): void {
    this.best.length -= depth;
    this.mine(depth + 1);
  }

  /** A transaction that the chain would take: spends the newest coinbase. */
  payment(): Uint8Array {
    return forgeTx({
      inputs: [{ txId: this.tip.coinbase, index: 0, witness: [OP_TRUE, u32(this.made++)] }],
      outputs: [{ value: REWARD - 1000n, script: concatBytes(OP_TRUE, u32(this.made)) }],
    });
  }

  hashAt(height: number): Uint8Array | null {
    return this.best[height]?.hash ?? null;
  }

  heightOf(hash: Uint8Array): number | null {
    const found = this.known.get(toHex(hash));
    return found !== undefined && this.best[found.height] === found ? found.height : null;
  }

  block(hash: Uint8Array): Uint8Array | null {
    return this.known.get(toHex(hash))?.raw ?? null;
  }

  mempool(): readonly Uint8Array[] {
    return [...this.waiting.values()].map((raw) => decodeTx(raw).id);
  }

  tx(id: Uint8Array): Uint8Array | null {
    return this.waiting.get(toHex(id)) ?? null;
  }

  submit(raw: Uint8Array): Uint8Array {
    const tx = decodeTx(raw);
    const [spend] = tx.spends;
    if (toHex(raw, spend.at, spend.at + 32) !== toHex(this.tip.coinbase))
      throw new UnspentError('TX_REFUSED', 'bad-txns-inputs-missingorspent');
    this.waiting.set(toHex(tx.id), raw);
    this.tell({ kind: 'tx', id: tx.id });
    return tx.id;
  }

  watch(listener: (news: ChainNews) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get watchers(): number {
    return this.listeners.size;
  }

  private grow(): void {
    const { tip } = this;
    const height = tip.height + 1;
    const spends = [{ inputs: [{ txId: tip.coinbase, index: 0, witness: [OP_TRUE] }], outputs: [{ value: REWARD / 2n, script: OP_TRUE }] }];
    const others = height < 2 ? [] : spends.map(forgeTx);
    const reward = { value: REWARD, script: concatBytes(OP_TRUE, u32(this.made++)) };
    const ballast = { value: 0n, script: new Uint8Array(this.ballastBytes).fill(OP_RETURN) };
    const coinbase = forgeCoinbase(height, this.ballastBytes === 0 ? [reward] : [reward, ballast], others);
    const raw = withWork(atTime(forgeBlock(tip.hash, [coinbase, ...others]), START_TIME + height));
    this.add({ raw, hash: headerHash(raw), height, coinbase: decodeTx(coinbase).id });
  }

  private add(block: Known): void {
    this.known.set(toHex(block.hash), block);
    this.best.push(block);
  }

  private tell(news: ChainNews): void {
    for (const listener of [...this.listeners]) listener(news);
  }
}
