/**
 * What an input brings along to be allowed to spend an output, by what each part
 * of it is for: signatures, keys, and the scripts that the output names only by
 * their hash. Read by the kind of the output alone, and nothing is run: what
 * does not fit the kind is 'data'. Never throws.
 */
import { OPCODE, type Operation, operationAt, readScript } from './script.ts';

export interface SpendInput {
  readonly scriptSig: Uint8Array;
  readonly witness: readonly Uint8Array[];
}

export interface SpendPart {
  readonly what:
    | 'signature'
    | 'public key'
    | 'input script'
    | 'redeem script'
    | 'witness script'
    | 'tapscript'
    | 'control block'
    | 'annex'
    | 'data';
  readonly bytes: Uint8Array;
}

const ANNEX = 0x50;
const KEY_HASH_SCRIPT_BYTES = 22;
const TAPROOT_SCRIPT_BYTES = 34;

/** Scripts that an output only names by their hash; null: there is none. `script`: of the output. */
export function innerScripts(
  { scriptSig, witness }: SpendInput,
  script: Uint8Array,
): { redeem: Uint8Array | null; inner: Uint8Array | null } {
  const redeem = readScript(script).kind === 'p2sh' ? lastPush(scriptSig) : null;
  const inner = isWitnessScriptHash(redeem ?? script) ? (witness.at(-1) ?? null) : null;
  return { redeem, inner };
}

/** In the order in which they stand there. `script`: of the output that is spent; null: it is not known. */
export function spendParts(input: SpendInput, script: Uint8Array | null): SpendPart[] {
  const { scriptSig, witness } = input;
  if (script === null) return [...scriptParts(scriptSig), ...witness.map(data)];
  const { redeem } = innerScripts(input, script);
  return [...pushParts(scriptSig, script, redeem), ...witnessParts(witness, redeem ?? script)];
}

/** What the input's own script pushes; the script itself where it does something else. */
function pushParts(scriptSig: Uint8Array, script: Uint8Array, redeem: Uint8Array | null): SpendPart[] {
  const pushes = pushesOf(scriptSig);
  const { kind } = readScript(script);
  if (pushes === null) return scriptParts(scriptSig);
  if (redeem !== null) return [...pushes.slice(0, -1).map(data), { what: 'redeem script', bytes: redeem }];
  if (kind === 'p2pkh' && pushes.length === 2) return signedBy(pushes);
  if ((kind === 'p2pk' && pushes.length === 1) || kind === 'multisig') return pushes.map(signatureOf);
  return scriptParts(scriptSig);
}

function witnessParts(witness: readonly Uint8Array[], script: Uint8Array): SpendPart[] {
  if (isWitnessScriptHash(script) && witness.length > 0)
    return [...witness.slice(0, -1).map(data), { what: 'witness script', bytes: witness[witness.length - 1] }];
  if (script.length === KEY_HASH_SCRIPT_BYTES && script[0] === OPCODE.push0 && witness.length === 2) return signedBy(witness);
  if (script.length === TAPROOT_SCRIPT_BYTES && script[0] === OPCODE.one) return taprootParts(witness);
  return witness.map(data);
}

/** BIP341: an annex comes last; one item left is a signature, more are what a script wants, the script, and where it stands. */
function taprootParts(witness: readonly Uint8Array[]): SpendPart[] {
  const last = witness.at(-1);
  const isAnnexed = witness.length > 1 && last?.[0] === ANNEX;
  const annex: SpendPart[] = isAnnexed ? [{ what: 'annex', bytes: last }] : [];
  const items = isAnnexed ? witness.slice(0, -1) : witness;
  if (items.length === 1) return [{ what: 'signature', bytes: items[0] }, ...annex];
  if (items.length === 0) return annex;
  const [tapscript, control] = items.slice(-2);
  return [...items.slice(0, -2).map(data), { what: 'tapscript', bytes: tapscript }, { what: 'control block', bytes: control }, ...annex];
}

function signedBy([signature, key]: readonly Uint8Array[]): SpendPart[] {
  return [signatureOf(signature), { what: 'public key', bytes: key }];
}

/** CHECKMULTISIG takes one item more than it looks at, which is empty. */
function signatureOf(bytes: Uint8Array): SpendPart {
  return bytes.length === 0 ? data(bytes) : { what: 'signature', bytes };
}

function data(bytes: Uint8Array): SpendPart {
  return { what: 'data', bytes };
}

function scriptParts(scriptSig: Uint8Array): SpendPart[] {
  return scriptSig.length === 0 ? [] : [{ what: 'input script', bytes: scriptSig }];
}

function isWitnessScriptHash(bytes: Uint8Array): boolean {
  const script = readScript(bytes);
  return script.kind === 'witness' && script.version === 0 && script.program.length === 32;
}

/** Null: it does something else than push, or ends in the middle of a push. */
function pushesOf(script: Uint8Array): Uint8Array[] | null {
  const pushes: Uint8Array[] = [];
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at);
    if (operation === null || operation.opcode > OPCODE.pushData4) return null;
    pushes.push(pushedBy(script, operation));
    at = operation.stop;
  }
  return pushes;
}

/** What the last operation of a script pushes; null when that is no push, or there is none. */
function lastPush(script: Uint8Array): Uint8Array | null {
  let last: Uint8Array | null = null;
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at);
    if (operation === null) return null;
    last = operation.opcode > OPCODE.pushData4 ? null : pushedBy(script, operation);
    at = operation.stop;
  }
  return last;
}

function pushedBy(script: Uint8Array, { start, stop }: Operation): Uint8Array {
  return script.subarray(start, stop);
}
