/**
 * Scripts by their kind, as nodes tell them apart (Core's `Solver`), and the
 * names that a node and an Esplora server give to the kinds. Reading never
 * throws: whatever is of no known kind is 'unknown'.
 */
import { equalBytes, readU32LE } from '../../util/bytes.ts';

/** What a script is, with the hash or key in it. */
export type Script =
  | { readonly kind: 'p2pk'; readonly key: Uint8Array }
  | { readonly kind: 'p2pkh' | 'p2sh'; readonly hash: Uint8Array }
  /** P2WPKH, P2WSH, P2TR and all that come after them. */
  | { readonly kind: 'witness'; readonly version: number; readonly program: Uint8Array }
  | { readonly kind: 'multisig'; readonly required: number; readonly keys: readonly Uint8Array[] }
  /** OP_RETURN and nothing but pushes of data. */
  | { readonly kind: 'data' }
  | { readonly kind: 'unknown' };

export const OPCODE = {
  push0: 0x00,
  pushData1: 0x4c,
  pushData4: 0x4e,
  negativeOne: 0x4f,
  one: 0x51,
  sixteen: 0x60,
  return: 0x6a,
  dup: 0x76,
  equal: 0x87,
  equalVerify: 0x88,
  hash160: 0xa9,
  checkSig: 0xac,
  checkMultisig: 0xae,
} as const;

export const HASH160_BYTES = 20;
const MULTISIG_KEYS_MAX = 20;
const PROGRAM_BYTES_MIN = 2;
const PROGRAM_BYTES_MAX = 40;
/** Pay to anchor: an output of version 1 that anybody may spend. */
const ANCHOR = Uint8Array.of(0x4e, 0x73);

const UNKNOWN: Script = { kind: 'unknown' };
const DATA: Script = { kind: 'data' };

/** One operation of a script: the bytes it pushes are `start..stop`, and the next one is at `stop`. */
export interface Operation {
  readonly opcode: number;
  readonly start: number;
  readonly stop: number;
}

/** The operation at `at`; null when it pushes more bytes than there are. */
export function operationAt(script: Uint8Array, at: number): Operation | null {
  const opcode = script[at];
  if (opcode > OPCODE.pushData4) return { opcode, start: at + 1, stop: at + 1 };
  if (opcode < OPCODE.pushData1) return bounded(script, opcode, at + 1, opcode);
  const lengthBytes = 1 << (opcode - OPCODE.pushData1);
  const start = at + 1 + lengthBytes;
  if (start > script.length) return null;
  const length = lengthBytes === 4 ? readU32LE(script, at + 1) : script[at + 1] | (lengthBytes === 2 ? script[at + 2] << 8 : 0);
  return bounded(script, opcode, start, length);
}

function bounded(script: Uint8Array, opcode: number, start: number, length: number): Operation | null {
  return start + length > script.length ? null : { opcode, start, stop: start + length };
}

/** Tells what kind of script it is. */
export function readScript(script: Uint8Array): Script {
  const { length } = script;
  if (length === 23 && script[0] === OPCODE.hash160 && script[1] === HASH160_BYTES && script[22] === OPCODE.equal) {
    return { kind: 'p2sh', hash: script.subarray(2, 22) };
  }
  if (isWitness(script)) {
    const version = script[0] === 0 ? 0 : script[0] - OPCODE.one + 1;
    const program = script.subarray(2);
    return version === 0 && length !== 22 && length !== 34 ? UNKNOWN : { kind: 'witness', version, program };
  }
  if (length > 0 && script[0] === OPCODE.return) return isPushOnly(script, 1) ? DATA : UNKNOWN;
  if ((length === 35 || length === 67) && script[0] === length - 2 && script[length - 1] === OPCODE.checkSig) {
    const key = script.subarray(1, length - 1);
    return isKey(key) ? { kind: 'p2pk', key } : UNKNOWN;
  }
  if (isP2pkh(script)) return { kind: 'p2pkh', hash: script.subarray(3, 23) };
  return readMultisig(script);
}

function isP2pkh(script: Uint8Array): boolean {
  const [dup, hash, push] = script;
  if (script.length !== 25 || dup !== OPCODE.dup || hash !== OPCODE.hash160 || push !== HASH160_BYTES) return false;
  return script[23] === OPCODE.equalVerify && script[24] === OPCODE.checkSig;
}

