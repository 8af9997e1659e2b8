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
import { OPCODE, operationAt } from '../../../ledgers/bitcoin/script.ts';
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
    ...(prevout === null ? {} : innerScripts(input, prevout.script)),
  };
}

/** Scripts that an output only names by their hash, and that whoever spends it brings along. */
function innerScripts({ scriptSig, witness }: TxInput, script: Uint8Array): object {
  const redeem = esploraType(script) === 'p2sh' ? lastPush(scriptSig) : null;
  const isWitnessScript = esploraType(redeem ?? script) === 'v0_p2wsh';
  const inner = isWitnessScript ? witness.at(-1) : undefined;
  return {
    ...(redeem === null ? {} : { inner_redeemscript_asm: esploraAsm(redeem) }),
    ...(inner === undefined ? {} : { inner_witnessscript_asm: esploraAsm(inner) }),
  };
}

/** What the last operation of a script pushes; null when that is no push, or there is none. */
function lastPush(script: Uint8Array): Uint8Array | null {
  let last: Uint8Array | null = null;
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at);
    if (operation === null) return null;
    last = operation.opcode > OPCODE.pushData4 ? null : script.subarray(operation.start, operation.stop);
    at = operation.stop;
  }
  return last;
}
