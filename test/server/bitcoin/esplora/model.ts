/**
 * What an Esplora server should say of a few blocks and unconfirmed
 * transactions, found out the plainest way there is: bitcoinjs-lib takes them
 * apart, and all of them are gone through for each question. Nothing here reads
 * a store.
 */
import { address, Block, networks, Transaction } from 'bitcoinjs-lib';
import { sha256 } from '../../../../src/crypto/sha256.ts';
import { esploraAsm, esploraType } from '../../../../src/ledgers/bitcoin/index.ts';
import { toHex } from '../../../../src/util/bytes.ts';

type Json = Record<string, unknown>;

interface Placed {
  readonly tx: Transaction;
  /** Null: in no block. */
  readonly height: number | null;
  readonly index: number;
}

export class EsploraModel {
  /** By height. */
  readonly blocks: Uint8Array[] = [];
  /** In the order they came. */
  mempool: Uint8Array[] = [];

  block(height: number): Block {
    return blockOf(this.blocks[height]);
  }

  hash(height: number): string {
    return this.block(height).getId();
  }

  /** Of the chain in its order, then of the mempool. */
  txs(): Placed[] {
    const confirmed = this.blocks.flatMap((_, height) => this.block(height).transactions!.map((tx, index) => ({ tx, height, index })));
    const unconfirmed = this.mempool.map((raw, index) => ({ tx: txOf(raw), height: null, index }));
    return [...confirmed, ...unconfirmed];
  }

  status(height: number | null): Json {
    if (height === null) return { confirmed: false };
    return { confirmed: true, block_height: height, block_hash: this.hash(height), block_time: this.block(height).timestamp };
  }

  output({ script, value }: Transaction['outs'][number]): Json {
    const written = addressOf(script);
    return {
      scriptpubkey: toHex(script),
      scriptpubkey_asm: esploraAsm(script),
      scriptpubkey_type: esploraType(script),
      ...(written === null ? {} : { scriptpubkey_address: written }),
      value: Number(value),
    };
  }

  /** Without the scripts inside of inputs. */
  tx({ tx, height }: Placed, all = this.txs()): Json {
    const coinbase = tx.isCoinbase();
    const spent = tx.ins.map(({ hash, index }) => (coinbase ? null : findTx(all, idOf(hash)).tx.outs[index]));
    const fee = coinbase ? 0n : sumOf(spent.map((output) => output!.value)) - sumOf(tx.outs.map(({ value }) => value));
    return {
      txid: tx.getId(),
      version: tx.version,
      locktime: tx.locktime,
      vin: tx.ins.map(({ hash, index, script, sequence, witness }, i) => ({
        txid: idOf(hash),
        vout: index,
        prevout: spent[i] === null ? null : this.output(spent[i]!),
        scriptsig: toHex(script),
        scriptsig_asm: esploraAsm(script),
        ...(witness.length === 0 ? {} : { witness: witness.map((item) => toHex(item)) }),
        is_coinbase: coinbase,
        sequence,
      })),
      vout: tx.outs.map((output) => this.output(output)),
      size: tx.byteLength(),
      weight: tx.weight(),
      fee: Number(fee),
      status: this.status(height),
    };
  }

  /** Transactions that fund or spend a script, oldest first. */
  historyOf(script: Uint8Array, all = this.txs()): Placed[] {
    return all.filter(({ tx, height }) => {
      // The output of the first block is not one, for a node as for us.
      const funds = height !== 0 && tx.outs.some((output) => same(output.script, script));
      return funds || spentBy(tx, all).some((output) => same(output.script, script));
    });
  }

  stats(script: Uint8Array, confirmed: boolean): Json {
    const all = this.txs();
    const history = this.historyOf(script, all).filter(({ height }) => (height !== null) === confirmed);
    const funded = history.flatMap(({ tx }) => tx.outs.filter((output) => same(output.script, script)));
    const spent = history.flatMap(({ tx }) => spentBy(tx, all).filter((output) => same(output.script, script)));
    return {
      funded_txo_count: funded.length,
      funded_txo_sum: Number(sumOf(funded.map(({ value }) => value))),
      spent_txo_count: spent.length,
      spent_txo_sum: Number(sumOf(spent.map(({ value }) => value))),
      tx_count: history.length,
    };
  }

