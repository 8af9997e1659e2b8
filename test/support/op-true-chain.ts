/**
 * A chain that a real node accepts and nobody has to sign: blocks of thousands
 * of transactions that spend outputs anybody may spend (OP_TRUE, bare, as P2SH
 * and as P2WSH), really mined. Among them what a set of coins must get right:
 * parents and children in one block, several inputs and outputs, outputs that
 * no node keeps between others that it does, and every kind of script, paid and
 * never spent. Everything follows from the seed.
 */
import { scryptSync } from 'node:crypto';
import { sha256 } from '../../src/crypto/sha256.ts';
import { decodeTx, formatAddress, genesisBlock, headerHash } from '../../src/ledgers/bitcoin/index.ts';
import { type BitcoinNetwork, bitcoinNetwork } from '../../src/ledgers/bitcoin/networks.ts';
import { concatBytes, fromHex, toHex, writeU32LE } from '../../src/util/bytes.ts';
import { type ForgedInput, type ForgedOutput, forgeBlock, forgeCoinbase, forgeTx, NO_BYTES, OP_TRUE } from '../ledgers/bitcoin/forge.ts';

const SUBSIDY = 50n * 100_000_000n;
/** Of the first block after genesis; one a minute from then on. Far enough back that no clock is behind it. */
const FIRST_TIME = 1_700_000_000;
const MINUTE = 60;
/** Spendable outputs the chain tends to. */
const POOL = 20_000;
/** Of these the newest are spent half of the time, by their own block too. */
const RECENT = 200;
/** What is split no further. */
const SMALL = 100_000n;
const TIME_AT = 68;
const NONCE_AT = 76;
const HEADER_BYTES = 80;

/** The ways to say OP_TRUE, and what spends each. */
const WAYS: readonly { readonly script: Uint8Array; readonly spend: Partial<ForgedInput> }[] = [
  { script: concatBytes(Uint8Array.of(0, 32), sha256(OP_TRUE)), spend: { witness: [OP_TRUE] } },
  { script: OP_TRUE, spend: {} },
  { script: fromHex('a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87'), spend: { scriptSig: Uint8Array.of(1, 0x51) } },
];

/** Where a node can be told to mine to. */
export function opTrueAddress(network: string): string {
  const address = formatAddress(bitcoinNetwork(network), WAYS[0].script);
  if (address === null) throw new Error('a script without an address');
  return address;
}

/** An output anybody may spend. */
export interface Spendable {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly value: bigint;
  readonly way: number;
}

export interface OpTrueOptions {
  /** Default: litecoin-regtest. */
  readonly network?: string;
  readonly seed?: number;
  /** The script of the n-th output that is paid and never spent. Default: all kinds in turn, each script twice. */
  readonly kept?: (n: number) => Uint8Array;
}

export class OpTrueChain {
  height = 0;
  /** Transactions besides the coinbases. */
  transactions = 0;
  /** Outputs to scripts that nobody spends. */
  keptOutputs = 0;
  private readonly network: BitcoinNetwork;
  private tipHash: Uint8Array;
  private readonly pool: Spendable[] = [];
  private readonly coinbases: Spendable[] = [];
  private readonly kept: (n: number) => Uint8Array;
  private state: number;

  constructor({ network = 'litecoin-regtest', seed = 1, kept = keptScript }: OpTrueOptions = {}) {
    this.network = bitcoinNetwork(network);
    this.tipHash = headerHash(genesisBlock(this.network));
    this.state = seed;
    this.kept = kept;
  }

  /** The next block, with this many transactions besides its coinbase. */
  mine(transactions: number): Uint8Array {
    const height = this.height + 1;
    this.ripen(height);
    const txs = Array.from({ length: transactions }, () => this.transaction());
    const subsidy = SUBSIDY >> BigInt(Math.floor(height / this.network.halvingBlocks));
    const coinbase = forgeCoinbase(height, [{ value: subsidy, script: WAYS[0].script }], txs);
    const block = this.mined(forgeBlock(this.tipHash, [coinbase, ...txs]), FIRST_TIME + MINUTE * height);
    this.coinbases.push({ txId: decodeTx(coinbase, false).id, index: 0, value: subsidy, way: 0 });
    this.tipHash = headerHash(block);
    this.height = height;
    this.transactions += transactions;
    return block;
  }

  /** The block at this time, with a nonce for which the work of its header is below the target of regtest. */
  private mined(block: Uint8Array, time: number): Uint8Array {
    const header = block.subarray(0, HEADER_BYTES);
    writeU32LE(block, TIME_AT, time);
    for (let nonce = 0; ; nonce++) {
      writeU32LE(block, NONCE_AT, nonce);
      const work = this.isScrypt ? scryptSync(header, header, 32, { N: 1024, r: 1, p: 1 }) : headerHash(header);
      if (work[31] < 0x7f) return block;
    }
  }

  /** Litecoin's work is another than the hash of its header. */
  private get isScrypt(): boolean {
    return this.network.name.startsWith('litecoin');
  }

  /** The oldest output that may be spent, for a test: the chain will not spend it. */
  takeOldest(): Spendable {
    const taken = this.pool.shift();
    if (taken === undefined) throw new Error('there is no output to spend yet');
    return taken;
  }

  /** Coinbases that may be spent in this block come to the others. */
  private ripen(height: number): void {
    const place = height - this.network.coinbaseMaturity - 1;
    if (place >= 0 && place < this.coinbases.length) this.pool.push(this.coinbases[place]);
  }

