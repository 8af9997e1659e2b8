/**
 * Addresses: a short way to write the scripts that most outputs have. Base58
 * with a checksum for P2PKH and P2SH, bech32 for the first version of witness
 * programs (BIP173), bech32m for all later ones (BIP350). A script of another
 * kind has no address. Parsing what a person typed throws USAGE.
 */
import { bech32, bech32m, createBase58check } from '@scure/base';
import { sha256 } from '../../crypto/sha256.ts';
import { encodeBech32 } from '../../util/bech32.ts';
import { concatBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { BitcoinNetwork } from './networks.ts';
import { HASH160_BYTES, isMweb, OPCODE, readScript } from './script.ts';

const base58check = createBase58check((bytes: Uint8Array) => sha256(bytes));

/** Characters of a base58 address we try: decoding is quadratic, real ones have 35 at most. */
const BASE58_CHARS_MAX = 128;
/** BIP173. */
const BECH32_CHARS_MAX = 90;

/** The address of a script; null when scripts of its kind have none. */
export function formatAddress(network: BitcoinNetwork, bytes: Uint8Array): string | null {
  const script = readScript(bytes);
  if (script.kind === 'p2pkh') return base58check.encode(concatBytes(Uint8Array.of(network.p2pkh), script.hash));
  if (script.kind === 'p2sh') return base58check.encode(concatBytes(Uint8Array.of(network.p2sh[0]), script.hash));
  if (script.kind !== 'witness') return null;
  const { version, program } = script;
  if (network.mweb && isMweb(version, program)) return null;
  return encodeBech32(network.hrp, program, { first: version, form: version === 0 ? 'bech32' : 'bech32m' });
}

/** The script that an address stands for. */
export function parseAddress(network: BitcoinNetwork, text: string): Uint8Array {
  const given = text.trim();
  const separator = given.lastIndexOf('1');
  const isBech32 = separator > 0 && given.slice(0, separator).toLowerCase() === network.hrp;
  return isBech32 ? parseWitnessAddress(network, given) : parseBase58Address(network, given);
}

function parseBase58Address(network: BitcoinNetwork, text: string): Uint8Array {
  const wanted = `expected an address of ${network.name} (base58, or bech32 that begins with ${network.hrp}1)`;
  if (text === '' || text.length > BASE58_CHARS_MAX) throw usage(wanted, text);
  let bytes: Uint8Array;
  try {
    bytes = base58check.decode(text);
  } catch (cause) {
    throw usage(wanted, text, cause);
  }
  const [version] = bytes;
  const hash = bytes.subarray(1);
  if (hash.length !== HASH160_BYTES) throw usage(`an address has ${HASH160_BYTES} bytes behind its first, this one ${hash.length}`, text);
  if (version === network.p2pkh) return p2pkhScript(hash);
  if (network.p2sh.includes(version)) return p2shScript(hash);
  throw usage(`${wanted}; its first byte ${version} is of another network`, text);
}

function parseWitnessAddress(network: BitcoinNetwork, text: string): Uint8Array {
  for (const coder of [bech32, bech32m]) {
    const decoded = coder.decodeUnsafe(text, BECH32_CHARS_MAX);
    if (decoded === undefined) continue;
    const [version, ...words] = decoded.words;
    const program = coder.fromWordsUnsafe(words);
    if (program === undefined) throw usage('the address is not a whole number of bytes', text);
    return witnessScript(version, program, coder === bech32, text);
  }
  throw usage(`not sound bech32: a mistyped address of ${network.name}?`, text);
}

function witnessScript(version: number, program: Uint8Array, old: boolean, text: string): Uint8Array {
  if (version === undefined || version > 16) throw usage('the version of a witness program is 0 to 16', text);
  if (program.length < 2 || program.length > 40) throw usage(`a witness program has 2 to 40 bytes, this one ${program.length}`, text);
  if (version === 0 && program.length !== 20 && program.length !== 32) {
    throw usage(`a witness program of version 0 has 20 or 32 bytes, this one ${program.length}`, text);
  }
  if (old !== (version === 0)) throw usage(`version ${version} is written in ${old ? 'bech32m, not bech32' : 'bech32, not bech32m'}`, text);
  const opcode = version === 0 ? 0 : OPCODE.one + version - 1;
  return concatBytes(Uint8Array.of(opcode, program.length), program);
}

export function p2pkhScript(hash: Uint8Array): Uint8Array {
  const { dup, hash160, equalVerify, checkSig } = OPCODE;
  return concatBytes(Uint8Array.of(dup, hash160, HASH160_BYTES), hash, Uint8Array.of(equalVerify, checkSig));
}

export function p2shScript(hash: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(OPCODE.hash160, HASH160_BYTES), hash, Uint8Array.of(OPCODE.equal));
}

function usage(reason: string, text: string, cause?: unknown): UnspentError {
  return new UnspentError('USAGE', `${reason}, got '${text.slice(0, 120)}'`, { text: text.slice(0, 200) }, cause);
}
