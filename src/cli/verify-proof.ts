/**
 * `verify-proof FILE`: whether a proof document holds, offline. No store is
 * opened and nobody is asked: the root it is given, and the network that root is
 * of, are all it trusts. What is shown of the claim is read from the bytes that
 * the root commits to. Without a root and a network nothing is verified, and the
 * command fails after it has shown what the document claims.
 */
import type { Command } from 'commander';
import { familyOfNetwork } from '../families/networks.ts';
import { documentFromText, documentToJson, type ProofDocument, type ProofKind, type Trusted, verifyDocument } from '../proofs/index.ts';
import { fromHex, isHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { PROOF_DOCUMENT_BYTES_MAX } from '../util/limits.ts';
import { claimRows } from './claim-rows.ts';
import { action, type Context } from './context.ts';
import { readOperand } from './read-operand.ts';

const ROOT_BYTES = 32;
/** For the root of a tree in which nothing is. */
const EMPTY = 'empty';

const SHOWN: Readonly<Record<ProofKind, string>> = {
  'csmt-inclusion': 'this output is unspent',
  'csmt-absent': 'this owner has no such unspent output',
  'csmt-complete': 'these are all unspent outputs of this owner',
  'mmr-unspent': 'this output was created, as the leaf below, and is unspent',
  'mmr-spent': 'this output was created, as the leaf below, and is spent',
};

export function registerVerifyProof(program: Command): void {
  program
    .command('verify-proof')
    .description('check a proof offline, against a root you trust')
    .argument('<file>', 'what `prove` printed, or an answer of the HTTP API; - reads standard input')
    .option('--root <hex>', `the root you trust (${EMPTY}: of a tree without outputs)`)
    .addHelpText(
      'after',
      `
--network names the network that root is of. Both are needed, and neither is taken from the document: a proof shows nothing to
whoever believes its own word for them. Take the root from somebody you trust, best from a node of your own, at the block the
document names; its word for that block is not proven.

Examples:
  $ unspent root --at height:1500 --json                  on a machine you trust
  $ unspent verify-proof proof.json --network preview --root 3f0c...
  $ curl -s localhost:8437/api/v1/csmt/utxo/4843...bd/0/proof | unspent verify-proof - --network preview --root 3f0c...

Exit codes: 0 the proof holds for that root, 1 it does not, or there was no root or no network to verify it with, 2 this is no proof.`,
    )
    .action(action(verifyProof));
}

async function verifyProof({ options, output, settings }: Context, file: string): Promise<void> {
  const root = parseRoot(options.root);
  const { network } = settings.config;
  const known = network === '' ? null : { network, family: familyOfNetwork(network).name };
  const document = documentFromText(await readText(file));
  const isVerified = root !== undefined && known !== null;
  // Where something is missing the document's own word shows at least whether it agrees with itself.
  const trusted = { root: root === undefined ? document.root : root, ...(known ?? ownNetwork(document)) };
  const verdict = verifyDocument(document, trusted);
  if (!verdict.ok) throw refused(document, verdict.why);
  if (!output.json) output.pairs(rowsOf(document, isVerified));
  if (!isVerified) throw unverified(document, root === undefined, known === null);
  if (output.json) output.document(answer(document, trusted));
}

/** Its family is the one of the network it names, where that is known: a document may not disagree with itself either. */
function ownNetwork({ network, family }: ProofDocument): Pick<Trusted, 'network' | 'family'> {
  try {
    return { network, family: familyOfNetwork(network).name };
  } catch (error) {
    if (!isUnspentError(error, 'NETWORK_UNKNOWN')) throw error;
    return { network, family };
  }
}

function answer(document: ProofDocument, { network, family }: Trusted): object {
  const { kind, root, point, claim } = documentToJson(document);
  return { holds: true, kind, shows: SHOWN[kind], network, family, root, claim, ...leafOf(document), says: { point } };
}

/** Which creation a claim of the mountain range is about: an outpoint can have been created more than once. */
function leafOf(document: ProofDocument): { readonly leaf_index?: number } {
  return 'leaf' in document.proof ? { leaf_index: document.proof.leaf.leafIndex } : {};
}

function refused({ kind, network, point }: ProofDocument, why: string): UnspentError {
  return new UnspentError('PROOF_WRONG', `the proof does not hold: ${why}`, { kind, why, says: { network, point } });
}

function unverified(document: ProofDocument, noRoot: boolean, noNetwork: boolean): UnspentError {
  const { kind, network, family, point, root, claim } = documentToJson(document);
  const missing = [...(noRoot ? ['no --root'] : []), ...(noNetwork ? ['no --network'] : [])].join(' and ');
  return new UnspentError('PROOF_UNVERIFIED', `nothing was verified: ${missing} was given`, {
    kind,
    claims: SHOWN[kind],
    claim,
    ...leafOf(document),
    says: { network, family, point, root },
  });
}

function rowsOf(document: ProofDocument, isVerified: boolean): [string, string][] {
  const { kind, network, family } = document;
  const { root, point } = documentToJson(document);
  const { leaf_index: leaf } = leafOf(document);
  const place = point === null ? 'before the first block' : `height ${point.height}, slot ${point.slot}, ${point.hash}`;
  return [
    [isVerified ? 'holds' : 'not verified', SHOWN[kind]],
    ...claimRows(document),
    ...(leaf === undefined ? [] : [['leaf', `${leaf} (of all outputs ever created, the first is 0)`] satisfies [string, string]]),
    ['network', `${network} (${family} family${isVerified ? '' : ', says the document'})`],
    ['root', `${root ?? EMPTY}${isVerified ? '' : ' (says the document)'}`],
    ['said to be', place],
  ];
}

/** Undefined: none was given. */
function parseRoot(text: string | undefined): Uint8Array | null | undefined {
  if (text === undefined) return undefined;
  if (text === EMPTY) return null;
  if (!isHex(text, ROOT_BYTES))
    throw new UnspentError('USAGE', `a root is ${2 * ROOT_BYTES} hex digits, or '${EMPTY}', not '${text.slice(0, 80)}'`);
  return fromHex(text);
}

async function readText(file: string): Promise<string> {
  const bytes = await readOperand(file, PROOF_DOCUMENT_BYTES_MAX);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new UnspentError('USAGE', 'malformed proof: not UTF-8', {}, cause);
  }
}
