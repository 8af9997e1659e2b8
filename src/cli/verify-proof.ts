/**
 * `verify-proof FILE`: whether a proof document holds, offline. No store is
 * opened and nobody is asked: the root it is given is all it trusts. What is
 * shown of the claim is read from the bytes that the root commits to.
 */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { documentFromJson, documentToJson, type ProofDocument, type ProofKind, verifyDocument } from '../proofs/index.ts';
import { fromHex, isHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { PROOF_DOCUMENT_BYTES_MAX } from '../util/limits.ts';
import { claimRows } from './claim-rows.ts';
import { action, type Context } from './context.ts';
import { pairs } from './format.ts';

const ROOT_BYTES = 32;
/** For the root of a tree in which nothing is. */
const EMPTY = 'empty';

const SHOWN: Readonly<Record<ProofKind, string>> = {
  'csmt-inclusion': 'this output is unspent',
  'csmt-absent': 'this owner has no such unspent output',
  'csmt-complete': 'these are all unspent outputs of this owner',
  'mmr-unspent': 'this output was created and is unspent',
  'mmr-spent': 'this output was created and is spent',
};

const COMPARE = 'The root is the one the document names itself: compare it with one you trust, or pass that one with --root.';

export function registerVerifyProof(program: Command): void {
  program
    .command('verify-proof')
    .description('check a proof offline, against a root you trust')
    .argument('<file>', 'what `prove` printed, or an answer of the HTTP API; - reads standard input')
    .option('--root <hex>', `the root you trust (${EMPTY}: of a tree without outputs); without it only what the document claims is checked`)
    .addHelpText(
      'after',
      `
No store is opened and nobody is asked. Only with --root does a proof prove anything: take the root from somebody you trust,
best from a node of your own, at the block the document names. The document's word for network and block is not proven.

Examples:
  $ unspent root --at height:1500 --json                  on a machine you trust
  $ unspent verify-proof proof.json --root 3f0c...
  $ curl -s localhost:8437/api/v1/csmt/utxo/4843...bd/0/proof | unspent verify-proof - --root 3f0c...

Exit codes: 0 the proof holds for that root, 1 it does not, 2 this is no proof.`,
    )
    .action(action(verifyProof));
}

async function verifyProof({ options, output }: Context, file: string): Promise<void> {
  const given = parseRoot(options.root);
  const document = documentFromJson(parseJson(await readText(file), file));
  const root = given === undefined ? document.root : given;
  const verdict = verifyDocument(document, root);
  if (!verdict.ok) throw refused(document, verdict.why);
  const trusted = given !== undefined;
  if (output.json) output.document({ ...answer(document), trusted, ...(trusted ? {} : { remark: COMPARE }) });
  else output.line(pairs(rowsOf(document, trusted)));
  if (!trusted && !output.json) output.line(`\n${COMPARE}`);
}

function answer(document: ProofDocument): object {
  const { kind, root, network, point, claim } = documentToJson(document);
  return { holds: true, kind, shows: SHOWN[kind], root, claim, says: { network, point } };
}

function refused({ kind, network, point }: ProofDocument, why: string): UnspentError {
  return new UnspentError('PROOF_WRONG', `the proof does not hold: ${why}`, { kind, why, says: { network, point } });
}

function rowsOf(document: ProofDocument, trusted: boolean): [string, string][] {
  const { kind, network } = document;
  const { root, point } = documentToJson(document);
  const place = point === null ? 'before the first block' : `height ${point.height}, slot ${point.slot}, ${point.hash}`;
  return [
    ['holds', trusted ? SHOWN[kind] : `${SHOWN[kind]}, if the root below is right`],
    ...claimRows(document),
    ['root', `${root ?? EMPTY} (${trusted ? 'the one you gave' : "the document's own"})`],
    ['said to be', `${network}, ${place}`],
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

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnspentError('USAGE', `malformed proof: ${nameOf(file)} is not JSON`, {}, cause);
  }
}

async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > PROOF_DOCUMENT_BYTES_MAX) throw tooLong(file);
    }
  } catch (error) {
    if (error instanceof UnspentError) throw error;
    throw new UnspentError('IO', `${nameOf(file)} cannot be read: ${(error as Error).message}`, {}, error);
  }
  return Buffer.concat(chunks).toString();
}

function tooLong(file: string): UnspentError {
  return new UnspentError('LIMIT', `${nameOf(file)} has more than ${PROOF_DOCUMENT_BYTES_MAX} bytes, the most a proof may have`);
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : `'${file.slice(0, 200)}'`;
}