  /** Unconfirmed ones first, each part newest first. */
  utxos(script: Uint8Array): Json[] {
    const all = this.txs();
    const rows = this.historyOf(script, all).flatMap(({ tx, height }) =>
      tx.outs.flatMap((output, vout) => {
        if (!same(output.script, script) || spenderOf(all, tx.getId(), vout) !== null) return [];
        return [{ txid: tx.getId(), vout, status: this.status(height), value: Number(output.value) }];
      }),
    );
    return rows.reverse();
  }

  outspend(id: string, vout: number, all = this.txs()): Json {
    const spender = spenderOf(all, id, vout);
    if (spender === null) return { spent: false };
    return { spent: true, txid: spender.placed.tx.getId(), vin: spender.input, status: this.status(spender.placed.height) };
  }

  blockJson(height: number): Json {
    const block = this.block(height);
    const times = this.blocks.slice(Math.max(0, height - 10), height + 1).map((raw) => blockOf(raw).timestamp);
    // A target as a number, by its definition: mantissa times 256 to the power of (exponent - 3).
    const target = (bits: number): bigint => BigInt(bits & 0xffffff) << BigInt(8 * ((bits >>> 24) - 3));
    return {
      id: this.hash(height),
      height,
      version: block.version >>> 0,
      timestamp: block.timestamp,
      tx_count: block.transactions!.length,
      size: this.blocks[height].length,
      weight: block.weight(),
      merkle_root: idOf(block.merkleRoot!),
      previousblockhash: height === 0 ? null : idOf(block.prevHash!),
      mediantime: times.sort((a, b) => a - b)[times.length >> 1],
      nonce: block.nonce,
      bits: block.bits,
      difficulty: Number((target(0x1d00ffff) * 10n ** 30n) / target(block.bits)) / 1e30,
    };
  }
}

/** Makes it once. */
function once<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

const blockOf = once((raw: Uint8Array) => Block.fromBuffer(Buffer.from(raw)));
const txOf = once((raw: Uint8Array) => Transaction.fromBuffer(Buffer.from(raw)));
const idOfTx = once((tx: Transaction) => tx.getId());
const byId = once((all: readonly Placed[]) => new Map(all.map((placed) => [idOfTx(placed.tx), placed])));
const spenders = once((all: readonly Placed[]) => {
  const found = all.flatMap((placed) =>
    placed.tx.ins.map(({ hash, index }, input) => [`${idOf(hash)}:${index}`, { placed, input }] as const),
  );
  return new Map(found);
});

function findTx(all: readonly Placed[], id: string): Placed {
  const found = byId(all).get(id);
  if (found === undefined) throw new Error(`the model has no transaction ${id}`);
  return found;
}

function spentBy(tx: Transaction, all: readonly Placed[]): Transaction['outs'] {
  return tx.isCoinbase() ? [] : tx.ins.map(({ hash, index }) => findTx(all, idOf(hash)).tx.outs[index]);
}

function spenderOf(all: readonly Placed[], id: string, vout: number): { placed: Placed; input: number } | null {
  return spenders(all).get(`${id}:${vout}`) ?? null;
}

/** The script's address on regtest; bitcoinjs-lib would need another library for taproot's. */
function addressOf(script: Uint8Array): string | null {
  if (script.length === 34 && script[0] === 0x51) return address.toBech32(script.subarray(2), 1, 'bcrt');
  try {
    return address.fromOutputScript(script, networks.regtest);
  } catch {
    return null;
  }
}

export function scriptHashOf(script: Uint8Array): string {
  return toHex(sha256(script));
}

function idOf(hash: Uint8Array): string {
  return toHex(Uint8Array.from(hash).reverse());
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return toHex(a) === toHex(b);
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}
