/**
 * Things that happen to a wallet, drawn by chance and done by a real node:
 * payments in and out, replacements, double spends in the mempool and in blocks,
 * reorganisations in which coinbases go and come back.
 */
import assert from 'node:assert/strict';
import { Random } from '../../../src/chains/random.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import { NodeError } from '../../support/core-node.ts';
import { Comparison } from './node-compare.ts';
import type { NodeRig } from './node-rig.ts';
import { NodeSpender } from './node-spender.ts';

/** Blocks before the first coinbase may be spent, and some for the reorganisations to go back through. */
export const FIRST_BLOCKS = 130;
export const REORG_DEPTH_MAX = 20;
const FEE_RATE = 0.0002;

/** What may happen, and how often. */
const STEPS = [
  ['payIn', 6],
  ['payOut', 5],
  ['bumpIn', 4],
  ['bumpOut', 4],
  ['doubleSpendIn', 3],
  ['doubleSpendOut', 3],
  ['sendByPsbt', 4],
  ['bumpByPsbt', 4],
  ['resend', 3],
  ['mine', 10],
  ['reorganise', 3],
] as const;

type StepName = (typeof STEPS)[number][0];

/** Each at least once, in an order in which each finds what it needs. */
const PROLOGUE: readonly StepName[] = [
  'payIn',
  'bumpIn',
  'doubleSpendIn',
  'mine',
  'payOut',
  'bumpOut',
  'doubleSpendOut',
  'sendByPsbt',
  'bumpByPsbt',
  'mine',
];

interface MempoolEntry {
  readonly descendantcount: number;
}

export class NodeWalk {
  readonly comparison: Comparison;
  readonly spender: NodeSpender;
  readonly done: Record<StepName, number>;
  blocks = 0;
  /** Steps that the node did not want to take. */
  refusals = 0;
  deepest = 0;
  private readonly rig: NodeRig;
  private readonly random: Random;

  constructor(rig: NodeRig, seed: number) {
    this.rig = rig;
    this.random = new Random(seed);
    this.comparison = new Comparison(rig);
    this.spender = new NodeSpender(rig, this.random);
    this.done = Object.fromEntries(STEPS.map(([name]) => [name, 0])) as Record<StepName, number>;
  }

  /** Coins for both sides; some of ours are about to be mature. */
  async begin(): Promise<void> {
    for (let n = 0; n < FIRST_BLOCKS; n += 5) await this.mineTo(n % 10 === 0 ? await this.otherAddress() : this.rig.nextAddress(0), 5);
    await this.comparison.assertSame('at first');
    for (const name of PROLOGUE) assert.ok(await this.act(name), name);
    await this.spender.assertConfirmed();
    for (const name of ['sendByPsbt', 'reorganise'] as const) assert.ok(await this.act(name), name);
  }

  /** Something by chance, and the comparison after it. */
  async step(): Promise<void> {
    await this.act(this.random.weighted(STEPS));
  }

  /** A reorganisation as deep as they come. */
  async end(): Promise<void> {
    await this.reorganise(REORG_DEPTH_MAX);
    await this.comparison.assertSame('at the end');
  }

  summary(): string {
    const { compared, withoutBalances, plain, coins } = this.comparison;
    return JSON.stringify({
      blocks: this.blocks,
      deepest: this.deepest,
      ...this.done,
      refusals: this.refusals,
      compared,
      withoutBalances,
      plain,
      coins,
    });
  }

  /** False: there was nothing to do it with. */
  private async act(name: StepName): Promise<boolean> {
    try {
      if (!(await this[name]())) return false;
    } catch (error) {
      // It does not bump a fee where its wallet has something that was built on it, in the mempool or not.
      if (!(error instanceof NodeError)) throw error;
      this.refusals++;
      return false;
    }
    this.done[name]++;
    await this.comparison.assertSame(`${name}, after ${this.blocks} blocks`);
    return true;
  }

  async payIn(): Promise<boolean> {
    const amounts: Record<string, number> = {};
    for (let n = 0; n <= this.random.int(3); n++) amounts[this.rig.nextAddress(this.random.chance(0.9) ? 0 : 1)] = this.amount();
    await this.rig.others('sendmany', '', amounts, 1, '', [], true);
    return true;
  }

  /** To others, or to ourselves. */
  async payOut(): Promise<boolean> {
    const to = this.random.chance(0.7) ? await this.otherAddress() : this.rig.nextAddress(0);
    const { mine } = await this.rig.ours('getbalances');
    if (mine.trusted < 1) return false;
    const raw = await this.rig.node.rpc('createrawtransaction', [], [{ [to]: this.amount() }]);
    const options = { changeAddress: this.rig.nextAddress(1), replaceable: true, feeRate: FEE_RATE };
    const { hex } = await this.rig.ours('fundrawtransaction', raw, options);
    const signed = await this.rig.ours('signrawtransactionwithwallet', hex);
    await this.rig.node.rpc('sendrawtransaction', signed.hex);
    return true;
  }

  async bumpIn(): Promise<boolean> {
    const id = await this.waiting('others');
    if (id === null) return false;
    await this.rig.others('bumpfee', id);
    return true;
  }

  async bumpOut(): Promise<boolean> {
    const id = await this.waiting('ours', true);
    if (id === null) return false;
    await this.rig.ours('bumpfee', id);
    return true;
  }

  /** Whoever paid us pays itself instead. */
  async doubleSpendIn(): Promise<boolean> {
    const id = await this.waiting('others');
    if (id === null) return false;
    const hex = await this.rival(id, await this.otherAddress(), 'others');
    await this.rig.node.rpc('sendrawtransaction', hex);
    return true;
  }

