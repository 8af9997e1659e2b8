/**
 * The scripts of a regtest chain. Its own people have no keys: they hold coins that
 * anybody may spend: OP_TRUE, alone or behind a name that is pushed and dropped,
 * bare or under P2WSH, P2SH or both. Other kinds are only ever paid to.
 */
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '../../../crypto/sha256.ts';
import { p2pkhScript, p2shScript } from '../../../ledgers/bitcoin/address.ts';
import { OPCODE, operationAt, readScript } from '../../../ledgers/bitcoin/script.ts';
import { concatBytes, equalBytes, utf8 } from '../../../util/bytes.ts';
import { Random } from '../../random.ts';
import { keyOf } from './coins.ts';

export interface Unlocking {
  readonly scriptSig: Uint8Array;
  readonly witness: readonly Uint8Array[];
}

export type PaidKind = 'p2pkh' | 'p2pk' | 'p2wpkh' | 'p2tr' | 'multisig' | 'future' | 'guest';

interface OwnScript {
  readonly script: Uint8Array;
  readonly unlocking: Unlocking;
}

const TRUE = Uint8Array.of(OPCODE.one);
const NOTHING = new Uint8Array(0);
const OP_DROP = 0x75;
const PEOPLE = 12;
const PEOPLE_STREAM = 0x9e0;
const GUEST = 'guest';

const OWN_KINDS = [
  ['main', 50],
  ['person', 30],
  ['bare', 6],
  ['p2sh', 8],
  ['nested', 6],
] as const satisfies readonly (readonly [string, number])[];

/** Pays to whoever shows the script behind this hash (BIP141). */
export function p2wshScript(script: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(OPCODE.push0, 32), sha256(script));
}

/** Anybody may spend it, and it has an address of its own for each name. */
export function namedScript(name: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(name.length), name, Uint8Array.of(OP_DROP, OPCODE.one));
}

/** P2WSH of a script that the chain's own people pay to now and then, and never spend. */
export const GUEST_SCRIPT = p2wshScript(namedScript(utf8(GUEST)));

/** The scripts of the chain's own people, and how each is spent. */
export class ScriptBook {
  private readonly people: readonly OwnScript[];
  private readonly fixed: Readonly<Record<'main' | 'bare' | 'p2sh' | 'nested', OwnScript>>;
  private readonly unlockings: ReadonlyMap<string, Unlocking>;

  constructor(seed: number) {
    const random = new Random(seed, PEOPLE_STREAM);
    this.people = Array.from({ length: PEOPLE }, () => overWitness(namedScript(random.bytes(4))));
    const inner = p2wshScript(TRUE);
    this.fixed = {
      main: overWitness(TRUE),
      bare: { script: TRUE, unlocking: { scriptSig: NOTHING, witness: [] } },
      p2sh: { script: p2shScript(hash160(TRUE)), unlocking: { scriptSig: pushOf(TRUE), witness: [] } },
      nested: { script: p2shScript(hash160(inner)), unlocking: { scriptSig: pushOf(inner), witness: [TRUE] } },
    };
    const all = [...this.people, ...Object.values(this.fixed)];
    this.unlockings = new Map(all.map(({ script, unlocking }) => [keyOf(script), unlocking]));
  }

  /** P2WSH of OP_TRUE. */
  get main(): Uint8Array {
    return this.fixed.main.script;
  }

  /** Undefined: not one of the people's. */
  unlocking(script: Uint8Array): Unlocking | undefined {
    return this.unlockings.get(keyOf(script));
  }

  /** A script that the people can spend from again. */
  own(random: Random): Uint8Array {
    const kind = random.weighted(OWN_KINDS);
    return kind === 'person' ? random.pick(this.people).script : this.fixed[kind].script;
  }
}

