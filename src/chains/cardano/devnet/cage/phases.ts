/**
 * When the scripts let a request be applied, retracted or rejected, written from
 * the rules of the protocol alone: tests hold what a store says of phases against
 * it. A slot of the devnet lasts a second, and a block's transactions are valid
 * in its slot at least.
 */
import type { CageTerms, RequestAction } from '../../../../ledgers/cardano/cage/index.ts';
import type { ModelUtxo } from '../model.ts';
import type { Validity } from './drafts.ts';
import type { ModelRequest, ModelToken } from './model.ts';

export const SLOT_MS = 1000;

/** Which of it a transaction in the slot at `nowMs` can do, and the moments between the phases. */
export interface RequestPhases {
  readonly apply: boolean;
  readonly retract: boolean;
  readonly reject: boolean;
  /** It says that it was submitted later than now. */
  readonly isDishonest: boolean;
  readonly submittedMs: number;
  readonly processEndMs: number;
  readonly retractEndMs: number;
}

export function phasesOf({ submittedAt }: ModelRequest, terms: CageTerms, nowMs: number): RequestPhases {
  const submittedMs = Number(submittedAt);
  const processEndMs = submittedMs + Number(terms.processTime);
  const retractEndMs = processEndMs + Number(terms.retractTime);
  const endMs = nowMs + SLOT_MS;
  const isDishonest = endMs <= submittedMs;
  return {
    apply: endMs <= processEndMs,
    retract: nowMs >= processEndMs && endMs <= retractEndMs,
    reject: isDishonest || nowMs >= retractEndMs,
    isDishonest,
    submittedMs,
    processEndMs,
    retractEndMs,
  };
}

/** The last slot that is over by then, as the end of a validity interval, which is not part of it. */
export function slotBefore(endMs: number, startMs: number): number {
  return Math.floor((endMs - startMs) / SLOT_MS);
}

/** A request that an update uses. */
export interface TakenRequest {
  readonly request: ModelRequest;
  readonly utxo: ModelUtxo;
  readonly phases: RequestPhases;
  /** False: it is rejected. */
  readonly isApplied: boolean;
}

/** The widest interval, up to the slot of the block where a phase has to have begun, that every action allows. */
export function validityOf(taken: readonly TakenRequest[], slot: number, startMs: number): Validity {
  const ends: number[] = [];
  let from: number | undefined;
  for (const { isApplied, phases } of taken) {
    if (isApplied) ends.push(phases.processEndMs);
    else if (phases.isDishonest) ends.push(phases.submittedMs);
    else from = slot;
  }
  return {
    ...(from === undefined ? {} : { from }),
    ...(ends.length === 0 ? {} : { until: slotBefore(Math.min(...ends), startMs) }),
  };
}

/** One action a request, in ledger order; `proofs`: of those that are applied. */
export function actionsOf(taken: readonly TakenRequest[], proofs: readonly Uint8Array[]): RequestAction[] {
  const rest = proofs.values();
  return taken.map(({ isApplied }) => (isApplied ? { type: 'apply', proof: rest.next().value! } : { type: 'reject' }));
}

/** Else it can only be swept. */
export function isProcessable({ tip, lovelace }: ModelRequest, { terms }: ModelToken): boolean {
  return tip === terms.tip && lovelace >= tip;
}