  /** A block has another transaction than the one that the mempool has, with fewer inputs where it has several. */
  async doubleSpendOut(): Promise<boolean> {
    const id = await this.waiting('ours');
    if (id === null) return false;
    const hex = await this.rival(id, this.random.chance(0.5) ? await this.otherAddress() : this.rig.nextAddress(0), 'ours');
    await this.rig.node.rpc('generateblock', await this.otherAddress(), [hex]);
    this.blocks++;
    return true;
  }

  async sendByPsbt(): Promise<boolean> {
    return this.spender.send(BigInt(1 + this.random.int(300)) * 1_000_000n);
  }

  async bumpByPsbt(): Promise<boolean> {
    return this.spender.bump();
  }

  /** What is in no block and was evicted is sent again, as wallets do. What the node refuses stays out. */
  async resend(): Promise<boolean> {
    const rows = await this.rig.wallets.listTxs(this.rig.walletId, 'unmined');
    const evicted = rows.filter(isEvicted).toReversed();
    for (const { tx } of evicted) {
      try {
        await this.rig.node.rpc('sendrawtransaction', toHex(tx.raw));
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
      }
    }
    return evicted.length > 0;
  }

  async mine(): Promise<boolean> {
    const to = this.random.chance(0.5) ? this.rig.nextAddress(0) : await this.otherAddress();
    await this.mineTo(to, 1 + this.random.int(4));
    return true;
  }

  /** Back by some blocks; then another branch, with the transactions or without them, or a shorter one that loses against the old. */
  async reorganise(depth = 1 + this.random.int(REORG_DEPTH_MAX)): Promise<boolean> {
    const { node } = this.rig;
    const height = await node.rpc<number>('getblockcount');
    const lost = await node.rpc<string>('getblockhash', height - depth + 1);
    await node.rpc('invalidateblock', lost);
    this.deepest = Math.max(this.deepest, depth);
    await this.comparison.assertSame(`${depth} blocks back, after ${this.blocks} blocks`);
    const way = this.random.weighted([
      ['again', 3],
      ['empty', 2],
      ['return', 3],
    ]);
    if (way === 'again') await this.mineTo(this.rig.nextAddress(0), depth + 1);
    if (way === 'empty') for (let n = 0; n <= depth; n++) await node.rpc('generateblock', this.rig.nextAddress(0), []);
    if (way === 'return') {
      if (depth > 1) await this.mineTo(this.rig.nextAddress(0), depth - 1);
      await this.comparison.assertSame(`on a branch that loses, after ${this.blocks} blocks`);
      await node.rpc('reconsiderblock', lost);
      // Perhaps to a branch that was lost before: the node forgives all that stands on the block.
      assert.ok((await node.rpc<number>('getblockcount')) >= height, 'the old branch is back');
    } else this.blocks++;
    return true;
  }

  async mineTo(address: string, count: number): Promise<void> {
    await this.rig.node.rpc('generatetoaddress', count, address);
    this.blocks += count;
  }

  /** A transaction in the mempool that spends only what a wallet owns, and that nothing was built on; null: there is none. */
  private async waiting(wallet: 'ours' | 'others', hasChange = false): Promise<string | null> {
    const { node } = this.rig;
    const found: string[] = [];
    for (const id of await node.rpc<string[]>('getrawmempool')) {
      const { descendantcount } = await node.rpc<MempoolEntry>('getmempoolentry', id);
      const { vin, vout } = await node.rpc('getrawtransaction', id, true);
      if (descendantcount > 1 || !(await this.ownsAll(wallet, vin))) continue;
      // The node bumps a fee only at the cost of change: this wallet of it cannot make an address.
      const addresses: string[] = vout.flatMap(({ scriptPubKey }: { scriptPubKey: { addresses: string[] } }) => scriptPubKey.addresses);
      const infos = await Promise.all(addresses.map((address) => this.rig[wallet]<{ ischange: boolean }>('getaddressinfo', address)));
      if (!hasChange || infos.some(({ ischange }) => ischange)) found.push(id);
    }
    return found.length === 0 ? null : this.random.pick(found);
  }

  private async ownsAll(wallet: 'ours' | 'others', vin: readonly { readonly txid: string; readonly vout: number }[]): Promise<boolean> {
    for (const { txid, vout } of vin) {
      const { vout: outputs } = await this.rig.node.rpc('getrawtransaction', txid, true);
      const [address] = outputs[vout].scriptPubKey.addresses;
      const { ismine } = await this.rig[wallet]('getaddressinfo', address);
      if (!ismine) return false;
    }
    return true;
  }

  /** Spends one input of the transaction, or all, to one address, with a fee that a replacement needs. */
  private async rival(id: string, address: string, wallet: 'ours' | 'others'): Promise<string> {
    const { node } = this.rig;
    const { vin } = await node.rpc('getrawtransaction', id, true);
    const { fees } = await node.rpc('getmempoolentry', id);
    const inputs = wallet === 'ours' ? vin.slice(0, 1 + this.random.int(vin.length)) : vin;
    let total = 0;
    for (const { txid, vout } of inputs) total += (await node.rpc('getrawtransaction', txid, true)).vout[vout].value;
    const value = total - 2 * fees.base - 0.001;
    const raw = await node.rpc(
      'createrawtransaction',
      inputs.map(({ txid, vout }: { txid: string; vout: number }) => ({ txid, vout, sequence: 0xffff_fffd })),
      [{ [address]: value.toFixed(8) }],
    );
    const { hex, complete } = await this.rig[wallet]('signrawtransactionwithwallet', raw);
    assert.ok(complete, 'the node signs');
    return hex;
  }

  private otherAddress(): Promise<string> {
    return this.rig.others<string>('getnewaddress');
  }

  private amount(): number {
    return (1 + this.random.int(500)) / 100;
  }
}
