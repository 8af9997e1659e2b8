/**
 * A producer of random chains of the Bitcoin family that keeps its own account
 * of them: which transaction made and spent which output, in plain objects, with
 * ids hashed here. Nothing on this side decodes a block or reads a store. Rare
 * shapes are common: outputs nobody can spend between others, transactions that
 * have no others, spends inside a block, more outputs than a byte can count,
 * outputs worth nothing, Litecoin's extension blocks.
 */
import { createHash } from 'node:crypto';
import { Random } from '../../src/chains/random.ts';
import { compactBytes } from '../../src/ledgers/bitcoin/cursor.ts';
import { type BitcoinNetwork, bitcoinNetwork, genesisBlock } from '../../src/ledgers/bitcoin/index.ts';
import type { Point } from '../../src/ledgers/ledger.ts';
import { concatBytes, toHex } from '../../src/util/bytes.ts';
import { type ForgedOutput, forgeBlock, forgeCoinbase, forgeTx, NO_BYTES } from '../ledgers/bitcoin/forge.ts';

const HEADER_BYTES = 80;
const KEY_BYTES = 28;
const NONCE_AT = 76;
/** Of a witness with one item of 32 bytes, and of the lock time behind it. */
const COINBASE_WITNESS_BYTES = 34;
const LOCK_TIME_BYTES = 4;
const SCRIPT_BYTES_MAX = 10_000;
const OP_RETURN = 0x6a;
const COMMON_SCRIPTS = 6;
const RARE_SCRIPTS = 40;
const VALUE_MAX = 2_100_000_000_000_000n;
/** More than one byte can number. */
const WIDE_OUTPUTS = 300;
const POOL_MIN = 25;

/** An output that can be spent, and where it came to the chain. */
export interface PlainOutput {
  readonly txId: Uint8Array;
  readonly index: number;
  /** Id in the order of a block, as hex, and index. */
  readonly name: string;
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Of the script in an index, as hex: the first 28 bytes of its hash. */
  readonly key: string;
  readonly raw: Uint8Array;
  readonly height: number;
  readonly txIndex: number;
  readonly coinbase: boolean;
}

export interface PlainTx {
  readonly id: Uint8Array;
  readonly raw: Uint8Array;
  readonly strippedSize: number;
  readonly spends: readonly PlainOutput[];
  readonly creates: readonly PlainOutput[];
  /** Outputs in all. */
  readonly outputs: number;
}

export interface PlainBlock extends Point {
  readonly prevHash: Uint8Array | null;
  readonly raw: Uint8Array;
  /** What stands behind the last transaction. */
  readonly tail: Uint8Array;
  readonly txs: readonly PlainTx[];
}

/** A transaction that is being made: its place is known only when the block is. */
interface Draft {
  readonly raw: Uint8Array;
  readonly stripped: Uint8Array;
  readonly spends: readonly Owned[];
  readonly outputs: readonly ForgedOutput[];
}

interface Owned {
  readonly txId: Uint8Array;
  readonly index: number;
}

interface PlainOptions {
  readonly network?: BitcoinNetwork;
  /** Transactions of a block besides its coinbase, at most. */
  readonly txsMax?: number;
  /** How often a transaction is wide. */
  readonly wide?: number;
}

export class PlainChain {
  readonly network: BitcoinNetwork;
  /** Of the present chain; empty before the first block. */
  readonly blocks: PlainBlock[] = [];
  readonly utxos = new Map<string, PlainOutput>();
  /** What was rolled back, each from its first block on. */
  private readonly left: (readonly PlainBlock[])[] = [];
  private readonly random: Random;
  private readonly txsMax: number;
  private readonly wide: number;

  constructor(seed: number, { network = bitcoinNetwork('bitcoin-regtest'), txsMax = 5, wide = 0.01 }: PlainOptions = {}) {
    this.network = network;
    this.random = new Random(seed, 17);
    this.txsMax = txsMax;
    this.wide = wide;
  }

