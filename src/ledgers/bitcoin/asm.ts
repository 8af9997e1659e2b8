/**
 * Scripts as text, in the two ways that clients expect: as Bitcoin Core prints
 * them (`asm` of its RPC) and as Esplora servers do (`scriptpubkey_asm`, which
 * is how rust-bitcoin writes a script). Never throws: a script may be any bytes.
 */
import { toHex } from '../../util/bytes.ts';
import { NUMBER_BYTES_MAX, opcodeName, scriptNumber } from './opcodes.ts';
import { OPCODE, operationAt } from './script.ts';
import { isUnspendable } from './transaction.ts';

const SIGHASH_NAMES: ReadonlyMap<number, string> = new Map([
  [0x01, 'ALL'],
  [0x02, 'NONE'],
  [0x03, 'SINGLE'],
  [0x81, 'ALL|ANYONECANPAY'],
  [0x82, 'NONE|ANYONECANPAY'],
  [0x83, 'SINGLE|ANYONECANPAY'],
]);

/** `signatures`: of an input's script, where Core names what a signature signs. */
export function coreAsm(script: Uint8Array, signatures = false): string {
  const words: string[] = [];
  const decode = signatures && !isUnspendable(script, 0, script.length);
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at);
    if (operation === null) {
      words.push('[error]');
      break;
    }
    const { opcode, start, stop } = operation;
    words.push(opcode > OPCODE.pushData4 ? opcodeName(opcode) : corePush(script.subarray(start, stop), decode));
    at = stop;
  }
  return words.join(' ');
}

function corePush(pushed: Uint8Array, signatures: boolean): string {
  if (pushed.length <= NUMBER_BYTES_MAX) return scriptNumber(pushed).toString();
  const sighash = signatures && isSignature(pushed) ? SIGHASH_NAMES.get(pushed[pushed.length - 1]) : undefined;
  return sighash === undefined ? toHex(pushed) : `${toHex(pushed, 0, pushed.length - 1)}[${sighash}]`;
}

/** DER as BIP66 wants it, with one byte behind it (Core's IsValidSignatureEncoding). */
function isSignature(bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length < 9 || length > 73 || bytes[0] !== 0x30 || bytes[1] !== length - 3) return false;
  const rLength = bytes[3];
  if (5 + rLength >= length || rLength + bytes[5 + rLength] + 7 !== length) return false;
  return isDerNumber(bytes, 2) && isDerNumber(bytes, 4 + rLength);
}

function isDerNumber(bytes: Uint8Array, at: number): boolean {
  const length = bytes[at + 1];
  if (bytes[at] !== 0x02 || length === 0 || (bytes[at + 2] & 0x80) !== 0) return false;
  return length === 1 || bytes[at + 2] !== 0 || (bytes[at + 3] & 0x80) !== 0;
}

export function esploraAsm(script: Uint8Array): string {
  const words: string[] = [];
  for (let at = 0; at < script.length; ) {
    const opcode = script[at];
    const operation = operationAt(script, at);
    if (operation === null) {
      // rust-bitcoin puts no space before the first of these.
      if (opcode >= OPCODE.pushData1 && at + 1 + (1 << (opcode - OPCODE.pushData1)) > script.length) {
        return `${words.join(' ')}<unexpected end>`;
      }
      words.push(esploraName(opcode), '<push past end>');
      break;
    }
    words.push(esploraName(opcode));
    if (operation.stop > operation.start) words.push(toHex(script, operation.start, operation.stop));
    at = operation.stop;
  }
  return words.join(' ');
}

function esploraName(opcode: number): string {
  if (opcode === OPCODE.push0) return 'OP_0';
  if (opcode < OPCODE.pushData1) return `OP_PUSHBYTES_${opcode}`;
  if (opcode <= OPCODE.pushData4) return `OP_PUSHDATA${1 << (opcode - OPCODE.pushData1)}`;
  if (opcode === OPCODE.negativeOne) return 'OP_PUSHNUM_NEG1';
  if (opcode >= OPCODE.one && opcode <= OPCODE.sixteen) return `OP_PUSHNUM_${opcode - OPCODE.one + 1}`;
  if (opcode === 0xb1) return 'OP_CLTV';
  if (opcode === 0xb2) return 'OP_CSV';
  const name = opcodeName(opcode);
  return name === 'OP_UNKNOWN' ? `OP_RETURN_${opcode}` : name;
}
