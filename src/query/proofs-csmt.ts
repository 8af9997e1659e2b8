/**
 * Proofs from the tree over the unspent set, at one point of the chain. A tree
 * does not check its records while it reads them, so each proof is verified
 * before it is given out: a wrong one is STORE_DAMAGED here, not a liar there.
 */
import { CSMT } from '../projections/csmt/csmt.ts';
import { csmt, type NodeReader, type Verdict } from '../proofs/index.ts';
import { UnspentError } from '../util/errors.ts';
import type { CsmtProofs } from './proofs.ts';

export class TreeProofs implements CsmtProofs {
  private readonly nodes: NodeReader;
  private known: csmt.Root | undefined;

  constructor(nodes: NodeReader) {
    this.nodes = nodes;
  }

  root(): csmt.Root {
    if (this.known === undefined) this.known = csmt.root(this.nodes);
    return this.known;
  }

  inclusion(owner: Uint8Array, outpoint: csmt.Outpoint): csmt.InclusionProof | null {
    const key = csmt.utxoKey(owner, outpoint);
    const proof = csmt.proveInclusion(this.nodes, key);
    if (proof !== null) sure(csmt.verifyNode(this.root(), key, proof.value, proof));
    return proof;
  }

  absence(owner: Uint8Array, outpoint: csmt.Outpoint): csmt.ExclusionProof | null {
    const key = csmt.utxoKey(owner, outpoint);
    const proof = csmt.proveExclusion(this.nodes, key);
    if (proof !== null) sure(csmt.verifyExclusion(this.root(), key, proof));
    return proof;
  }

  complete(owner: Uint8Array, outputsMax: number): csmt.CompleteSet {
    const prefix = csmt.ownerPrefix(owner);
    const set = csmt.proveCompleteness(this.nodes, prefix, outputsMax);
    sure(csmt.verifySubtree(this.root(), prefix, set.leaves, set.proof));
    return set;
  }
}

function sure(verdict: Verdict): void {
  if (verdict.ok) return;
  throw new UnspentError('STORE_DAMAGED', `a proof from ${CSMT} does not hold: ${verdict.why}`, { column: CSMT });
}
