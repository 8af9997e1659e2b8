/**
 * Which scripts make a cage. A deployment is a version of the protocol and the
 * hash of its state script, which is also the policy of its tokens. Until v1
 * requests sit at that script too; since v2 each token has a request script of
 * its own: one program with the policy and the token's name applied to it. Where
 * the program is not known, requests of such tokens cannot be told from outputs
 * that merely look like them.
 */
import { blake2b224, sha256 } from '../../../crypto/hash.ts';
import { concatBytes, fromHex, isHex, toHex, writeU16 } from '../../../util/bytes.ts';
import { Cursor } from '../../../util/cbor.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { writePlutusBytes } from '../../../util/plutus.ts';
import type { OutRef } from '../transaction.ts';
import { applyParameters } from './flat.ts';
import type { CageVersion } from './redeemer.ts';

export const SCRIPT_HASH_BYTES = 28;

/** The scripts that make a cage. */
export interface CageDeployment {
  /** Of the protocol. */
  readonly version: CageVersion;
  /** Of the script that guards states; also the policy of the tokens. */
  readonly stateScriptHash: Uint8Array;
  /** The compiled code of the request script before its parameters are applied; null: not known, or none (before v2). */
  readonly requestProgram: Uint8Array | null;
}

const CAGE_VERSIONS: readonly CageVersion[] = ['v0', 'v1', 'v2'];
const PLUTUS_V3 = 3;

/** The public ones. They are the same on every network, because a script hash knows no network. */
export const PUBLIC_CAGES: readonly CageDeployment[] = [
  publicCage('v0', 'c1e392ee7da9415f946de9d2aef9607322b47d6e84e8142ef0c340bf'),
  publicCage('v1', '7fbeb9ca9cbd42af3df070f0ffb8c516e283da31fe049e03fece89b8'),
  publicCage('v2', 'ad0a8eeeec8b0a5ee9930be5d6ea2e80b285fc2f3e9675a13a392dd5'),
];

/** The compiled code of the devnet's state script. */
export const DEVNET_STATE_CODE = fromHex('450101002499');

/**
 * That of the embedded devnet, with programs that take their arguments and give back nothing. Since anybody could make
 * tokens with a script that allows everything, it is followed only where somebody says so (`devnet`).
 */
export const DEVNET_CAGE: CageDeployment = {
  version: 'v2',
  stateScriptHash: plutusV3Hash(DEVNET_STATE_CODE),
  requestProgram: fromHex('46010100222499'),
};

function publicCage(version: CageVersion, hash: string): CageDeployment {
  return { version, stateScriptHash: fromHex(hash, SCRIPT_HASH_BYTES), requestProgram: null };
}

/** The asset name of the token that spending this output makes. Throws USAGE for an index above 65,535, of which there is none. */
export function cageTokenName({ txId, index }: OutRef): Uint8Array {
  if (index > 0xffff) throw new UnspentError('USAGE', `the index of a seed has two bytes, ${index} has more`);
  const place = new Uint8Array(2);
  writeU16(place, 0, index);
  return sha256(concatBytes(txId, place));
}

/** The hash of a Plutus V3 script, from its compiled code as a blueprint prints it: the byte string around the program. */
export function plutusV3Hash(compiledCode: Uint8Array): Uint8Array {
  return blake2b224(concatBytes(Uint8Array.of(PLUTUS_V3), compiledCode));
}

/** Where requests for a token belong; null: the deployment does not say. */
export function requestScriptHash(deployment: CageDeployment, token: Uint8Array): Uint8Array | null {
  if (deployment.version !== 'v2') return deployment.stateScriptHash;
  const code = requestScriptCode(deployment, token);
  return code === null ? null : plutusV3Hash(code);
}

/** The compiled code of the request script of a token; null: the deployment does not have it. */
export function requestScriptCode({ stateScriptHash, requestProgram }: CageDeployment, token: Uint8Array): Uint8Array | null {
  if (requestProgram === null) return null;
  const data = (bytes: Uint8Array): Uint8Array => writePlutusBytes(new CborWriter(), bytes).take();
  const flat = applyParameters(programOf(requestProgram), [data(stateScriptHash), data(token)]);
  return new CborWriter(flat.length + 8).bytes(flat).take();
}

/** What stands in the byte string of a compiled code. Throws USAGE. */
function programOf(compiledCode: Uint8Array): Uint8Array {
  try {
    const c = new Cursor(compiledCode);
    const flat = c.byteString();
    if (c.at !== compiledCode.length) c.fail('bytes behind the program');
    return flat;
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('USAGE', `a compiled code is a CBOR byte string: ${error.message}`, {}, error);
  }
}