/** BIP141: a small number, then one push of 2 to 40 bytes and nothing behind it. */
function isWitness(script: Uint8Array): boolean {
  const [version, pushed] = script;
  if (script.length < 2 + PROGRAM_BYTES_MIN || script.length > 2 + PROGRAM_BYTES_MAX || pushed + 2 !== script.length) return false;
  return version === 0 || (version >= OPCODE.one && version <= OPCODE.sixteen);
}

function isPushOnly(script: Uint8Array, from: number): boolean {
  for (let at = from; at < script.length; ) {
    const operation = operationAt(script, at);
    if (operation === null || operation.opcode > OPCODE.sixteen) return false;
    at = operation.stop;
  }
  return true;
}

/** Its first byte says how long a key is. */
function isKey(bytes: Uint8Array): boolean {
  const [first] = bytes;
  if (first === 2 || first === 3) return bytes.length === 33;
  return (first === 4 || first === 6 || first === 7) && bytes.length === 65;
}

/** `m key ... key n OP_CHECKMULTISIG`. */
function readMultisig(script: Uint8Array): Script {
  if (script.length === 0 || script[script.length - 1] !== OPCODE.checkMultisig) return UNKNOWN;
  const first = operationAt(script, 0);
  const required = first === null ? 0 : smallNumber(script, first);
  if (first === null || required === 0) return UNKNOWN;
  const keys: Uint8Array[] = [];
  let operation = operationAt(script, first.stop);
  while (operation !== null && isKey(script.subarray(operation.start, operation.stop))) {
    keys.push(script.subarray(operation.start, operation.stop));
    operation = operationAt(script, operation.stop);
  }
  if (operation === null || operation.stop !== script.length - 1) return UNKNOWN;
  const declared = smallNumber(script, operation);
  return declared < required || declared !== keys.length ? UNKNOWN : { kind: 'multisig', required, keys };
}

/** A number from 1 to 20 in the one form that is minimal; 0 for anything else. */
function smallNumber(script: Uint8Array, { opcode, start }: Operation): number {
  if (opcode >= OPCODE.one && opcode <= OPCODE.sixteen) return opcode - OPCODE.one + 1;
  if (opcode !== 1) return 0;
  const value = script[start];
  return value > 16 && value <= MULTISIG_KEYS_MAX ? value : 0;
}

/** Core's name of the kind (`getrawtransaction`: scriptPubKey.type). `mweb`: Litecoin has two kinds of its own. */
export function coreType(bytes: Uint8Array, mweb = false): string {
  const script = readScript(bytes);
  if (script.kind === 'witness') return coreWitnessType(script.version, script.program, mweb);
  return CORE_TYPES[script.kind];
}

const CORE_TYPES = {
  p2pk: 'pubkey',
  p2pkh: 'pubkeyhash',
  p2sh: 'scripthash',
  multisig: 'multisig',
  data: 'nulldata',
  unknown: 'nonstandard',
} as const;

function coreWitnessType(version: number, program: Uint8Array, mweb: boolean): string {
  if (version === 0) return program.length === HASH160_BYTES ? 'witness_v0_keyhash' : 'witness_v0_scripthash';
  if (version === 1 && program.length === 32) return 'witness_v1_taproot';
  if (mweb && isMweb(version, program)) return version === 9 ? 'witness_mweb_pegin' : 'witness_mweb_hogaddr';
  return version === 1 && !mweb && equalBytes(program, ANCHOR) ? 'anchor' : 'witness_unknown';
}

/** Litecoin: what enters its extension block, and the balance of that block. Neither has an address. */
export function isMweb(version: number, program: Uint8Array): boolean {
  return (version === 8 || version === 9) && program.length === 32;
}

/** The name that Esplora servers give (scriptpubkey_type): they look at fewer things, in their own order. */
export function esploraType(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length === 0) return 'empty';
  if (bytes[0] === OPCODE.return) return 'op_return';
  if ((length === 35 || length === 67) && bytes[0] === length - 2 && bytes[length - 1] === OPCODE.checkSig) return 'p2pk';
  const script = readScript(bytes);
  if (script.kind === 'p2pkh' || script.kind === 'p2sh') return script.kind;
  if (script.kind !== 'witness') return 'unknown';
  if (script.version === 0) return length === 22 ? 'v0_p2wpkh' : 'v0_p2wsh';
  return script.version === 1 && length === 34 ? 'v1_p2tr' : 'unknown';
}
