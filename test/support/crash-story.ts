/**
 * The devnet that makes the tree, and what it says every block adds up to. The
 * producer's own account of each transaction is folded along the branch here:
 * nothing on this side decodes a block or reads a store.
 */
import { type DevnetBlock, DevnetChain } from '../../src/chains/cardano/devnet/index.ts';
import { GENESIS_HEIGHT, type ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { Random } from '../../src/chains/random.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { toHex, utf8 } from '../../src/util/bytes.ts';
import { assert } from '../../src/util/errors.ts';
import { cageLines } from './crash-cages.ts';
import { pathTo, Tree, type TreeBlock } from './crash-tree.ts';

/** Heights between two comparisons of our fold with the producer's own digest. */
const CHECK_EVERY = 100;
const FORK_BLOCKS_MAX = 40;

/** An output as it stands in the store: genesis outputs came with the first block. */
export interface StoryOutput {
  readonly utxo: ModelUtxo;
  readonly height: number;
  readonly slot: number;
}

export interface StorySpend extends StoryOutput {
  /** Null: removed by the ledger itself. */
  readonly by: { readonly txId: string; readonly input: number } | null;
  readonly spentHeight: number;
  readonly spentSlot: number;
}

export interface StoryTx {
  readonly height: number;
  readonly index: number;
  readonly valid: boolean;
}

/** All that is true at one block. */
export interface StoryState {
  readonly path: readonly TreeBlock[];
  readonly unspent: ReadonlyMap<string, StoryOutput>;
  readonly spent: ReadonlyMap<string, StorySpend>;
  readonly txs: ReadonlyMap<string, StoryTx>;
  readonly value: bigint;
  readonly digest: string;
}

interface Effects {
  readonly mined: DevnetBlock;
  readonly dropped: readonly ModelUtxo[];
}

export class Story {
  readonly tree: Tree;
  /** The last block of the main chain. */
  readonly end: TreeBlock;
  private readonly chain: DevnetChain;
  private readonly genesis: readonly ModelUtxo[];
  private readonly effects = new Map<TreeBlock, Effects>();
  private readonly cages = new Map<TreeBlock, readonly string[]>();

  /** Every era from Byron on, boundary blocks and boundary effects among the first two hundred blocks. `withCages`: of the last era alone, with cages. */
  constructor(seed: number, blocks: number, withCages = false) {
    const random = new Random(seed, 7);
    this.chain = new DevnetChain({
      seed,
      txPerBlock: 1.5,
      ...(withCages ? { cages: true } : { byron: { epochs: 3, slotsPerEpoch: 200 } }),
    });
    this.genesis = [...this.chain.utxos.values()];
    this.tree = new Tree({ byron: this.chain.genesisByron, shelley: this.chain.genesisShelley });
    let tip: TreeBlock | null = null;
    for (let made = 0; made < blocks; made++) {
      if (made > 2 && random.chance(0.06)) this.fork(tip, 1 + random.int(FORK_BLOCKS_MAX));
      tip = this.mine(tip);
      if (made % CHECK_EVERY === 0) this.compare(tip);
    }
    assert(tip !== null, 'a story has a block');
    this.end = tip;
    this.compare(tip);
  }

  stateAt(block: TreeBlock | null): StoryState {
    const path = pathTo(block);
    const unspent = new Map<string, StoryOutput>();
    const spent = new Map<string, StorySpend>();
    const txs = new Map<string, StoryTx>();
    if (path.length > 0) for (const utxo of this.genesis) unspent.set(utxo.key, { utxo, height: path[0].height, slot: path[0].slot });
    for (const each of path) {
      const { mined, dropped } = this.effects.get(each)!;
      const spend = (utxo: ModelUtxo, by: StorySpend['by']) => {
        const output = unspent.get(utxo.key);
        assert(output !== undefined, `${utxo.key} is unspent before block ${each.height}`);
        unspent.delete(utxo.key);
        spent.set(utxo.key, { ...output, by, spentHeight: each.height, spentSlot: each.slot });
      };
      for (const utxo of dropped) spend(utxo, null);
      for (const [index, tx] of mined.txs.entries()) {
        for (const [input, utxo] of tx.spends.entries()) spend(utxo, { txId: tx.id, input });
        for (const utxo of tx.creates) unspent.set(utxo.key, { utxo, height: utxo.height, slot: utxo.slot });
        txs.set(tx.id, { height: each.height, index, valid: tx.valid });
      }
    }
    let value = 0n;
    for (const { utxo } of unspent.values()) value += utxo.lovelace;
    return { path, unspent, spent, txs, value, digest: digestOf(unspent) };
  }

  /** What cages there are after it; undefined: before the first block. */
  cagesAt(block: TreeBlock | null): readonly string[] | undefined {
    return block === null ? undefined : this.cages.get(block);
  }

  minedAt(block: TreeBlock): DevnetBlock {
    return this.effects.get(block)!.mined;
  }

  isGenesis(output: StoryOutput): boolean {
    return output.utxo.height === GENESIS_HEIGHT;
  }

  private mine(parent: TreeBlock | null): TreeBlock {
    const { chain } = this;
    const eraBefore = chain.tip?.era;
    const before = [...chain.utxos.values()];
    const raw = chain.mine();
    const mined = chain.tip!;
    const block = this.tree.add(parent, mined.height, mined.slot, toHex(mined.hash), raw);
    // Only where an era begins does the ledger itself remove outputs.
    const spentByTx = new Set(mined.txs.flatMap((tx) => tx.spends));
    const gone = eraBefore === mined.era ? [] : before.filter((utxo) => !chain.utxos.has(utxo.key) && !spentByTx.has(utxo));
    this.effects.set(block, { mined, dropped: gone });
    if (chain.cages !== null) this.cages.set(block, cageLines(chain.cages));
    return block;
  }

  private fork(from: TreeBlock | null, length: number): void {
    let tip = from;
    for (let i = 0; i < length; i++) tip = this.mine(tip);
    this.compare(tip);
    this.chain.rollback(length);
  }

  /** The fold above must agree with the producer's running account. */
  private compare(block: TreeBlock | null): void {
    const state = this.stateAt(block);
    assert(state.unspent.size === this.chain.count && state.value === this.chain.value, 'the story counts as its producer does');
    assert(state.digest === this.chain.digest(), 'the story adds up as its producer says');
  }
}

function digestOf(unspent: ReadonlyMap<string, StoryOutput>): string {
  const lines = [...unspent.keys()].sort().map((key) => `${key} ${unspent.get(key)!.utxo.lovelace}\n`);
  return toHex(sha256(utf8(lines.join(''))));
}
