/**
 * A compiled Plutus program, taken apart: the term that a machine would run. It
 * is read for people to look at (`print.ts`) and is not run here.
 *
 * Source: the Plutus Core specification, appendix on flat serialisation.
 */
import { UPLC_DEPTH_MAX, UPLC_PROGRAM_BYTES_MAX } from '../../../util/limits.ts';
import { type PlutusData, readPlutusData } from '../plutus-data.ts';
import { BitReader, BUILTIN_BITS, malformed, TERM, TERM_BITS, TYPE, TYPE_BITS, typeEnd } from './flat-bits.ts';

export type ConstantType =
  | 'integer'
  | 'bytestring'
  | 'string'
  | 'unit'
  | 'bool'
  | 'data'
  | { readonly list: ConstantType }
  | { readonly pair: readonly [ConstantType, ConstantType] };

export type ConstantValue = bigint | Uint8Array | string | null | boolean | PlutusData | readonly ConstantValue[];

export type Term =
  /** `index`: how many binders out its own is; 1 is the nearest. */
  | { readonly kind: 'variable'; readonly index: bigint }
  | { readonly kind: 'delay' | 'lambda' | 'force'; readonly body: Term }
  | { readonly kind: 'apply'; readonly fn: Term; readonly argument: Term }
  | { readonly kind: 'constant'; readonly type: ConstantType; readonly value: ConstantValue }
  | { readonly kind: 'error' }
  | { readonly kind: 'builtin'; readonly tag: number }
  | { readonly kind: 'constr'; readonly tag: bigint; readonly fields: readonly Term[] }
  | { readonly kind: 'case'; readonly of: Term; readonly branches: readonly Term[] };

export interface Program {
  readonly version: readonly [bigint, bigint, bigint];
  readonly term: Term;
}

const SIMPLE_TYPES: ReadonlyMap<number, Exclude<ConstantType, object>> = new Map([
  [TYPE.integer, 'integer'],
  [TYPE.bytes, 'bytestring'],
  [TYPE.string, 'string'],
  [TYPE.unit, 'unit'],
  [TYPE.bool, 'bool'],
  [TYPE.data, 'data'],
]);

/** `flat` is what stands inside the byte string of a compiled code. Throws USAGE where it is no program. */
export function readProgram(flat: Uint8Array): Program {
  if (flat.length > UPLC_PROGRAM_BYTES_MAX) malformed(`it has more than ${UPLC_PROGRAM_BYTES_MAX} bytes`);
  return new ProgramReader(new BitReader(flat)).program();
}

class ProgramReader {
  private readonly from: BitReader;

  constructor(from: BitReader) {
    this.from = from;
  }

  program(): Program {
    const version = [this.natural(), this.natural(), this.natural()] as const;
    const term = this.term(0);
    this.from.filler();
    if (!this.from.isAtEnd) malformed('bytes stand behind it');
    return { version, term };
  }

  /** Groups of seven bits, the lowest first, each behind a bit that says whether another follows. */
  private natural(): bigint {
    const groups: string[] = [];
    for (let hasMore = true; hasMore; ) {
      hasMore = this.from.bit() === 1;
      groups.push(this.from.bits(7).toString(2).padStart(7, '0'));
    }
    return BigInt(`0b${groups.reverse().join('')}`);
  }

  private term(depth: number): Term {
    if (depth > UPLC_DEPTH_MAX) malformed(`it is nested deeper than ${UPLC_DEPTH_MAX}`);
    const tag = this.from.bits(TERM_BITS);
    switch (tag) {
      case TERM.variable:
        return { kind: 'variable', index: this.natural() };
      case TERM.delay:
        return { kind: 'delay', body: this.term(depth + 1) };
      case TERM.lambda:
        return { kind: 'lambda', body: this.term(depth + 1) };
      case TERM.force:
        return { kind: 'force', body: this.term(depth + 1) };
      case TERM.apply:
        return { kind: 'apply', fn: this.term(depth + 1), argument: this.term(depth + 1) };
      case TERM.constant:
        return this.constant();
      case TERM.error:
        return { kind: 'error' };
      case TERM.builtin:
        return { kind: 'builtin', tag: this.from.bits(BUILTIN_BITS) };
      case TERM.constr:
        return { kind: 'constr', tag: this.natural(), fields: this.list(() => this.term(depth + 1)) };
      case TERM.match:
        return { kind: 'case', of: this.term(depth + 1), branches: this.list(() => this.term(depth + 1)) };
      default:
        return malformed(`it has a term of unknown kind ${tag}`);
    }
  }

  private list<T>(item: () => T): T[] {
    const items: T[] = [];
    while (this.from.bit() === 1) items.push(item());
    return items;
  }

  private constant(): Term {
    const tags = this.list(() => this.from.bits(TYPE_BITS));
    if (typeEnd(tags, 0) !== tags.length) malformed('it has a constant of a malformed type');
    const type = typeOf(tags, 0, 0);
    return { kind: 'constant', type, value: this.value(type) };
  }

  private value(type: ConstantType): ConstantValue {
    if (typeof type === 'object') {
      if ('list' in type) return this.list(() => this.value(type.list));
      return [this.value(type.pair[0]), this.value(type.pair[1])];
    }
    switch (type) {
      case 'integer':
        return zigzag(this.natural());
      case 'bytestring':
        return this.string();
      case 'string':
        return textOf(this.string());
      case 'unit':
        return null;
      case 'bool':
        return this.from.bit() === 1;
      case 'data':
        return readPlutusData(this.string());
    }
  }

  /** Chunks of up to 255 bytes, each behind its length, the last an empty one; it begins at a whole byte. */
  private string(): Uint8Array {
    this.from.filler();
    const bytes: number[] = [];
    for (let length = this.from.bits(8); length > 0; length = this.from.bits(8))
      for (let i = 0; i < length; i++) bytes.push(this.from.bits(8));
    return Uint8Array.from(bytes);
  }
}

function typeOf(tags: readonly number[], at: number, depth: number): ConstantType {
  if (depth > UPLC_DEPTH_MAX) malformed(`it is nested deeper than ${UPLC_DEPTH_MAX}`);
  const simple = SIMPLE_TYPES.get(tags[at]);
  if (simple !== undefined) return simple;
  if (tags[at] === TYPE.apply && tags[at + 1] === TYPE.list) return { list: typeOf(tags, at + 2, depth + 1) };
  if (tags[at] !== TYPE.apply || tags[at + 1] !== TYPE.apply || tags[at + 2] !== TYPE.pair)
    malformed(`it has a constant of unknown type ${tags[at]}`);
  return { pair: [typeOf(tags, at + 3, depth + 1), typeOf(tags, typeEnd(tags, at + 3), depth + 1)] };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return malformed('it has a text that is not UTF-8');
  }
}

/** 0, -1, 1, -2, ... are 0, 1, 2, 3, ... */
function zigzag(natural: bigint): bigint {
  return (natural & 1n) === 0n ? natural >> 1n : -(natural >> 1n) - 1n;
}