  private transaction(): Uint8Array {
    const inputs = this.pickInputs();
    const sum = inputs.reduce((total, { value }) => total + value, 0n);
    const { outputs, ways } = this.pickOutputs(sum);
    const raw = forgeTx({ inputs: inputs.map(inputOf), outputs });
    const { id } = decodeTx(raw, false);
    for (let index = 0; index < outputs.length; index++)
      if (ways[index] >= 0) this.pool.push({ txId: id, index, value: outputs[index].value, way: ways[index] });
    return raw;
  }

  private pickInputs(): Spendable[] {
    const wanted = Math.min(this.pool.length, this.random(8) === 0 ? 2 + this.random(3) : 1);
    return Array.from({ length: wanted }, () => {
      const { pool } = this;
      const among = this.random(2) === 0 ? Math.min(RECENT, pool.length) : pool.length;
      const at = pool.length - 1 - this.random(among);
      const picked = pool[at];
      pool[at] = pool[pool.length - 1];
      pool.pop();
      return picked;
    });
  }

  /** In no particular order; `ways`: how each can be spent, or -1. */
  private pickOutputs(sum: bigint): { outputs: ForgedOutput[]; ways: number[] } {
    const isSmall = sum < SMALL;
    const outputs: ForgedOutput[] = [];
    const ways: number[] = [];
    const add = (value: bigint, script: Uint8Array, way = -1): void => {
      outputs.push({ value, script });
      ways.push(way);
    };
    let rest = isSmall ? sum : sum - BigInt(this.random(2000));
    const shares = isSmall ? 1 : 1 + this.random(this.pool.length < POOL ? 3 : 2);
    const share = rest / BigInt(2 * shares);
    for (let i = 0; i < shares; i++) {
      if (this.random(25) === 0) add(0n, this.unspendable());
      if (this.random(shares + 1) === 0) {
        const value = isSmall ? 0n : BigInt(this.random(5000));
        add(value, this.kept(this.keptOutputs++));
        rest -= value;
      }
      const way = this.random(WAYS.length);
      const value = i === shares - 1 ? rest : share;
      add(value, WAYS[way].script, way);
      rest -= value;
    }
    return { outputs, ways };
  }

  /** OP_RETURN with some data, or what is too long to be ever run. */
  private unspendable(): Uint8Array {
    if (this.random(500) === 0) return new Uint8Array(10_001).fill(0x51);
    return concatBytes(Uint8Array.of(0x6a, 20), stretch(this.random(1 << 30)).subarray(0, 20));
  }

  private random(below: number): number {
    this.state = (this.state + 0x6d2b_79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  }
}

/** Whoever takes blocks: a node. */
interface Taker {
  rpc(method: string, ...params: unknown[]): Promise<unknown>;
}

/** Mines blocks and hands them to a node, which checks one while the next is made. */
export async function feed(
  node: Taker,
  chain: OpTrueChain,
  blocks: number,
  transactions: number,
  onBlock?: (raw: Uint8Array) => void,
): Promise<void> {
  let handed: Promise<unknown> = Promise.resolve(null);
  const taken = async (): Promise<void> => {
    const refused = await handed;
    if (refused !== null) throw new Error(`the node refuses a block at or before height ${chain.height}: ${refused}`);
  };
  for (let i = 0; i < blocks; i++) {
    const block = chain.mine(transactions);
    await taken();
    onBlock?.(block);
    handed = node.rpc('submitblock', toHex(block));
  }
  await taken();
}

/** A transaction that moves an output, less a fee, to where anybody may spend it again; another one may replace it (BIP125). */
export function replaceable(from: Spendable, fee: bigint): Uint8Array {
  const raw = forgeTx({ inputs: [inputOf(from)], outputs: [{ value: from.value - fee, script: WAYS[0].script }] });
  const { witness, scriptSig = NO_BYTES } = inputOf(from);
  const sequenceAt = 4 + (witness === undefined ? 0 : 2) + 1 + 36 + 1 + scriptSig.length;
  writeU32LE(raw, sequenceAt, 0xffff_fffd);
  return raw;
}

function inputOf({ txId, index, way }: Spendable): ForgedInput {
  return { txId, index, ...WAYS[way].spend };
}

function stretch(n: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeU32LE(bytes, 0, n);
  return sha256(bytes);
}

/** P2PKH, P2SH, P2WPKH, P2WSH, P2TR, a public key, bare multisig, and a program of a version nobody knows. */
export function keptScript(n: number): Uint8Array {
  const hash = stretch(n >> 4);
  const key = concatBytes(Uint8Array.of(0x21, 2), hash);
  switch (n & 7) {
    case 0:
      return concatBytes(fromHex('76a914'), hash.subarray(12), fromHex('88ac'));
    case 1:
      return concatBytes(fromHex('a914'), hash.subarray(12), fromHex('87'));
    case 2:
      return concatBytes(fromHex('0014'), hash.subarray(12));
    case 3:
      return concatBytes(fromHex('0020'), hash);
    case 4:
      return concatBytes(fromHex('5120'), hash);
    case 5:
      return concatBytes(key, fromHex('ac'));
    case 6:
      return n % 64 === 6 ? concatBytes(fromHex('51'), key, key, fromHex('52ae')) : fromHex('0102');
    default:
      return concatBytes(fromHex('6010'), hash.subarray(16));
  }
}
