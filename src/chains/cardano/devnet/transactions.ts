/**
 * Drafts transactions: which coins go in, what comes out, and in which of the
 * many shapes the chain allows. Value is conserved in every one: inputs and
 * mint equal outputs and fee; of an invalid one, collateral equals what comes
 * back and what is taken.
 */
import { toHex } from '../../../util/bytes.ts';
import type { AddressBook } from './addresses.ts';
import type { Draft } from './body.ts';
import { ERA, type Features } from './features.ts';
import { type Assets, type ModelUtxo, NO_ASSETS } from './model.ts';
import { type DraftContext, type DraftOutput, makeOutput } from './outputs.ts';
import { HUGE, type SpendablePools } from './spendable-pools.ts';

const ADA = 1_000_000n;
/** Least of an output: above what the ledger asks of any shape made here. */
const OUTPUT_MIN = 2n * ADA;
/** Above this a coin is worth splitting into many outputs. */
const WIDE_MIN = 4000n * ADA;
const POLICIES = 24;

export type Plan = keyof Pick<
  Features,
  'pay' | 'mint' | 'burn' | 'invalid' | 'invalidWithReturn' | 'returnSpent' | 'chain' | 'huge' | 'allToFee' | 'wide'
>;

/** Weights of the plans an era knows. */
export function plansOf(features: Features, era: number): readonly (readonly [Plan, number])[] {
  const plans: [Plan, number][] = [
    ['pay', features.pay],
    ['chain', features.chain],
    ['huge', features.huge],
    ['allToFee', features.allToFee],
    ['wide', features.wide],
  ];
  if (era >= ERA.mary) plans.push(['mint', features.mint], ['burn', features.burn]);
  if (era >= ERA.alonzo) plans.push(['invalid', features.invalid]);
  if (era >= ERA.babbage) plans.push(['invalidWithReturn', features.invalidWithReturn], ['returnSpent', features.returnSpent]);
  return plans;
}

export class Drafter {
  private readonly shop: DraftContext;
  private readonly book: AddressBook;
  private readonly purse: SpendablePools;
  private readonly policies: readonly string[];

  constructor(shop: DraftContext, book: AddressBook, purse: SpendablePools) {
    this.shop = shop;
    this.book = book;
    this.purse = purse;
    this.policies = Array.from({ length: POLICIES }, () => toHex(shop.random.bytes(28)));
  }

  /** Null when there is nothing left to spend. */
  pay(era: number, inputs: readonly ModelUtxo[] = this.gather()): Draft | null {
    return this.balance(era, inputs, NO_ASSETS, 1 + this.shop.random.int(4));
  }

  wide(era: number): Draft | null {
    const { random } = this.shop;
    const [coin] = this.purse.coins.draw(random, 8).filter((utxo) => utxo.lovelace > WIDE_MIN);
    const count = random.chance(0.2) ? 257 + random.int(40) : 24 + random.int(30);
    return this.balance(era, coin === undefined ? this.gather() : [coin], NO_ASSETS, count);
  }

  mint(era: number): Draft | null {
    const { random } = this.shop;
    const mint = new Map<string, bigint>();
    for (let i = 0, n = 1 + random.int(3); i < n; i++) {
      const huge = random.chance(0.15);
      // A huge quantity gets a name of its own, so that sums stay within 64 bits.
      const name = huge ? random.bytes(32) : random.pick(NAMES);
      mint.set(`${random.pick(this.policies)}.${toHex(name)}`, huge ? HUGE + random.big(HUGE << 9n) : 1n + random.big(1_000_000_000n));
    }
    return this.balance(era, this.gather(), mint, 1 + random.int(3));
  }

