/**
 * The output descriptor (BIP380 and following) of a script of which nothing is
 * known but its bytes, as Core infers it for `scriptPubKey.desc`: keys where the
 * script shows them, else its address, else the script itself.
 */
import { toHex } from '../../util/bytes.ts';
import { formatAddress } from './address.ts';
import type { BitcoinNetwork } from './networks.ts';
import { readScript } from './script.ts';

const TAPROOT_VERSION = 1;
const TAPROOT_BYTES = 32;

/** The script as an output descriptor with its checksum, as nodes write it. */
export function descriptorOf(network: BitcoinNetwork, script: Uint8Array): string {
  const text = keysOf(script) ?? destinationOf(network, script);
  return `${text}#${descriptorChecksum(text)}`;
}

/** Null: the script shows no keys, or one that no descriptor may have. */
function keysOf(script: Uint8Array): string | null {
  const read = readScript(script);
  switch (read.kind) {
    case 'p2pk':
      return isHybrid(read.key) ? null : `pk(${toHex(read.key)})`;
    case 'multisig':
      return read.keys.some(isHybrid) ? null : `multi(${[read.required, ...read.keys.map((key) => toHex(key))].join(',')})`;
    case 'witness':
      return read.version === TAPROOT_VERSION && read.program.length === TAPROOT_BYTES && isOnCurve(read.program)
        ? `rawtr(${toHex(read.program)})`
        : null;
    default:
      return null;
  }
}

function destinationOf(network: BitcoinNetwork, script: Uint8Array): string {
  const address = formatAddress(network, script);
  return address === null ? `raw(${toHex(script)})` : `addr(${address})`;
}

/** An old form of an uncompressed key. */
function isHybrid(key: Uint8Array): boolean {
  return key[0] === 6 || key[0] === 7;
}

const FIELD = 2n ** 256n - 2n ** 32n - 977n;

/** Whether a point of secp256k1 has this x: whether x³ + 7 is a square in its field. */
function isOnCurve(bytes: Uint8Array): boolean {
  const x = BigInt(`0x${toHex(bytes)}`);
  return x < FIELD && jacobi((x ** 3n + 7n) % FIELD, FIELD) === 1;
}

/** The Jacobi symbol, by quadratic reciprocity: for a prime `n`, 1 says that `a` is a square. Many times faster than a power. */
function jacobi(a: bigint, n: bigint): number {
  let sign = 1;
  while (a !== 0n) {
    for (; (a & 1n) === 0n; a >>= 1n) if ((n & 7n) === 3n || (n & 7n) === 5n) sign = -sign;
    if ((a & 3n) === 3n && (n & 3n) === 3n) sign = -sign;
    [a, n] = [n % a, a];
  }
  return n === 1n ? sign : 0;
}

/** In this order, because characters that are taken for one another should differ in few bits. */
const CHARACTERS = '0123456789()[],\'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const PLACES = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, CHARACTERS.indexOf(String.fromCharCode(code))));
const CHECKSUM_CHARACTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM_LENGTH = 8;
/** The generator of the code: forty bits for each bit that is shifted out, here in halves of twenty, added up for all five. */
const HIGH = sums([0xf5dee, 0xa9fdc, 0x1bab1, 0x3706b, 0x644d6]);
const LOW = sums([0x51989, 0xa3312, 0x0e32d, 0x1677a, 0x26ffd]);

function sums(generator: readonly number[]): Uint32Array {
  return Uint32Array.from({ length: 32 }, (_, bits) => generator.reduce((sum, word, bit) => ((bits >>> bit) & 1 ? sum ^ word : sum), 0));
}

/** Whether it has only characters that a descriptor may have: the checksum is of no others. */
export function isDescriptorText(text: string): boolean {
  return [...text].every((character) => CHARACTERS.includes(character));
}

/** The checksum of a descriptor (BIP380), which is given without `#` and checksum. */
export function descriptorChecksum(text: string): string {
  let [high, low, group] = [0, 1, 0];
  const feed = (symbol: number): void => {
    const top = high >>> 15;
    high = (((high & 0x7fff) << 5) | (low >>> 15)) ^ HIGH[top];
    low = ((low & 0x7fff) << 5) ^ symbol ^ LOW[top];
  };
  for (let i = 0; i < text.length; i++) {
    const place = PLACES[text.charCodeAt(i)];
    feed(place & 31);
    group = 3 * group + (place >>> 5);
    if (i % 3 !== 2 && i < text.length - 1) continue;
    feed(group);
    group = 0;
  }
  for (let i = 0; i < CHECKSUM_LENGTH; i++) feed(0);
  low ^= 1;
  const symbols = [high >>> 15, high >>> 10, high >>> 5, high, low >>> 15, low >>> 10, low >>> 5, low];
  return symbols.map((symbol) => CHECKSUM_CHARACTERS[symbol & 31]).join('');
}