  get tip(): PlainBlock | undefined {
    return this.blocks.at(-1);
  }

  mine(): PlainBlock {
    const block = this.tip === undefined ? firstBlock(this.network) : this.forge(this.tip);
    this.take(block);
    return block;
  }

  /** A block that was mined on this tip before. */
  take(block: PlainBlock): void {
    for (const { spends, creates } of block.txs) {
      for (const { name } of spends) this.utxos.delete(name);
      for (const output of creates) this.utxos.set(output.name, output);
    }
    this.blocks.push(block);
  }

  /** Branches that were left and begin above the height on a block of the present chain. */
  branchesAbove(height: number): (readonly PlainBlock[])[] {
    const begins = (first: PlainBlock) => first.height > height && first.prevHash === this.blocks[first.height - 1]?.hash;
    return this.left.filter(([first]) => begins(first));
  }

  rollback(depth: number): void {
    if (depth > 0) this.left.push(this.blocks.slice(-depth));
    for (let i = 0; i < depth; i++) {
      for (const { spends, creates } of this.blocks.pop()!.txs.toReversed()) {
        for (const { name } of creates) this.utxos.delete(name);
        for (const output of spends) this.utxos.set(output.name, output);
      }
    }
  }

  /** The block that would come next. */
  private forge(tip: PlainBlock): PlainBlock {
    const { random } = this;
    const pool: Owned[] = [...this.utxos.values()];
    const drafts: Draft[] = [];
    for (let n = random.int(this.txsMax + 1); n > 0 && pool.length > 0; n--) drafts.push(this.draft(pool));
    const extended = this.network.mweb && pool.length > 0 && random.chance(0.4);
    if (extended) drafts.push(this.draft(pool, Uint8Array.of(0)));
    const height = tip.height + 1;
    const coinbase = this.draftCoinbase(
      height,
      drafts.map(({ raw }) => raw),
    );
    const tail = extended ? concatBytes(Uint8Array.of(1), random.bytes(random.int(30))) : NO_BYTES;
    const all = [coinbase, ...drafts];
    const raw = forgeBlock(
      tip.hash,
      all.map((draft) => draft.raw),
      tail,
    );
    // Branches that happen to hold the same are different all the same.
    raw.set(random.bytes(4), NONCE_AT);
    return {
      height,
      slot: height,
      hash: sha256d(raw.subarray(0, HEADER_BYTES)),
      prevHash: tip.hash,
      raw,
      tail,
      txs: this.place(height, all),
    };
  }

  /** Spends some of the pool, and owns what it makes, so that the next may spend that. */
  private draft(pool: Owned[], mweb?: Uint8Array): Draft {
    const { random } = this;
    const spends: Owned[] = [];
    // Many at once only where there are many, so that the set does not run dry.
    const most = pool.length < POOL_MIN ? 1 : random.chance(0.1) ? 10 : 1 + random.int(4);
    for (let n = most; n > 0 && pool.length > 0; n--) {
      const among = random.chance(0.4) ? Math.min(6, pool.length) : pool.length;
      spends.push(...pool.splice(pool.length - 1 - random.int(among), 1));
    }
    const outputs = this.outputs();
    const stripped = forgeTx({ inputs: spends, outputs });
    const inputs = spends.map((input) => (random.chance(0.4) ? { ...input, witness: [random.bytes(random.int(80))] } : input));
    const raw = forgeTx({ inputs, outputs, ...(mweb === undefined ? {} : { mweb }) });
    const txId = sha256d(stripped);
    outputs.forEach(({ script }, index) => {
      if (isSpendable(script)) pool.push({ txId, index });
    });
    return { raw, stripped, spends, outputs };
  }

