/**
 * Writes Plutus programs in the flat encoding: the way back of
 * `src/ledgers/cardano/uplc/program.ts`, sharing its types and nothing else.
 */
import type { ConstantType, ConstantValue, Program, Term } from '../../../src/ledgers/cardano/uplc/program.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';

const TYPES = { integer: '0000', bytestring: '0001', string: '0010', unit: '0011', bool: '0100', data: '1000' } as const;

class Bits {
  private text = '';

  put(bits: string): this {
    this.text += bits;
    return this;
  }

  number(value: number, width: number): this {
    return this.put(value.toString(2).padStart(width, '0'));
  }

  natural(value: bigint): this {
    for (let rest = value; ; rest >>= 7n) {
      this.put(rest > 127n ? '1' : '0').number(Number(rest & 127n), 7);
      if (rest <= 127n) return this;
    }
  }

  /** Up to a whole byte. */
  fill(): this {
    return this.put('1'.padStart(8 - (this.text.length % 8), '0'));
  }

  bytes(bytes: Uint8Array): this {
    this.fill();
    for (let at = 0; at < bytes.length; at += 255) {
      const chunk = bytes.subarray(at, at + 255);
      this.number(chunk.length, 8);
      for (const byte of chunk) this.number(byte, 8);
    }
    return this.number(0, 8);
  }

  list<T>(items: readonly T[], put: (item: T) => unknown): this {
    for (const item of items) {
      this.put('1');
      put(item);
    }
    return this.put('0');
  }

  take(): Uint8Array {
    this.fill();
    return Uint8Array.from(this.text.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
  }
}

/** `dataBytes`: the CBOR of a constant of data, which may have been written in several ways. */
export function writeProgram({ version, term }: Program, dataBytes: (value: ConstantValue) => Uint8Array = plainData): Uint8Array {
  const bits = new Bits();
  for (const each of version) bits.natural(each);
  writeTerm(bits, term, dataBytes);
  return bits.take();
}

function writeTerm(bits: Bits, term: Term, data: (value: ConstantValue) => Uint8Array): void {
  const inner = (each: Term): void => writeTerm(bits, each, data);
  switch (term.kind) {
    case 'variable':
      bits.put('0000').natural(term.index);
      break;
    case 'delay':
    case 'lambda':
    case 'force':
      bits.put({ delay: '0001', lambda: '0010', force: '0101' }[term.kind]);
      inner(term.body);
      break;
    case 'apply':
      bits.put('0011');
      inner(term.fn);
      inner(term.argument);
      break;
    case 'constant':
      bits.put('0100').list(typeTags(term.type), (tag) => bits.put(tag));
      writeValue(bits, term.type, term.value, data);
      break;
    case 'error':
      bits.put('0110');
      break;
    case 'builtin':
      bits.put('0111').number(term.tag, 7);
      break;
    case 'constr':
      bits.put('1000').natural(term.tag).list(term.fields, inner);
      break;
    case 'case':
      bits.put('1001');
      inner(term.of);
      bits.list(term.branches, inner);
      break;
  }
}

function typeTags(type: ConstantType): string[] {
  if (typeof type === 'string') return [TYPES[type]];
  if ('list' in type) return ['0111', '0101', ...typeTags(type.list)];
  return ['0111', '0111', '0110', ...type.pair.flatMap(typeTags)];
}

function writeValue(bits: Bits, type: ConstantType, value: ConstantValue, data: (value: ConstantValue) => Uint8Array): void {
  if (typeof type === 'object') {
    const values = value as readonly ConstantValue[];
    if ('list' in type) bits.list(values, (each) => writeValue(bits, type.list, each, data));
    else for (const [i, each] of type.pair.entries()) writeValue(bits, each, values[i], data);
  } else if (type === 'integer') bits.natural((value as bigint) >= 0n ? 2n * (value as bigint) : -2n * (value as bigint) - 1n);
  else if (type === 'bytestring') bits.bytes(value as Uint8Array);
  else if (type === 'string') bits.bytes(new TextEncoder().encode(value as string));
  else if (type === 'bool') bits.put(value === true ? '1' : '0');
  else if (type === 'data') bits.bytes(data(value));
}

/** Whole numbers and bytes alone. */
function plainData(value: ConstantValue): Uint8Array {
  const data = value as { readonly kind: string; readonly value: bigint | Uint8Array };
  const writer = new CborWriter();
  return (typeof data.value === 'bigint' ? writer.bigUint(data.value) : writer.bytes(data.value)).take();
}