  burn(era: number): Draft | null {
    const { random } = this.shop;
    const [token] = this.purse.tokens.draw(random, 1);
    if (token === undefined) return this.mint(era);
    const mint = new Map<string, bigint>();
    for (const [asset, quantity] of token.assets) {
      if (mint.size === 0 || random.chance(0.5)) mint.set(asset, random.chance(0.5) ? -quantity : -1n - random.big(quantity));
    }
    return this.balance(era, [token, ...this.purse.coins.draw(random, 1)], mint, 1 + random.int(2));
  }

  /** A huge coin pays a little and stays huge; null when none is left. */
  huge(era: number): Draft | null {
    const { random } = this.shop;
    const inputs = this.purse.huge.draw(random, 1);
    if (inputs.length === 0) return null;
    const fee = this.fee();
    const paid = 5000n * ADA + random.big(5000n * ADA);
    const outputs = [this.output(era, paid, NO_ASSETS), this.output(era, inputs[0].lovelace - fee - paid, NO_ASSETS)];
    return { inputs, outputs, fee, valid: true };
  }

  /** The smallest of a few coins, so that the devnet does not run dry. */
  allToFee(): Draft | null {
    const drawn = this.purse.coins.draw(this.shop.random, 6);
    if (drawn.length < 2) return null;
    const least = drawn.reduce((a, b) => (b.lovelace < a.lovelace ? b : a));
    return { inputs: [least], outputs: [], fee: least.lovelace, valid: true };
  }

  /** Phase-2 invalid. Its inputs, outputs and mint are there to be ignored. */
  invalid(era: number, withReturn: boolean): Draft | null {
    const { random } = this.shop;
    const promised = random.chance(0.3) && era >= ERA.mary ? this.mint(era) : this.pay(era);
    const collateral = this.purse.coins.draw(random, 1 + random.int(2));
    if (promised === null || collateral.length === 0) return null;
    // The ledger lets collateral carry tokens as long as they all come back.
    if (withReturn && random.chance(0.3)) collateral.push(...this.purse.tokens.draw(random, 1));
    // What would have been an input may be collateral too.
    const shared = random.chance(0.2) ? this.plainCoin(promised.inputs, collateral) : [];
    const draft: Draft = { ...promised, collateral: [...collateral, ...shared], valid: false };
    if (!withReturn) return era >= ERA.babbage && random.chance(0.5) ? { ...draft, totalCollateral: lovelaceOf(draft.collateral!) } : draft;
    return this.giveBack(era, draft, draft.collateral!);
  }

  /** Adds what a valid transaction may carry without effect: references and untouched collateral. */
  adorn(era: number, draft: Draft): Draft {
    const { random, features, shapes } = this.shop;
    let adorned = draft;
    if (era >= ERA.babbage && random.chance(features.referenceInputs)) {
      const references = this.purse.coins.draw(random, 1 + random.int(2), draft.inputs);
      if (references.length > 0) {
        shapes.saw('referenceInputs');
        adorned = { ...adorned, references };
      }
    }
    if (!draft.valid || era < ERA.alonzo || !random.chance(features.unusedCollateral)) return adorned;
    const collateral = random.chance(0.3) ? this.plainCoin(draft.inputs, []) : this.purse.coins.draw(random, 1, draft.inputs);
    if (collateral.length === 0) return adorned;
    shapes.saw('unusedCollateral');
    adorned = { ...adorned, collateral };
    if (era < ERA.babbage || !random.chance(0.5)) return adorned;
    const returned = this.giveBack(era, adorned, collateral);
    if (returned === null) return adorned;
    shapes.saw('unusedReturn');
    return returned;
  }

  /** A return of the collateral less what is taken; null when there is too little. */
  private giveBack(era: number, draft: Draft, collateral: readonly ModelUtxo[]): Draft | null {
    const totalCollateral = (3n * draft.fee) / 2n;
    const rest = lovelaceOf(collateral) - totalCollateral;
    if (rest < OUTPUT_MIN) return null;
    return { ...draft, totalCollateral, collateralReturn: this.output(era, rest, sumAssets(collateral)) };
  }