/** A script that nobody here ever spends from. */
export function paidScript(random: Random, kind: PaidKind): Uint8Array {
  if (kind === 'p2pkh') return p2pkhScript(random.bytes(20));
  if (kind === 'p2pk') return concatBytes(pushOf(someKey(random)), Uint8Array.of(OPCODE.checkSig));
  if (kind === 'p2wpkh') return concatBytes(Uint8Array.of(OPCODE.push0, 20), random.bytes(20));
  if (kind === 'p2tr') return concatBytes(Uint8Array.of(OPCODE.one, 32), random.bytes(32));
  if (kind === 'guest') return GUEST_SCRIPT;
  if (kind === 'multisig') {
    const keys = Array.from({ length: 3 }, () => pushOf(someKey(random)));
    return concatBytes(Uint8Array.of(OPCODE.one + 1), ...keys, Uint8Array.of(OPCODE.one + 2, OPCODE.checkMultisig));
  }
  // Versions 2 to 16 mean nothing yet.
  const program = random.bytes(2 + random.int(39));
  return concatBytes(Uint8Array.of(OPCODE.one + 1 + random.int(15), program.length), program);
}

/** OP_RETURN and so many bytes of data, 75 at most. */
export function dataScript(random: Random, length: number): Uint8Array {
  return concatBytes(Uint8Array.of(OPCODE.return), pushOf(random.bytes(length)));
}

/** Null: it may be spent so. Else why not, in words a node would use. `whyKeyLocked` is asked where a key may spend it, with the key's hash. */
export function whyLocked(
  script: Uint8Array,
  { scriptSig, witness }: Unlocking,
  whyKeyLocked: (program: Uint8Array) => string | null,
): string | null {
  const known = readScript(script);
  if (known.kind === 'witness' && known.version === 0 && known.program.length === 20) return whyKeyLocked(known.program);
  if (known.kind === 'p2sh') return whyHashLocked(known.hash, scriptSig, witness);
  if (known.kind === 'witness' && known.version === 0 && known.program.length === 32) {
    return scriptSig.length > 0 ? 'Witness requires empty scriptSig' : whyWitnessLocked(known.program, witness);
  }
  if (!needsNothing(script)) return 'this chain checks signatures of P2WPKH only: other outputs can be spent if they need none';
  if (witness.length > 0) return 'Witness provided for non-witness script';
  return scriptSig.length > 0 ? 'Stack size must be exactly one after execution' : null;
}

function whyHashLocked(hash: Uint8Array, scriptSig: Uint8Array, witness: readonly Uint8Array[]): string | null {
  const operation = scriptSig.length === 0 ? null : operationAt(scriptSig, 0);
  if (operation === null || operation.stop !== scriptSig.length) return 'Only push operators allowed in signatures';
  const redeem = scriptSig.subarray(operation.start, operation.stop);
  if (!equalBytes(hash160(redeem), hash)) return 'Script evaluated without error but finished with a false/empty top stack element';
  const inner = readScript(redeem);
  if (inner.kind === 'witness' && inner.version === 0 && inner.program.length === 32) return whyWitnessLocked(inner.program, witness);
  if (witness.length > 0) return 'Witness provided for non-witness script';
  return needsNothing(redeem) ? null : 'this chain checks signatures of P2WPKH only: other outputs can be spent if they need none';
}

function whyWitnessLocked(program: Uint8Array, witness: readonly Uint8Array[]): string | null {
  const script = witness.at(-1);
  if (script === undefined) return 'Witness program was passed an empty witness';
  if (!equalBytes(sha256(script), program)) return 'Witness program hash mismatch';
  if (!needsNothing(script)) return 'this chain checks signatures of P2WPKH only: other outputs can be spent if they need none';
  return witness.length === 1 ? null : 'Stack size must be exactly one after execution';
}

/** OP_TRUE, or a name, OP_DROP and OP_TRUE. */
function needsNothing(script: Uint8Array): boolean {
  const last = script.length - 1;
  if (script[last] !== OPCODE.one) return false;
  if (last === 0) return true;
  const name = operationAt(script, 0);
  return name !== null && name.opcode <= OPCODE.pushData4 && name.stop === last - 1 && script[last - 1] === OP_DROP;
}

function overWitness(script: Uint8Array): OwnScript {
  return { script: p2wshScript(script), unlocking: { scriptSig: NOTHING, witness: [script] } };
}

function someKey(random: Random): Uint8Array {
  return concatBytes(Uint8Array.of(2 + random.int(2)), random.bytes(32));
}

function pushOf(bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(bytes.length), bytes);
}

function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}
