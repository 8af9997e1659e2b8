/**
 * Finds what a transaction does to cages, exactly as the validators see it: the
 * new state is output 0 and no other; actions pair with all inputs that carry a
 * request for the token, at any address and in ledger order; an operation is
 * what the datum of the spent output says.
 *
 * The scripts have accepted the transaction, so what they enforce is taken for
 * granted; where it does not hold, the blocks or the deployment are not what
 * they claim to be, and the fold stops (BLOCK_INVALID).
 */
import { compareBytes, equalBytes, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { Asset, AssetId } from '../../asset.ts';
import { type CageDatum, decodeCageDatum } from './datum.ts';
import type { CageDeployment } from './deployment.ts';
import type { AppliedRequest, CageEvent, CageOutput, CageTx, Detected, RequestOutput, StateOutput } from './events.ts';
import { decodeMintRedeemer, decodeSpendRedeemer, type SpendRedeemer } from './redeemer.ts';

export interface CageRules {
  readonly deployments: readonly CageDeployment[];
  /** Whether this is the request script of a token there is or was. */
  isRequestScript(hash: Uint8Array): boolean;
}

export function detectCage(tx: CageTx, rules: CageRules): Detected {
  return new Detection(tx, rules).run();
}

/** The datum of an output, if it is one of the protocol. */
export function cageDatumOf({ datum }: CageOutput): CageDatum | null {
  return datum === null ? null : decodeCageDatum(datum);
}

/** An output that asks for something; null: it does not. Any script counts: which one belongs to a token only its deployment tells. */
export function requestOf(output: CageOutput): RequestOutput | null {
  const datum = cageDatumOf(output);
  if (datum?.type !== 'request') return null;
  const { txId, index, slot, txIndex, scriptHash } = output;
  return { txId, index, slot, txIndex, request: datum.request, scriptHash };
}

/** v0 has no tip and no times, and its datums have no fields for them. */
function isOfVersion({ version }: CageDeployment, terms: object | null): boolean {
  return (terms === null) === (version === 'v0');
}

class Detection {
  private readonly tx: CageTx;
  private readonly rules: CageRules;
  private readonly events: CageEvent[] = [];
  /** By place among the inputs. */
  private readonly requests: readonly (RequestOutput | null)[];
  private readonly consumed = new Set<number>();

  constructor(tx: CageTx, rules: CageRules) {
    this.tx = tx;
    this.rules = rules;
    this.requests = tx.inputs.map((input) => (input === null ? null : requestOf(input)));
  }

  run(): Detected {
    for (const deployment of this.rules.deployments) this.spentStates(deployment);
    this.spentRequests();
    // What leaves one policy for another has left before it arrives.
    for (const deployment of this.rules.deployments) this.minted(deployment, -1n);
    for (const deployment of this.rules.deployments) this.minted(deployment, 1n);
    return { events: this.events, malformed: this.created() };
  }

  private spentStates(deployment: CageDeployment): void {
    this.tx.inputs.forEach((input, place) => {
      if (input === null || !isAt(input, deployment.stateScriptHash)) return;
      const name = tokenIn(input, deployment.stateScriptHash);
      if (name === null) return;
      const token = { policy: deployment.stateScriptHash, name };
      const redeemer = this.redeemerOf(place);
      if (redeemer?.type === 'modify') this.modified(deployment, token, redeemer);
      else if (redeemer?.type === 'reject' && deployment.version === 'v1') this.rejected(deployment, token);
      else if (redeemer?.type !== 'end') this.broken(`spends the state of ${toHex(name)} in no way that its script allows`);
    });
  }

  private redeemerOf(place: number): SpendRedeemer | null {
    const bytes = this.tx.redeemer('spend', place);
    return bytes === null ? null : decodeSpendRedeemer(bytes);
  }

  private modified(deployment: CageDeployment, token: AssetId, { actions }: SpendRedeemer & { readonly type: 'modify' }): void {
    const output = this.newState(deployment, token);
    const applied: AppliedRequest[] = [];
    const rejected: RequestOutput[] = [];
    this.requestsFor(deployment, token).forEach((request, i) => {
      const action = actions[i];
      if (action === undefined) this.broken(`has ${actions.length} actions for more requests`);
      if (action.type === 'apply') applied.push({ ...request, proof: action.proof });
      else rejected.push(request);
    });
    this.events.push({ type: 'update', deployment, token, output, applied });
    if (rejected.length > 0) this.events.push({ type: 'reject', deployment, token, output, rejected });
  }

  private rejected(deployment: CageDeployment, token: AssetId): void {
    const rejected = this.requestsFor(deployment, token);
    this.events.push({ type: 'reject', deployment, token, output: this.newState(deployment, token), rejected });
  }

  /** All inputs that carry a request for the token, in ledger order; they count as consumed. */
  private requestsFor(deployment: CageDeployment, { name }: AssetId): readonly RequestOutput[] {
    return this.requests.filter((request, place): request is RequestOutput => {
      if (request === null || !equalBytes(request.request.token, name) || !isOfVersion(deployment, request.request.terms)) return false;
      this.consumed.add(place);
      return true;
    });
  }

  private newState(deployment: CageDeployment, { policy, name }: AssetId): StateOutput {
    const output = this.tx.outputs[0] ?? null;
    const held = output === null || !isAt(output, policy) ? null : tokenIn(output, policy);
    if (output === null || held === null || !equalBytes(held, name))
      this.broken(`does not keep the token ${toHex(name)} in its first output`);
    const datum = cageDatumOf(output);
    if (datum?.type !== 'state' || !isOfVersion(deployment, datum.state.terms)) this.broken(`gives the token ${toHex(name)} no state`);
    return { txId: output.txId, index: output.index, state: datum.state };
  }

  /** Requests that no state took, and what else is swept from a request script. */
  private spentRequests(): void {
    this.tx.inputs.forEach((input, place) => {
      if (input === null || input.scriptHash === null || this.consumed.has(place)) return;
      const request = this.requests[place];
      if (request === null && !this.rules.isRequestScript(input.scriptHash)) return;
      const type = this.redeemerOf(place)?.type;
      if (type === 'sweep') this.events.push({ type, output: { txId: input.txId, index: input.index }, request });
      else if (request !== null) this.events.push({ type: type === 'retract' ? 'retract' : 'gone', request });
    });
  }

  private minted(deployment: CageDeployment, quantity: 1n | -1n): void {
    const policy = deployment.stateScriptHash;
    const assets = this.tx.mint.filter((asset) => asset.quantity !== 0n && equalBytes(asset.policy, policy));
    for (const { name } of assets.filter((asset) => asset.quantity === quantity)) {
      if (assets.length > 1) this.broken('mints or burns more than one token of a policy');
      const token = { policy, name };
      if (quantity < 0n) this.events.push({ type: 'burn', deployment, token });
      else this.came(deployment, token);
    }
    if (assets.some((asset) => asset.quantity > 1n || asset.quantity < -1n)) this.broken('mints or burns a token more than once');
  }

  private came(deployment: CageDeployment, token: AssetId): void {
    const output = this.newState(deployment, token);
    const bytes = this.tx.redeemer('mint', policyPlace(this.tx.mint, token.policy));
    const redeemer = bytes === null ? null : decodeMintRedeemer(bytes);
    if (redeemer?.type === 'migrating') this.events.push({ type: 'migrate', deployment, token, output, from: redeemer.oldPolicy });
    else this.events.push({ type: 'boot', deployment, token, output });
  }

  /** Returns how many outputs at scripts of cages have a datum that is none. */
  private created(): number {
    let malformed = 0;
    for (const output of this.tx.outputs) {
      if (output === null || output.scriptHash === null || output.datum === null) continue;
      const request = requestOf(output);
      if (request !== null) this.events.push({ type: 'request', request });
      else if (this.isMalformed(output)) malformed++;
    }
    return malformed;
  }

  private isMalformed(output: CageOutput): boolean {
    const deployment = this.rules.deployments.find(({ stateScriptHash }) => isAt(output, stateScriptHash));
    if (deployment === undefined) return this.rules.isRequestScript(output.scriptHash!);
    const datum = cageDatumOf(output);
    return datum?.type !== 'state' || !isOfVersion(deployment, datum.state.terms);
  }

  private broken(what: string): never {
    const tx = toHex(this.tx.id);
    throw new UnspentError('BLOCK_INVALID', `transaction ${tx} breaks the rules of the cage: it ${what}`, { tx });
  }
}

function isAt({ scriptHash }: CageOutput, hash: Uint8Array): boolean {
  return scriptHash !== null && equalBytes(scriptHash, hash);
}

/** The one token of the policy that an output holds; null: it holds none, or not exactly one. */
function tokenIn({ assets }: CageOutput, policy: Uint8Array): Uint8Array | null {
  const held = assets.filter((asset) => asset.quantity > 0n && equalBytes(asset.policy, policy));
  return held.length === 1 && held[0].quantity === 1n ? held[0].name : null;
}

/** The place of a policy among those of the mint, sorted: redeemers count them so. */
function policyPlace(mint: readonly Asset[], policy: Uint8Array): number {
  return new Set(mint.filter((asset) => compareBytes(asset.policy, policy) < 0).map((asset) => toHex(asset.policy))).size;
}
