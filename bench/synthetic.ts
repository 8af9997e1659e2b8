/**
 * A synthetic chain for the growth benchmark: blocks of real shape (three
 * outputs a transaction, owners that are paid again, real output bytes) without
 * the cost of encoding and decoding whole blocks. Everything follows from
 * counters, so twenty million outputs need 80 MB of memory. Owners are base
 * addresses of Cardano, or scripts of the Bitcoin family (P2WPKH).
 */

import { blake2b256 } from '../src/crypto/hash.ts';
import { bitcoinLedger, bitcoinNetwork } from '../src/ledgers/bitcoin/index.ts';
import { cardanoLedger, cardanoNetwork } from '../src/ledgers/cardano/index.ts';
import type { Block, Create, Ledger, Spend, Tx } from '../src/ledgers/ledger.ts';
import { writeU32 } from '../src/util/bytes.ts';
import { CborWriter } from '../src/util/cbor-write.ts';

export const OUTPUTS_PER_TX = 3;
const ADDRESS_BYTES = 57;
/** No counter reaches it. */
const HOT_ADDRESS = 0x7fff_ffff;
const NO_BYTES = new Uint8Array(0);

/** A 32-bit mix with good avalanche (murmur3's finaliser). */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** `length` bytes that look random and follow from (kind, number). */
function spread(kind: number, number: number, to: Uint8Array, at: number, length: number): void {
  let state = mix(number ^ Math.imul(kind, 0x9e37_79b1));
  for (let i = 0; i < length; i += 4) {
    state = mix(state + Math.imul(i + 1, 0x9e37_79b1) + number);
    writeU32(to, at + i, state);
  }
}

type BlockFacts = Pick<Block, 'slot' | 'hash' | 'era' | 'extra' | 'headerBytes'>;

/** What differs between the families. */
export interface ChainForm {
  readonly ledger: Ledger;
  readonly outputBytes: number;
  /** Where its owner stands in an output. */
  readonly owner: { readonly at: number; readonly bytes: number };
  /** Writes an output to the owner with this number; `value` has 32 bits. */
  writeOutput(to: Uint8Array, at: number, owner: number, value: number): void;
  facts(height: number, prevHash: Uint8Array | null): BlockFacts;
}

/** One stake key has three addresses. */
function writeAddress(to: Uint8Array, at: number, owner: number): void {
  to[at] = 0x01;
  spread(2, owner, to, at + 1, 28);
  spread(3, owner === HOT_ADDRESS ? owner : Math.floor(owner / 3), to, at + 29, 28);
}

/** A ledger without a genesis, and blocks of Conway's length. */
export const CARDANO_FORM: ChainForm = {
  ledger: cardanoLedger(cardanoNetwork('devnet'), { utxos: { byron: [], shelley: [] }, byronHash: null }),
  outputBytes: 3 + ADDRESS_BYTES + 9,
  owner: { at: 3, bytes: ADDRESS_BYTES },
  writeOutput(to, at, owner, value) {
    to[at] = 0x82;
    to[at + 1] = 0x58;
    to[at + 2] = ADDRESS_BYTES;
    writeAddress(to, at + 3, owner);
    const coin = at + 3 + ADDRESS_BYTES;
    to[coin] = 0x1b;
    writeU32(to, coin + 1, 0);
    writeU32(to, coin + 5, value);
  },
  facts(height, prevHash) {
    const headerBytes = header(height, 20 * height, prevHash);
    return { slot: 20 * height, hash: blake2b256(headerBytes), era: 7, extra: NO_BYTES, headerBytes };
  },
};

const SCRIPT_BYTES = 22;

/** Outputs to a hash of a key. The first block is not that of any network. */
export const BITCOIN_FORM: ChainForm = {
  ledger: { ...bitcoinLedger(bitcoinNetwork('bitcoin-regtest')), transition: () => null },
  outputBytes: 9 + SCRIPT_BYTES,
  owner: { at: 9, bytes: SCRIPT_BYTES },
  writeOutput(to, at, owner, value) {
    to.fill(0, at, at + 8);
    // Four bytes of a value that has its lowest byte first.
    writeU32(to, at, value);
    to[at + 8] = SCRIPT_BYTES;
    to[at + 9] = 0;
    to[at + 10] = SCRIPT_BYTES - 2;
    spread(2, owner, to, at + 11, SCRIPT_BYTES - 2);
  },
  facts(height, prevHash) {
    const extra = new Uint8Array(84);
    writeU32(extra, 4, height);
    extra.set(prevHash ?? NO_BYTES, 8);
    return { slot: height, hash: blake2b256(extra), era: 0, extra };
  },
};

