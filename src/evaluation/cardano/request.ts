/**
 * What it takes to run the scripts of a transaction: the transaction, the
 * outputs that it spends and refers to, cost models, the most its scripts may
 * use, and the clock of its network. Outputs come from a store, at the block its
 * query is of, and from the caller for those that are in no block yet.
 */
import { encodeLedgerOutput } from '../../ledgers/cardano/ledger-output.ts';
import type { CardanoNetwork } from '../../ledgers/cardano/networks.ts';
import type { ExecutionUnits, ProtocolParameters } from '../../ledgers/cardano/protocol-parameters.ts';
import { slotToTime } from '../../ledgers/cardano/time.ts';
import { type DescribedTx, type OutRef, readWholeTx } from '../../ledgers/cardano/transaction.ts';
import { outpointKey, outpointText } from '../../ledgers/outpoint.ts';
import type { Utxo } from '../../query/utxo.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';

/** An output with the name that a transaction spends it by, in the CBOR of its block. */
export interface NamedOutput extends OutRef {
  readonly output: Uint8Array;
}

/** For a machine; plain data, so that it can be sent to another thread. */
export interface EvaluationRequest {
  readonly tx: Uint8Array;
  /** As a ledger encodes them. */
  readonly outputs: readonly NamedOutput[];
  readonly costModels: ReadonlyMap<number, readonly bigint[]>;
  readonly unitsMax: ExecutionUnits;
  /** POSIX milliseconds of a slot, and the length of slots from there on. */
  readonly clock: { readonly slot: number; readonly ms: number; readonly slotMs: number };
}

/** Where outputs are looked up; a query is one. */
export interface EvaluationGround {
  /** In the order of their outpoint keys, unspent or spent; null: unknown. */
  outpoints(keys: readonly Uint8Array[]): readonly ((Pick<Utxo, 'spent'> & { readonly output: { readonly raw: Uint8Array } }) | null)[];
}

export interface EvaluationTerms {
  readonly parameters: ProtocolParameters;
  readonly network: CardanoNetwork;
  /** Outputs that the chain does not have yet; they count before those of the chain. */
  readonly additional?: readonly NamedOutput[];
}

/** Throws USAGE when these bytes are no transaction, OUTPUT_UNKNOWN when it spends or refers to what is not unspent. */
export function evaluationRequest(ground: EvaluationGround, tx: Uint8Array, terms: EvaluationTerms): EvaluationRequest {
  const { parameters, network, additional = [] } = terms;
  const { inputs, referenceInputs } = readTx(tx);
  const given = new Map(additional.map((output) => [outpointText(output), output.output]));
  const wanted = [...new Map([...inputs, ...referenceInputs].map((ref) => [outpointText(ref), ref])).values()];
  const found = ground.outpoints(wanted.map(({ txId, index }) => outpointKey(txId, index)));
  const outputs = wanted.flatMap(({ txId, index }, i): NamedOutput[] => {
    const known = found[i];
    const output = given.get(outpointText({ txId, index })) ?? (known === null || known.spent !== null ? null : known.output.raw);
    return output === null ? [] : [{ txId: txId.slice(), index, output: ledgerOutput(output) }];
  });
  if (outputs.length < wanted.length) throw missing(wanted, outputs);
  const { firstShelleySlot, shelleySlotMs } = network;
  const ms = Math.round(1000 * slotToTime(network, firstShelleySlot));
  return {
    tx,
    outputs,
    costModels: parameters.costModels,
    unitsMax: parameters.txUnitsMax,
    clock: { slot: firstShelleySlot, ms, slotMs: shelleySlotMs },
  };
}

function readTx(tx: Uint8Array): DescribedTx {
  try {
    return readWholeTx(tx);
  } catch (error) {
    throw asUsage(error, 'these bytes are no transaction');
  }
}

/** A copy: what comes from a store is a view of more. */
function ledgerOutput(output: Uint8Array): Uint8Array {
  try {
    return encodeLedgerOutput(output).slice();
  } catch (error) {
    throw asUsage(error, 'these bytes are no output');
  }
}

function asUsage(error: unknown, what: string): unknown {
  return isUnspentError(error, 'BLOCK_INVALID') ? new UnspentError('USAGE', `${what}: ${error.message}`, {}, error) : error;
}

function missing(wanted: readonly OutRef[], found: readonly OutRef[]): UnspentError {
  const there = new Set(found.map(outpointText));
  const unknown = wanted.map(outpointText).filter((ref) => !there.has(ref));
  return new UnspentError('OUTPUT_UNKNOWN', `the transaction uses outputs that are not unspent here: ${unknown.join(', ')}`, {
    outputs: unknown,
  });
}
