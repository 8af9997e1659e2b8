/**
 * The Plutus programs of a devnet: validators that run, some to succeed and some
 * to fail. They are written here as terms of UPLC in the order of the flat
 * encoding, and assembled to the bytes that a ledger takes.
 *
 * Source: the Plutus Core specification, appendix on flat serialisation.
 */
import { blake2b224 } from '../../../crypto/hash.ts';
import { concatBytes, fromHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { assert } from '../../../util/errors.ts';

/** As hashes of scripts and reference scripts number them: Plutus V1 to V3. */
export type PlutusLanguage = 1 | 2 | 3;

export interface PlutusProgram {
  readonly language: PlutusLanguage;
  /** The flat program as a CBOR byte string: what stands in the byte string of a witness or a reference script. */
  readonly script: Uint8Array;
  readonly hash: Uint8Array;
}

/** The bits of each word. A variable is the number of binders out to its own; a constant of bytes is followed by them. */
const WORDS = new Map([
  ['delay', '0001'],
  ['lambda', '0010'],
  ['apply', '0011'],
  ['force', '0101'],
  ['error', '0110'],
  ['var1', '000000000001'],
  ['var2', '000000000010'],
  ['var3', '000000000011'],
  ['unit', '0100100110'],
  ['bytes', '0100100010'],
  ['ifThenElse', '01110011010'],
  ['sndPair', '01110011110'],
  ['headList', '01110100001'],
  ['tailList', '01110100010'],
  ['unConstrData', '01110101010'],
  ['equalsData', '01110101111'],
]);

/** Of the language of programs: a validator of V3 is written in 1.1.0. */
const VERSIONS: Readonly<Record<PlutusLanguage, string>> = { 1: '010000', 2: '010000', 3: '010100' };
/** V1 and V2 give datum (to spends alone), redeemer and context one by one, V3 gives the context alone. */
const parametersOf = (language: PlutusLanguage): string => (language === 3 ? 'lambda' : 'lambda lambda lambda');

/** The fields of a constructor, and what stands in them. */
const fieldsOf = (data: string): string => `apply force force sndPair apply unConstrData ${data}`;
const first = (list: string): string => `apply force headList ${list}`;
const rest = (list: string): string => `apply force tailList ${list}`;

/** The context of V3 is `[transaction, redeemer, what the script runs for]`; the last of a spend is `[input, datum or none]`. */
const V3_REDEEMER = first(rest(fieldsOf('var1')));
const V3_DATUM = first(fieldsOf(first(rest(fieldsOf(first(rest(rest(fieldsOf('var1')))))))));

const ifEqual = (a: string, b: string): string =>
  `force apply apply apply force ifThenElse apply apply equalsData ${a} ${b} delay unit delay error`;

/** Succeeds, whatever it is asked. `name` is part of the program, so that each name has a script of its own. */
export function succeeds(language: PlutusLanguage, name: Uint8Array = new Uint8Array(0)): PlutusProgram {
  return program(language, `${parametersOf(language)} apply lambda unit bytes`, name);
}

/** Fails, whatever it is asked: with the second parameter, since a policy of V1 or V2 gets no third. */
export function fails(language: PlutusLanguage): PlutusProgram {
  return program(language, language === 3 ? 'lambda error' : 'lambda lambda error');
}

/** Lets an output be spent by whoever gives its datum as the redeemer. */
export function matches(language: PlutusLanguage): PlutusProgram {
  const test = language === 3 ? ifEqual(V3_DATUM, V3_REDEEMER) : ifEqual('var3', 'var2');
  return program(language, `${parametersOf(language)} ${test}`);
}

function program(language: PlutusLanguage, term: string, constant?: Uint8Array): PlutusProgram {
  const flat = concatBytes(fromHex(VERSIONS[language]), assemble(term, constant));
  const script = new CborWriter(flat.length + 8).bytes(flat).take();
  return { language, script, hash: blake2b224(concatBytes(Uint8Array.of(language), script)) };
}

function assemble(term: string, constant: Uint8Array = new Uint8Array(0)): Uint8Array {
  assert(constant.length <= 0xff, 'a constant is one chunk');
  let bits = '';
  for (const word of term.split(' ')) {
    bits += WORDS.get(word)!;
    if (word !== 'bytes') continue;
    bits = pad(bits);
    if (constant.length > 0) for (const byte of [constant.length, ...constant]) bits += byte.toString(2).padStart(8, '0');
    bits += '0'.repeat(8);
  }
  const bytes = pad(bits).match(/.{8}/g)!;
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
}

/** To a whole byte, by zeros and a one. */
function pad(bits: string): string {
  return `${bits}${'0'.repeat(7 - (bits.length % 8))}1`;
}