/** A deployment as a person writes it: `v2:HASH`, and for v2 also `v2:HASH:COMPILED CODE OF THE REQUEST SCRIPT`, both in hex. Throws USAGE. */
export function parseCageDeployment(text: string): CageDeployment {
  const [name, hash, code, ...rest] = text.split(':');
  const version = CAGE_VERSIONS.find((known) => known === name);
  if (version === undefined || hash === undefined || !isHex(hash, SCRIPT_HASH_BYTES) || rest.length > 0) {
    throw new UnspentError('USAGE', `a cage is VERSION:HASH, with a version of ${CAGE_VERSIONS.join(', ')}, not '${text.slice(0, 80)}'`);
  }
  if (code !== undefined && version !== 'v2') throw new UnspentError('USAGE', `a cage of ${version} has no request script of its own`);
  return checked({ version, stateScriptHash: fromHex(hash), requestProgram: code === undefined ? null : fromHex(code) });
}

/** The same again as text. */
function formatCageDeployment({ version, stateScriptHash, requestProgram }: CageDeployment): string {
  const parts = [version, toHex(stateScriptHash), ...(requestProgram === null ? [] : [toHex(requestProgram)])];
  return parts.join(':');
}

const NAMED_CAGES: Readonly<Record<string, readonly CageDeployment[] | undefined>> = { public: PUBLIC_CAGES, devnet: [DEVNET_CAGE] };

/** Several with commas between; `public` stands for the known ones, `devnet` for that of the embedded devnet. Throws USAGE, also when two have the same state script. */
export function parseCageDeployments(text: string): readonly CageDeployment[] {
  const words = text.split(',').map((word) => word.trim());
  const deployments = words.flatMap((word) => NAMED_CAGES[word] ?? [parseCageDeployment(word)]);
  const hashes = new Set(deployments.map(({ stateScriptHash }) => toHex(stateScriptHash)));
  if (hashes.size < deployments.length) throw new UnspentError('USAGE', 'two cages have the same state script');
  return deployments;
}

export function formatCageDeployments(deployments: readonly CageDeployment[]): string {
  return deployments.map(formatCageDeployment).join(',');
}

interface BlueprintScript {
  readonly title: string;
  readonly code: string;
  readonly hash: string | null;
  readonly parameters: number;
}

/**
 * A deployment from a blueprint (CIP-57): the script without parameters guards the states, the one with two is that of
 * requests. Hashes are derived from the code, and where the blueprint gives one it must be that. Throws USAGE.
 */
export function cageFromBlueprint(json: unknown, version: CageVersion = 'v2'): CageDeployment {
  const scripts = scriptsOf(json);
  for (const { title, code, hash } of scripts) {
    const derived = toHex(plutusV3Hash(fromHex(code)));
    if (hash !== null && hash !== derived) blueprintWrong(`'${title}' says that its hash is ${hash}, its code has ${derived}`);
  }
  const state = onlyCode(scripts, 0, 'without parameters');
  if (state === null) blueprintWrong('it has no script without parameters');
  const request = version === 'v2' ? onlyCode(scripts, 2, 'with two parameters') : null;
  return checked({
    version,
    stateScriptHash: plutusV3Hash(fromHex(state)),
    requestProgram: request === null ? null : fromHex(request),
  });
}

/** The compiled codes of a blueprint's scripts (CIP-57), by their hash in hex. Throws USAGE. */
export function codesInBlueprint(json: unknown): ReadonlyMap<string, Uint8Array> {
  return new Map(scriptsOf(json).map(({ code }) => [toHex(plutusV3Hash(fromHex(code))), fromHex(code)]));
}

/** That the request program takes its parameters is found out now, not at the first token. */
function checked(deployment: CageDeployment): CageDeployment {
  requestScriptHash(deployment, new Uint8Array(32));
  return deployment;
}

/** The one code of the scripts with so many parameters: each purpose of a script has an entry of its own, with the same code. */
function onlyCode(scripts: readonly BlueprintScript[], parameters: number, what: string): string | null {
  const codes = [...new Set(scripts.filter((script) => script.parameters === parameters).map(({ code }) => code))];
  if (codes.length > 1) blueprintWrong(`it has ${codes.length} scripts ${what}`);
  return codes[0] ?? null;
}

function scriptsOf(json: unknown): readonly BlueprintScript[] {
  const { preamble, validators } = recordOf(json, 'it');
  const { plutusVersion } = recordOf(preamble, 'its preamble');
  if (plutusVersion !== 'v3') blueprintWrong(`its scripts are of Plutus ${String(plutusVersion)}, those of a cage of v3`);
  if (!Array.isArray(validators)) blueprintWrong('it has no list of validators');
  return validators.map((each: unknown, i) => {
    const { title, compiledCode, hash, parameters } = recordOf(each, `validator ${i}`);
    if (typeof compiledCode !== 'string' || !isHex(compiledCode)) blueprintWrong(`validator ${i} has no compiled code in hex`);
    return {
      title: typeof title === 'string' ? title : `validator ${i}`,
      code: compiledCode.toLowerCase(),
      hash: typeof hash === 'string' ? hash.toLowerCase() : null,
      parameters: Array.isArray(parameters) ? parameters.length : 0,
    };
  });
}

function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) blueprintWrong(`${what} is no object`);
  return value as Readonly<Record<string, unknown>>;
}

function blueprintWrong(why: string): never {
  throw new UnspentError('USAGE', `the blueprint (CIP-57) is not that of a cage: ${why}`);
}