/** As long as those of Conway are, so that a snapshot can be taken: the fields that nobody looks at are zeros. */
function header(height: number, slot: number, prevHash: Uint8Array | null): Uint8Array {
  const w = new CborWriter().array(2).array(10).uint(height).uint(slot);
  if (prevHash === null) w.raw(Uint8Array.of(0xf6));
  else w.bytes(prevHash);
  const zeros = (bytes: number): CborWriter => w.bytes(new Uint8Array(bytes));
  zeros(32).bytes(new Uint8Array(32)).array(2);
  zeros(64).bytes(new Uint8Array(80)).uint(0);
  zeros(32).array(4);
  zeros(32).uint(0).uint(0).bytes(new Uint8Array(64)).array(2).uint(9).uint(0);
  return zeros(448).take();
}

export class SyntheticChain {
  /** Numbers of the unspent outputs, in no order. */
  private live: Int32Array;
  liveCount = 0;
  private outputs = 0;
  private height = 0;
  private last: Uint8Array | null = null;
  private state = 0x1234_5678;

  private readonly hot: number;
  private readonly form: ChainForm;

  /** `hot`: one output in so many goes to one and the same address; 0: none does. */
  constructor(capacity: number, hot = 0, form = CARDANO_FORM) {
    this.live = new Int32Array(capacity);
    this.hot = hot;
    this.form = form;
  }

  hotAddress(): Uint8Array {
    const address = new Uint8Array(ADDRESS_BYTES);
    writeAddress(address, 0, HOT_ADDRESS);
    return address;
  }

  private random(below: number): number {
    this.state = mix(this.state + 0x6d2b_79f5);
    return this.state % below;
  }

  /** One of the unspent outputs, by its place among them. */
  outpoint(at: number): { readonly txId: Uint8Array; readonly index: number } {
    const number = this.live[at];
    const txId = new Uint8Array(32);
    spread(1, Math.floor(number / OUTPUTS_PER_TX), txId, 0, 32);
    return { txId, index: number % OUTPUTS_PER_TX };
  }

  /** Four spends in five take a recent output, as on a real chain; the fifth any. */
  private pick(): number {
    const recent = Math.min(this.liveCount, 100_000);
    const at = this.random(5) === 0 ? this.random(this.liveCount) : this.liveCount - 1 - this.random(recent);
    const number = this.live[at];
    this.liveCount--;
    this.live[at] = this.live[this.liveCount];
    return number;
  }

  /** The next block: `txs` transactions of three outputs and, together, `spends` inputs. */
  block(txs: number, spends: number): Block {
    const raw = new Uint8Array(32 * spends + this.form.outputBytes * OUTPUTS_PER_TX * txs + 4);
    const list: Tx[] = [];
    let at = 0;
    for (let t = 0; t < txs; t++) {
      const inputs: Spend[] = [];
      const share = Math.floor((spends * (t + 1)) / txs) - Math.floor((spends * t) / txs);
      for (let i = 0; i < share && this.liveCount > 0; i++) {
        const number = this.pick();
        spread(1, Math.floor(number / OUTPUTS_PER_TX), raw, at, 32);
        inputs.push({ at, index: number % OUTPUTS_PER_TX });
        at += 32;
      }
      list.push({ id: this.txId(), valid: true, spends: inputs, creates: [] });
    }
    // Outputs become spendable with the next block: same-block spending is another benchmark's matter.
    const full = list.map((tx, t) => ({ ...tx, creates: this.createOutputs(raw, at + t * OUTPUTS_PER_TX * this.form.outputBytes) }));
    return this.seal(raw, full);
  }

  private nextTx = 0;

  private txId(): Uint8Array {
    const id = new Uint8Array(32);
    spread(1, this.nextTx++, id, 0, 32);
    return id;
  }

  private createOutputs(raw: Uint8Array, from: number): Create[] {
    const { outputBytes, owner } = this.form;
    const creates: Create[] = [];
    for (let index = 0; index < OUTPUTS_PER_TX; index++) {
      const start = from + index * outputBytes;
      // One address holds three outputs on average.
      const isHot = this.hot > 0 && this.outputs % this.hot === 0;
      const valueLo = mix(this.outputs);
      this.form.writeOutput(raw, start, isHot ? HOT_ADDRESS : this.random(1 + Math.floor(this.outputs / 3)), valueLo);
      const addressStart = start + owner.at;
      const addressEnd = addressStart + owner.bytes;
      creates.push({ index, start, end: start + outputBytes, addressStart, addressEnd, valueHi: 0, valueLo, flags: 0 });
      this.live[this.liveCount++] = this.outputs++;
    }
    return creates;
  }

  private seal(raw: Uint8Array, txs: readonly Tx[]): Block {
    const height = this.height++;
    const prevHash = this.last;
    const facts = this.form.facts(height, prevHash);
    this.last = facts.hash;
    return { raw, height, prevHash, boundary: false, txs, ...facts };
  }
}
