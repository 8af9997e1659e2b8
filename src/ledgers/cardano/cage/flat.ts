/**
 * Applies parameters to a compiled Plutus program. A program is UPLC in the flat
 * encoding: three version numbers, then one term, bit by bit, and padding to a
 * whole byte. `program p1 p2` is `apply (apply term p1) p2` with constants of
 * type data, so the term is copied behind one tag a parameter. Strings inside it
 * begin at whole bytes and so get other padding in their new place; finding them
 * needs a walk over the whole term.
 *
 * Source: the Plutus Core specification, appendix on flat serialisation.
 */
import { UPLC_DEPTH_MAX, UPLC_PROGRAM_BYTES_MAX } from '../../../util/limits.ts';
import { BitReader, BUILTIN_BITS, malformed, TERM, TERM_BITS, TYPE, TYPE_BITS, typeEnd } from '../uplc/flat-bits.ts';

const CHUNK_BYTES = 255;

class BitWriter {
  private bytes = new Uint8Array(1024);
  private at = 0;

  bit(bit: number): void {
    const i = this.at >> 3;
    if (i === this.bytes.length) {
      const grown = new Uint8Array(2 * i);
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes[i] |= bit << (7 - (this.at++ & 7));
  }

  bits(value: number, count: number): void {
    for (let i = count - 1; i >= 0; i--) this.bit((value >> i) & 1);
  }

  filler(): void {
    while ((this.at & 7) !== 7) this.bit(0);
    this.bit(1);
  }

  take(): Uint8Array {
    return this.bytes.slice(0, this.at >> 3);
  }
}

/**
 * The program with these parameters, each the CBOR of Plutus data, applied in order. `flat` is what stands inside the
 * byte string of a compiled code. Throws USAGE when it is no program.
 */
export function applyParameters(flat: Uint8Array, parameters: readonly Uint8Array[]): Uint8Array {
  if (flat.length > UPLC_PROGRAM_BYTES_MAX) malformed(`it has more than ${UPLC_PROGRAM_BYTES_MAX} bytes`);
  const copy = new ProgramCopy(new BitReader(flat), new BitWriter());
  return copy.apply(parameters);
}

class ProgramCopy {
  private readonly from: BitReader;
  private readonly to: BitWriter;

  constructor(from: BitReader, to: BitWriter) {
    this.from = from;
    this.to = to;
  }

  apply(parameters: readonly Uint8Array[]): Uint8Array {
    for (let i = 0; i < 3; i++) this.natural();
    for (let i = 0; i < parameters.length; i++) this.to.bits(TERM.apply, TERM_BITS);
    this.term(0);
    for (const parameter of parameters) this.parameter(parameter);
    this.from.filler();
    if (!this.from.isAtEnd) malformed('bytes stand behind it');
    this.to.filler();
    return this.to.take();
  }

  private parameter(data: Uint8Array): void {
    this.to.bits(TERM.constant, TERM_BITS);
    this.to.bit(1);
    this.to.bits(TYPE.data, TYPE_BITS);
    this.to.bit(0);
    this.to.filler();
    for (let at = 0; at < data.length; at += CHUNK_BYTES) this.writeChunk(data.subarray(at, at + CHUNK_BYTES));
    this.to.bits(0, 8);
  }

  private writeChunk(chunk: Uint8Array): void {
    this.to.bits(chunk.length, 8);
    for (const byte of chunk) this.to.bits(byte, 8);
  }

  private bit(): number {
    const bit = this.from.bit();
    this.to.bit(bit);
    return bit;
  }

  private bits(count: number): number {
    const value = this.from.bits(count);
    this.to.bits(value, count);
    return value;
  }

  /** Groups of seven bits, each behind a bit that says whether another follows. */
  private natural(): void {
    while (this.bit() === 1) this.bits(7);
    this.bits(7);
  }

  private term(depth: number): void {
    if (depth > UPLC_DEPTH_MAX) malformed(`it is nested deeper than ${UPLC_DEPTH_MAX}`);
    const tag = this.bits(TERM_BITS);
    if (tag === TERM.variable) this.natural();
    else if (tag === TERM.delay || tag === TERM.lambda || tag === TERM.force) this.term(depth + 1);
    else if (tag === TERM.apply) {
      this.term(depth + 1);
      this.term(depth + 1);
    } else if (tag === TERM.constant) this.constant();
    else if (tag === TERM.builtin) this.bits(BUILTIN_BITS);
    else if (tag === TERM.constr) {
      this.natural();
      this.list(() => this.term(depth + 1));
    } else if (tag === TERM.match) {
      this.term(depth + 1);
      this.list(() => this.term(depth + 1));
    } else if (tag !== TERM.error) malformed(`it has a term of unknown kind ${tag}`);
  }

  private list(item: () => void): void {
    while (this.bit() === 1) item();
  }

  private constant(): void {
    const types: number[] = [];
    this.list(() => types.push(this.bits(TYPE_BITS)));
    const rest = this.value(types, 0, 0);
    if (rest !== types.length) malformed('it has a constant of a malformed type');
  }

  /** Copies a value of the type that begins at `at`; returns where that type ends. */
  private value(types: readonly number[], at: number, depth: number): number {
    if (depth > UPLC_DEPTH_MAX) malformed(`it is nested deeper than ${UPLC_DEPTH_MAX}`);
    const type = types[at];
    if (type === TYPE.integer) this.natural();
    else if (type === TYPE.bytes || type === TYPE.string || type === TYPE.data) this.string();
    else if (type === TYPE.bool) this.bit();
    else if (type === TYPE.apply) return this.composite(types, at, depth);
    else if (type !== TYPE.unit) malformed(`it has a constant of unknown type ${type}`);
    return at + 1;
  }

  /** A list is `apply list T`, a pair `apply (apply pair A) B`. */
  private composite(types: readonly number[], at: number, depth: number): number {
    if (types[at + 1] === TYPE.list) {
      this.list(() => this.value(types, at + 2, depth + 1));
      return typeEnd(types, at + 2);
    }
    if (types[at + 1] !== TYPE.apply || types[at + 2] !== TYPE.pair) malformed('it has a constant of a malformed type');
    return this.value(types, this.value(types, at + 3, depth + 1), depth + 1);
  }

  private string(): void {
    this.from.filler();
    this.to.filler();
    for (let length = this.bits(8); length > 0; length = this.bits(8)) for (let i = 0; i < length; i++) this.bits(8);
  }
}