  private draftCoinbase(height: number, others: readonly Uint8Array[]): Draft {
    const { random } = this;
    const paid = random.chance(0.1) ? [this.burnt()] : Array.from({ length: 1 + random.int(3) }, () => this.output());
    const raw = forgeCoinbase(height, paid, others);
    const end = raw.length - LOCK_TIME_BYTES;
    const stripped = concatBytes(raw.subarray(0, 4), raw.subarray(6, end - COINBASE_WITNESS_BYTES), raw.subarray(end));
    // The commitment comes last, and nobody can spend it.
    return { raw, stripped, spends: [], outputs: [...paid, this.burnt()] };
  }

  private outputs(): ForgedOutput[] {
    const { random } = this;
    if (random.chance(this.wide)) return Array.from({ length: WIDE_OUTPUTS + random.int(20) }, () => this.output());
    if (random.chance(0.08)) return Array.from({ length: 1 + random.int(2) }, () => this.burnt());
    return Array.from({ length: 1 + random.int(5) }, () => this.output());
  }

  private output(): ForgedOutput {
    const { random } = this;
    if (random.chance(0.15)) return this.burnt();
    const value = random.chance(0.1) ? 0n : random.chance(0.1) ? random.big(VALUE_MAX) : BigInt(random.int(100_000));
    return { value, script: this.script() };
  }

  private script(): Uint8Array {
    const { random } = this;
    if (random.chance(0.01)) return NO_BYTES;
    if (random.chance(0.002)) return new Uint8Array(SCRIPT_BYTES_MAX).fill(0x51);
    if (random.chance(0.5)) return Uint8Array.of(0x51, 0x60 + random.int(COMMON_SCRIPTS));
    return concatBytes(Uint8Array.of(0, 20), sha256d(Uint8Array.of(random.int(RARE_SCRIPTS))).subarray(12));
  }

  private burnt(): ForgedOutput {
    const { random } = this;
    const value = random.chance(0.7) ? 0n : BigInt(random.int(1000));
    if (random.chance(0.01)) return { value, script: new Uint8Array(SCRIPT_BYTES_MAX + 1).fill(0x51) };
    return { value, script: concatBytes(Uint8Array.of(OP_RETURN, 4), random.bytes(4)) };
  }

  private place(height: number, drafts: readonly Draft[]): PlainTx[] {
    const made = new Map<string, PlainOutput>();
    return drafts.map(({ raw, stripped, spends, outputs }, txIndex) => {
      const id = sha256d(stripped);
      const creates = outputs.flatMap(({ value, script }, index) => {
        if (!isSpendable(script)) return [];
        const place = { txId: id, index, name: nameOf(id, index), height, txIndex, coinbase: txIndex === 0 };
        return [{ ...place, value, script, key: toHex(sha256(script), 0, KEY_BYTES), raw: outputBytes(value, script) }];
      });
      const spent = spends.map(({ txId, index }) => made.get(nameOf(txId, index)) ?? this.utxos.get(nameOf(txId, index))!);
      for (const output of creates) made.set(output.name, output);
      return { id, raw, strippedSize: stripped.length, spends: spent, creates, outputs: outputs.length };
    });
  }
}

/** Its output was never in the set. */
function firstBlock(network: BitcoinNetwork): PlainBlock {
  const raw = genesisBlock(network);
  const tx = raw.subarray(HEADER_BYTES + 1);
  const only = { id: sha256d(tx), raw: tx, strippedSize: tx.length, spends: [], creates: [], outputs: 1 };
  return { height: 0, slot: 0, hash: sha256d(raw.subarray(0, HEADER_BYTES)), prevHash: null, raw, tail: NO_BYTES, txs: [only] };
}

export function nameOf(txId: Uint8Array, index: number): string {
  return `${toHex(txId)}#${index}`;
}

export function outputBytes(value: bigint, script: Uint8Array): Uint8Array {
  const amount = new Uint8Array(8);
  new DataView(amount.buffer).setBigUint64(0, value, true);
  return concatBytes(amount, compactBytes(script.length), script);
}

function isSpendable(script: Uint8Array): boolean {
  return script[0] !== OP_RETURN && script.length <= SCRIPT_BYTES_MAX;
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

function sha256d(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes));
}
