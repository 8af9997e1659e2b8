/**
 * Reads and verifies answers about cages inside the page: the verifier of
 * `unspent/proofs` with bytes as hex. It runs in the browser, where it is loaded
 * with all it imports (`page/browser-modules.ts`) once a view of a cage is opened, and
 * knows nothing but the answer and the root that it is held against.
 */
import { type CageState, decodeCageDatum } from '../../ledgers/cardano/cage/datum.ts';
import { describeOutput } from '../../ledgers/cardano/describe.ts';
import { type CageTrust, verifyFactAnswer, verifyTokensAnswer } from '../../proofs/cardano/cage/index.ts';
import { fromHex, toHex } from '../../util/bytes.ts';

/** Bytes in hex. */
export interface ShownState {
  readonly owner: string;
  readonly root: string;
  /** Lovelace and milliseconds; null: v0 has none. */
  readonly terms: { readonly tip: string; readonly processTime: number; readonly retractTime: number } | null;
}

export interface ShownToken extends ShownState {
  readonly policy: string;
  readonly name: string;
  readonly txHash: string;
  readonly index: number;
}

export type Shown<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly why: string };

interface TokensAnswer {
  readonly snapshot: { readonly utxo_root: string | null };
  readonly tokens: { readonly entries: readonly { readonly txout_cbor: string }[] };
}

/** CIP-19: a header, whose lower half is the network, then the payment part. */
const PAYMENT = { from: 1, to: 29 } as const;
const MAINNET = 1;

/** All tokens at a state address, with the proof that they are all. */
export function readTokens(answer: TokensAnswer): Shown<{ readonly tokens: readonly ShownToken[] }> {
  const [first] = answer.tokens.entries;
  if (first === undefined) return { ok: true, tokens: [] };
  const { address } = describeOutput(fromHex(first.txout_cbor));
  const policy = address.slice(PAYMENT.from, PAYMENT.to);
  const network = (address[0] & 0x0f) === MAINNET ? 'mainnet' : 'testnet';
  const verdict = verifyTokensAnswer(answer, { ...trusting(answer.snapshot.utxo_root, policy), network });
  if (!verdict.ok) return verdict;
  return {
    ok: true,
    tokens: verdict.tokens.map(({ token, state, txId, index }) => ({
      policy: toHex(policy),
      name: toHex(token),
      txHash: toHex(txId),
      index,
      ...shown(state),
    })),
  };
}

/** What the datum of a state output says; null: it is none. */
export function readState(txOut: string): ShownState | null {
  const { inlineDatum } = describeOutput(fromHex(txOut));
  const datum = inlineDatum === null ? null : decodeCageDatum(inlineDatum);
  return datum?.type === 'state' ? shown(datum.state) : null;
}

/** The value of a key, held against the root of the unspent set that the answer names. */
export function readFact(
  answer: { readonly snapshot: { readonly utxo_root: string | null } },
  token: { readonly policy: string; readonly name: string },
  key: string,
): Shown<{ readonly value: string }> {
  const trusted = trusting(answer.snapshot.utxo_root, fromHex(token.policy));
  const verdict = verifyFactAnswer(answer, trusted, fromHex(token.name), fromHex(key));
  return verdict.ok ? { ok: true, value: toHex(verdict.value) } : verdict;
}

/** The version matters to lists of requests alone, the network to lists. */
function trusting(root: string | null, policy: Uint8Array): CageTrust {
  return {
    root: root === null ? null : fromHex(root),
    deployment: { version: 'v2', stateScriptHash: policy, requestProgram: null },
    network: 'testnet',
  };
}

function shown({ owner, root, terms }: CageState): ShownState {
  return {
    owner: toHex(owner),
    root: toHex(root),
    terms:
      terms === null ? null : { tip: terms.tip.toString(), processTime: Number(terms.processTime), retractTime: Number(terms.retractTime) },
  };
}
