/**
 * What happens to cages, as values: the events that a transaction amounts to,
 * and the transaction as whoever finds them wants it.
 */
import type { Asset, AssetId } from '../../asset.ts';
import type { RedeemerPurpose } from '../../ledger.ts';
import type { OutRef } from '../transaction.ts';
import type { CageRequest, CageState } from './datum.ts';
import type { CageDeployment } from './deployment.ts';

/** An output and where it came to the chain. */
export interface PlacedRef extends OutRef {
  readonly slot: number;
  /** Of its transaction in its block. */
  readonly txIndex: number;
}

/** An output with what the protocol looks at. */
export interface CageOutput extends PlacedRef {
  /** The payment credential, if it is that of a script. The stake part of an address is free. */
  readonly scriptHash: Uint8Array | null;
  readonly assets: readonly Asset[];
  /** The inline datum's own CBOR. */
  readonly datum: Uint8Array | null;
}

/** A valid transaction whose inputs are resolved. An output of which the protocol wants nothing may be left null. */
export interface CageTx {
  readonly id: Uint8Array;
  /** All of them, sorted by transaction id and index: redeemers count them so. */
  readonly inputs: readonly (CageOutput | null)[];
  readonly outputs: readonly (CageOutput | null)[];
  readonly mint: readonly Asset[];
  redeemer(purpose: RedeemerPurpose, index: number): Uint8Array | null;
}

/** The output that holds a token, and what its datum says. */
export interface StateOutput extends OutRef {
  readonly state: CageState;
}

export interface RequestOutput extends PlacedRef {
  readonly request: CageRequest;
  /** Null: it is at the address of a key, and so was never listed as a request. */
  readonly scriptHash: Uint8Array | null;
}

export interface AppliedRequest extends RequestOutput {
  /** CBOR of the proof with which it was applied. */
  readonly proof: Uint8Array;
}

interface TokenEvent {
  readonly deployment: CageDeployment;
  /** Its policy is the hash of its state script. */
  readonly token: AssetId;
}

export type CageEvent =
  | (TokenEvent & { readonly type: 'boot'; readonly output: StateOutput })
  /** The token came from another policy. */
  | (TokenEvent & { readonly type: 'migrate'; readonly output: StateOutput; readonly from: Uint8Array })
  /** A new state; requests were applied to the trie in this order. There may be none. */
  | (TokenEvent & { readonly type: 'update'; readonly output: StateOutput; readonly applied: readonly AppliedRequest[] })
  | (TokenEvent & { readonly type: 'reject'; readonly output: StateOutput; readonly rejected: readonly RequestOutput[] })
  | (TokenEvent & { readonly type: 'burn' })
  | { readonly type: 'request'; readonly request: RequestOutput }
  /** A request was spent. `gone`: in a way that the protocol does not know. */
  | { readonly type: 'retract' | 'gone'; readonly request: RequestOutput }
  /** An output was cleared from a request script; `request` null: it was no request. */
  | { readonly type: 'sweep'; readonly output: OutRef; readonly request: RequestOutput | null };

export interface Detected {
  readonly events: readonly CageEvent[];
  /** Outputs at scripts of cages whose inline datum is none of the protocol. */
  readonly malformed: number;
}
