/** What operations of scripts are called, and how scripts write numbers. */
import { OPCODE } from './script.ts';

/** Bytes up to which Core shows what is pushed as a number. */
export const NUMBER_BYTES_MAX = 4;

/** From 0x61 on, without their OP_. */
const NAMES = `NOP VER IF NOTIF VERIF VERNOTIF ELSE ENDIF VERIFY RETURN TOALTSTACK FROMALTSTACK 2DROP 2DUP 3DUP 2OVER 2ROT 2SWAP
  IFDUP DEPTH DROP DUP NIP OVER PICK ROLL ROT SWAP TUCK CAT SUBSTR LEFT RIGHT SIZE INVERT AND OR XOR EQUAL EQUALVERIFY RESERVED1
  RESERVED2 1ADD 1SUB 2MUL 2DIV NEGATE ABS NOT 0NOTEQUAL ADD SUB MUL DIV MOD LSHIFT RSHIFT BOOLAND BOOLOR NUMEQUAL
  NUMEQUALVERIFY NUMNOTEQUAL LESSTHAN GREATERTHAN LESSTHANOREQUAL GREATERTHANOREQUAL MIN MAX WITHIN RIPEMD160 SHA1 SHA256
  HASH160 HASH256 CODESEPARATOR CHECKSIG CHECKSIGVERIFY CHECKMULTISIG CHECKMULTISIGVERIFY NOP1 CHECKLOCKTIMEVERIFY
  CHECKSEQUENCEVERIFY NOP4 NOP5 NOP6 NOP7 NOP8 NOP9 NOP10 CHECKSIGADD`.split(/\s+/);
const NAMES_FROM = 0x61;
const RESERVED = 0x50;
const INVALID = 0xff;

/** As Bitcoin Core has it; the small numbers are themselves. */
export function opcodeName(opcode: number): string {
  if (opcode === OPCODE.negativeOne) return '-1';
  if (opcode >= OPCODE.one && opcode <= OPCODE.sixteen) return String(opcode - OPCODE.one + 1);
  if (opcode === RESERVED) return 'OP_RESERVED';
  if (opcode === INVALID) return 'OP_INVALIDOPCODE';
  const name = NAMES[opcode - NAMES_FROM];
  return name === undefined ? 'OP_UNKNOWN' : `OP_${name}`;
}

/** Little-endian, the highest bit of the last byte is the sign. */
export function scriptNumber(bytes: Uint8Array): number {
  if (bytes.length === 0) return 0;
  const last = bytes.length - 1;
  let value = bytes[last] & 0x7f;
  for (let i = last - 1; i >= 0; i--) value = value * 256 + bytes[i];
  // There is a negative zero; it is shown as zero.
  return (bytes[last] & 0x80) !== 0 && value !== 0 ? -value : value;
}