  private plainCoin(from: readonly ModelUtxo[], except: readonly ModelUtxo[]): readonly ModelUtxo[] {
    return from.filter((utxo) => utxo.assets.size === 0 && utxo.lovelace < HUGE && !except.includes(utxo)).slice(0, 1);
  }

  /** One to three coins, at times with a token, enough for a fee and an output. */
  private gather(): readonly ModelUtxo[] {
    const { random } = this.shop;
    const drawn = this.purse.coins.draw(random, 1 + random.int(3));
    if (random.chance(0.25)) drawn.push(...this.purse.tokens.draw(random, 1));
    while (lovelaceOf(drawn) < 2n * OUTPUT_MIN) {
      const more = this.purse.coins.draw(random, 2, drawn);
      if (more.length === 0) return [...drawn, ...this.purse.huge.draw(random, 1)];
      drawn.push(...more);
    }
    return drawn;
  }

  /** Splits what the inputs and the mint hold over at most `count` outputs. */
  private balance(era: number, inputs: readonly ModelUtxo[], mint: Assets, count: number): Draft | null {
    const { random } = this.shop;
    const fee = this.fee();
    let rest = lovelaceOf(inputs) - fee;
    if (rest < OUTPUT_MIN) return null;
    const most = rest / OUTPUT_MIN;
    const n = most < BigInt(count) ? Number(most) : count;
    const piles = this.scatter(sumAssets(inputs, mint), n);
    const outputs: DraftOutput[] = [];
    for (let i = n - 1; i >= 0; i--) {
      const spare = rest - OUTPUT_MIN * BigInt(i + 1);
      const lovelace = i === 0 ? rest : OUTPUT_MIN + (spare * BigInt(random.int(1024))) / BigInt(1024 * (i + 1));
      outputs.push(this.output(era, lovelace, piles[i]));
      rest -= lovelace;
    }
    return { inputs, outputs, fee, mint, valid: true };
  }

  /** Spreads assets over outputs, now and then dividing one of them. */
  private scatter(assets: Assets, n: number): Assets[] {
    if (assets.size === 0) return Array.from({ length: n }, () => NO_ASSETS);
    const { random } = this.shop;
    const piles = Array.from({ length: n }, () => new Map<string, bigint>());
    const put = (asset: string, quantity: bigint) => {
      const pile = random.pick(piles);
      if (quantity > 0n) pile.set(asset, (pile.get(asset) ?? 0n) + quantity);
    };
    for (const [asset, quantity] of assets) {
      const part = random.chance(0.3) ? random.big(quantity) : 0n;
      put(asset, part);
      put(asset, quantity - part);
    }
    return piles;
  }

  private output(era: number, lovelace: bigint, assets: Assets): DraftOutput {
    return makeOutput(this.shop, era, this.book.any(this.shop.random), lovelace, assets);
  }

  private fee(): bigint {
    return 165_000n + BigInt(this.shop.random.int(60_000));
  }
}

const NAMES = ['', 'coin', 'token', 'ticket', 'a-name-of-exactly-32-bytes-length'].map((name) =>
  new TextEncoder().encode(name).subarray(0, 32),
);

function lovelaceOf(utxos: readonly ModelUtxo[]): bigint {
  let sum = 0n;
  for (const utxo of utxos) sum += utxo.lovelace;
  return sum;
}

function sumAssets(utxos: readonly ModelUtxo[], mint: Assets = NO_ASSETS): Assets {
  if (mint.size === 0 && utxos.every((utxo) => utxo.assets.size === 0)) return NO_ASSETS;
  const sum = new Map<string, bigint>();
  for (const assets of [...utxos.map((utxo) => utxo.assets), mint]) {
    for (const [asset, quantity] of assets) {
      const total = (sum.get(asset) ?? 0n) + quantity;
      if (total === 0n) sum.delete(asset);
      else sum.set(asset, total);
    }
  }
  return sum;
}
