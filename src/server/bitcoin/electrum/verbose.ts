/**
 * A transaction as a node's `getrawtransaction` shows it, as far as the bytes
 * and the block it is in tell. Values are in coins here, and nowhere else.
 */
import {
  type BitcoinNetwork,
  coreAsm,
  coreType,
  decodeTx,
  describeTx,
  descriptorOf,
  formatAddress,
  formatId,
  readExtra,
  readHeader,
  type TxInput,
  type TxOutput,
} from '../../../ledgers/bitcoin/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import { toHex } from '../../../util/bytes.ts';

const SATOSHIS = 100_000_000;

/** The block of a transaction, and how high the chain is. */
export interface Mined {
  readonly row: ChainRow;
  readonly tip: number;
}

export function verboseTx(raw: Uint8Array, network: BitcoinNetwork, mined: Mined | null): Record<string, unknown> {
  const tx = describeTx(decodeTx(raw, network.mweb));
  return {
    txid: formatId(tx.id),
    hash: formatId(tx.witnessId),
    version: tx.version,
    size: tx.size,
    vsize: tx.virtualSize,
    weight: tx.weight,
    locktime: tx.lockTime,
    vin: tx.inputs.map((input) => verboseInput(input, tx.coinbase)),
    vout: tx.outputs.map((output) => verboseOutput(output, network)),
    hex: toHex(raw),
    ...(mined === null ? {} : minedFields(mined)),
  };
}

function minedFields({ row, tip }: Mined): Record<string, unknown> {
  const { time } = readHeader(readExtra(row.extra).header);
  return { blockhash: formatId(row.hash), confirmations: tip - row.height + 1, time, blocktime: time };
}

function verboseInput({ txId, index, scriptSig, sequence, witness }: TxInput, coinbase: boolean): Record<string, unknown> {
  const spent = coinbase
    ? { coinbase: toHex(scriptSig) }
    : { txid: formatId(txId), vout: index, scriptSig: { asm: coreAsm(scriptSig, true), hex: toHex(scriptSig) } };
  return { ...spent, ...(witness.length === 0 ? {} : { txinwitness: witness.map((item) => toHex(item)) }), sequence };
}

function verboseOutput({ value, index, script }: TxOutput, network: BitcoinNetwork): Record<string, unknown> {
  const address = formatAddress(network, script);
  return {
    value: coins(value),
    n: index,
    scriptPubKey: {
      asm: coreAsm(script),
      desc: descriptorOf(network, script),
      hex: toHex(script),
      ...(address === null ? {} : { address }),
      type: coreType(script, network.mweb),
    },
  };
}

/** Exact: a number of this size has more digits than an amount. */
export function coins(satoshis: bigint | number): number {
  return Number(satoshis) / SATOSHIS;
}
