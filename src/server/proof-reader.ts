/**
 * Verifies proof documents inside the page: the verifier of `unspent/proofs`,
 * with what it looks at on the way in words. It runs in the browser, where it is
 * loaded with all it imports (`page/browser-modules.ts`) when somebody presses
 * the button, and believes nothing but the root it is given.
 */
import { pathHashes } from '../proofs/csmt/verify.ts';
import { type ProofDocument, type Trusted, verifyDocument } from '../proofs/document.ts';
import { documentFromJson } from '../proofs/document-json.ts';
import { fromHex, toHex } from '../util/bytes.ts';

/** Bytes in hex. */
export interface ProofSteps {
  readonly ok: boolean;
  /** Why it was refused; null: it holds. */
  readonly why: string | null;
  /** What is claimed. */
  readonly kind: ProofDocument['kind'];
  /** The hashes that the proof brings along. */
  readonly siblings: readonly string[];
  /** What each of them leads to, the root last; empty where the structure has no single path. */
  readonly path: readonly string[];
}

/** `root` null: of the empty tree. Throws USAGE for what is no document. */
export function checkProof(
  answer: unknown,
  trusted: { readonly root: string | null; readonly network: string; readonly family: Trusted['family'] },
): ProofSteps {
  const document = documentFromJson(answer);
  const verdict = verifyDocument(document, { ...trusted, root: trusted.root === null ? null : fromHex(trusted.root) });
  return { ok: verdict.ok, why: verdict.ok ? null : verdict.why, kind: document.kind, ...shown(document) };
}

function shown(document: ProofDocument): Pick<ProofSteps, 'siblings' | 'path'> {
  switch (document.kind) {
    case 'csmt-inclusion': {
      const { key, value, steps } = document.proof;
      return { siblings: steps.map(({ sibling }) => toHex(sibling.value)), path: pathHashes(key, value, steps).map((each) => toHex(each)) };
    }
    case 'csmt-complete':
      return {
        siblings: document.proof.type === 'witness' ? document.proof.steps.map(({ sibling }) => toHex(sibling.value)) : [],
        path: [],
      };
    case 'csmt-absent':
      return {
        siblings: document.proof.type === 'witness' ? document.proof.witness.steps.map(({ sibling }) => toHex(sibling.value)) : [],
        path: [],
      };
    default: {
      const { leaf, bits } = document.proof;
      return { siblings: [...leaf.path, ...(bits === null ? [] : bits.proof.path)].map((each) => toHex(each)), path: [] };
    }
  }
}
