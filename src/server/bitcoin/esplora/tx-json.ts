/**
 * A transaction as Esplora's JSON has it. Pure: it is given the transaction and
 * the outputs it spends, and looks nothing up. Amounts are JSON numbers of
 * satoshi, as every client of this API expects; a single output cannot reach
 * what a number no longer holds.
 */
import {
  type BitcoinNetwork,
  type DescribedOutput,
  type DescribedTx,
  esploraAsm,
  esploraType,
  formatAddress,
  formatId,
  type TxInput,
} from '../../../ledgers/bitcoin/index.ts';
import { innerScripts } from '../../../ledgers/bitcoin/spend.ts';
import { toHex } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';

export type TxStatus =
  | { readonly confirmed: false }
  /** Without hash and time: the block is older than the snapshot that the store began with. */
  | { readonly confirmed: true; readonly block_height: number; readonly block_hash?: string; readonly block_time?: number };

export const UNCONFIRMED: TxStatus = { confirmed: false };

interface OutputJson {
  readonly scriptpubkey: string;
  readonly scriptpubkey_asm: string;
  readonly scriptpubkey_type: string;
  readonly scriptpubkey_address?: string;
  readonly value: number;
}

/** `prevouts`: of each input; null: a coinbase has none, and a store that began in the middle may not know it. */
export function txJson(
  network: BitcoinNetwork,
  tx: DescribedTx,
  prevouts: readonly (DescribedOutput | null)[],
  status: TxStatus,
): Readonly<Record<string, unknown>> {
  const fee = feeOf(tx, prevouts);
  return {
    txid: formatId(tx.id),
    version: tx.version >>> 0,
    locktime: tx.lockTime,
    vin: tx.inputs.map((input, i) => inputJson(network, tx, input, prevouts[i])),
    vout: tx.outputs.map((output) => outputJson(network, output)),
    size: tx.size,
    weight: tx.weight,
    fee: fee === null ? null : satoshis(fee),
    status,
  };
}

/** Null: an input is not known, and so the fee is not. */
function feeOf({ coinbase, outputs }: DescribedTx, prevouts: readonly (DescribedOutput | null)[]): bigint | null {
  if (coinbase) return 0n;
  let fee = 0n;
  for (const prevout of prevouts) {
    if (prevout === null) return null;
    fee += prevout.value;
  }
  for (const { value } of outputs) fee -= value;
  return fee;
}

export function satoshis(value: bigint): number {
  const number = Number(value);
  assert(Number.isSafeInteger(number), `${value} satoshi are a JSON number`);
  return number;
}

function outputJson(network: BitcoinNetwork, { script, value }: DescribedOutput): OutputJson {
  const address = formatAddress(network, script);
  return {
    scriptpubkey: toHex(script),
    scriptpubkey_asm: esploraAsm(script),
    scriptpubkey_type: esploraType(script),
    ...(address === null ? {} : { scriptpubkey_address: address }),
    value: satoshis(value),
  };
}

function inputJson(network: BitcoinNetwork, tx: DescribedTx, input: TxInput, prevout: DescribedOutput | null): object {
  const { txId, index, scriptSig, witness, sequence } = input;
  return {
    txid: formatId(txId),
    vout: index,
    prevout: prevout === null ? null : outputJson(network, prevout),
    scriptsig: toHex(scriptSig),
    scriptsig_asm: esploraAsm(scriptSig),
    ...(witness.length === 0 ? {} : { witness: witness.map((item) => toHex(item)) }),
    is_coinbase: tx.coinbase,
    sequence,
    ...(prevout === null ? {} : innerJson(input, prevout.script)),
  };
}

/** Absent where there are none. */
function innerJson(input: TxInput, script: Uint8Array): object {
  const { redeem, inner } = innerScripts(input, script);
  return {
    ...(redeem === null ? {} : { inner_redeemscript_asm: esploraAsm(redeem) }),
    ...(inner === null ? {} : { inner_witnessscript_asm: esploraAsm(inner) }),
  };
}
