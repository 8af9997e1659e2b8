/**
 * Addresses of every kind (CIP-19): bytes to a typed view, and text at the
 * edges. Reading never throws, because the chain holds addresses that are too
 * short, have bytes behind their pointer, or are of no known type: those are
 * 'unknown' and are written as hex. Parsing what a person typed does throw.
 */
import { base58, bech32 } from '@scure/base';
import { blake2b224 } from '../../crypto/hash.ts';
import { encodeBech32 } from '../../util/bech32.ts';
import { fromHex, isHex, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { BASE58_BYTES_MAX, BASE58_CHARS_MAX } from '../../util/limits.ts';
import { type ByronAddress, readByronAddress } from './byron-address.ts';

export { type ByronAddress, isRedeemAddress } from './byron-address.ts';

const HASH_BYTES = 28;
const KEY_BYTES = 32;
const BASE_BYTES = 1 + 2 * HASH_BYTES;
const SINGLE_BYTES = 1 + HASH_BYTES;

/** Bytes of one number of a pointer. Ten hold 64 bits, but the chain has one of 200; reading is quadratic, so bounded. */
const VARINT_BYTES_MAX = 1024;

const TESTNETS = 0;
const MAINNET = 1;
const REWARD_KEY = 0xe0;
const REWARD_SCRIPT = 0xf0;

/** What a credential is the hash of: a verification key, or a script. */
export type CredentialKind = 'key' | 'script';

/** What can spend an output or withdraw rewards. */
export interface Credential {
  /** What its hash is of. */
  readonly kind: CredentialKind;
  /** 28 bytes. */
  readonly hash: Uint8Array;
}

/** Where on the chain a stake key was registered. Numbers as written: some name slots that can never be, far above 64 bits. */
export interface Pointer {
  /** The slot of the certificate that registered the stake key. */
  readonly slot: bigint;
  /** The transaction it is in. */
  readonly txIndex: bigint;
  /** Which of its certificates it is. */
  readonly certIndex: bigint;
}

/** `network` is 1 for mainnet and 0 for every other network. */
export type Address =
  | { readonly kind: 'byron'; readonly network: number; readonly payment: null; readonly stake: null; readonly byron: ByronAddress }
  | { readonly kind: 'base'; readonly network: number; readonly payment: Credential; readonly stake: Credential }
  | { readonly kind: 'pointer'; readonly network: number; readonly payment: Credential; readonly stake: null; readonly pointer: Pointer }
  | { readonly kind: 'enterprise'; readonly network: number; readonly payment: Credential; readonly stake: null }
  | { readonly kind: 'reward'; readonly network: number; readonly payment: null; readonly stake: Credential }
  | { readonly kind: 'unknown'; readonly network: null; readonly payment: null; readonly stake: null };

const UNKNOWN: Address = { kind: 'unknown', network: null, payment: null, stake: null };

/** Reads the bytes of an address. Throws USAGE. */
export function readAddress(bytes: Uint8Array): Address {
  if (bytes.length === 0) return UNKNOWN;
  const type = bytes[0] >> 4;
  if (type === 8) return readByron(bytes);
  const network = bytes[0] & 0x0f;
  if (network > MAINNET || bytes.length < SINGLE_BYTES) return UNKNOWN;
  // CIP-19: bit 0 of the type tells a script from a key in the first part, bit 1 in the second.
  const first = credential(bytes, 1, (type & 1) !== 0);
  if (type <= 3 && bytes.length === BASE_BYTES) {
    return { kind: 'base', network, payment: first, stake: credential(bytes, SINGLE_BYTES, (type & 2) !== 0) };
  }
  if (type === 4 || type === 5) {
    const pointer = readPointer(bytes, SINGLE_BYTES);
    return pointer === null ? UNKNOWN : { kind: 'pointer', network, payment: first, stake: null, pointer };
  }
  if (bytes.length !== SINGLE_BYTES) return UNKNOWN;
  if (type === 6 || type === 7) return { kind: 'enterprise', network, payment: first, stake: null };
  if (type === 14 || type === 15) return { kind: 'reward', network, payment: null, stake: first };
  return UNKNOWN;
}

/**
 * bech32 for Shelley kinds, base58 for Byron, hex for what is of no known kind. A Byron address can be as long as a transaction, because
 * its attributes can: beyond BASE58_BYTES_MAX it is written as hex too, which `parseAddress` reads back.
 */
export function formatAddress(bytes: Uint8Array): string {
  return addressText(bytes, readAddress(bytes));
}

/** The same, of what was read of these bytes. */
export function addressText(bytes: Uint8Array, address: Address): string {
  if (address.kind === 'unknown' || (address.kind === 'byron' && bytes.length > BASE58_BYTES_MAX)) return toHex(bytes);
  if (address.kind === 'byron') return base58.encode(bytes);
  return encodeBech32(prefixOf(address), bytes);
}

/** The bytes of an address given as bech32, base58 or hex. Hex is taken as it is, odd addresses included. */
export function parseAddress(text: string): Uint8Array {
  const given = text.trim();
  if (given !== '' && isHex(given)) return fromHex(given);
  if (/^(addr|stake)(_test)?1/i.test(given)) return parseBech32Address(given);
  return parseByronAddress(given);
}

/** The reward address of the stake credential in an address; null when it has none. */
export function stakeAddressOf(address: Uint8Array | Address): Uint8Array | null {
  const { stake, network } = address instanceof Uint8Array ? readAddress(address) : address;
  return stake === null || network === null ? null : rewardAddress(stake, network);
}

/** The address that rewards of a stake credential go to; `network` is 1 for mainnet and 0 for every other network. */
export function rewardAddress(stake: Credential, network: number): Uint8Array {
  const out = new Uint8Array(SINGLE_BYTES);
  out[0] = (stake.kind === 'key' ? REWARD_KEY : REWARD_SCRIPT) | network;
  out.set(stake.hash, 1);
  return out;
}

/** A credential as typed: hex does not say whether it is a key or a script, nor which part of an address it is. */
export interface CredentialQuery {
  /** 28 bytes. */
  readonly hash: Uint8Array;
  /** What it is the hash of; null: the text does not say. */
  readonly kind: CredentialKind | null;
  /** The part of addresses it stands in; null: the text does not say. */
  readonly part: 'payment' | 'stake' | null;
}

/** Prefixes of CIP-5 that name a credential. */
const CREDENTIAL_PREFIXES: Readonly<Record<string, Pick<CredentialQuery, 'kind' | 'part'>>> = {
  addr_vkh: { kind: 'key', part: 'payment' },
  addr_shared_vkh: { kind: 'key', part: 'payment' },
  stake_vkh: { kind: 'key', part: 'stake' },
  stake_shared_vkh: { kind: 'key', part: 'stake' },
  vkh: { kind: 'key', part: null },
  script: { kind: 'script', part: null },
};

/** Prefixes of CIP-5 that name a verification key, which stands for its hash. */
const KEY_PREFIXES: typeof CREDENTIAL_PREFIXES = {
  addr_vk: { kind: 'key', part: 'payment' },
  stake_vk: { kind: 'key', part: 'stake' },
  vk: { kind: 'key', part: null },
};

/** Hex of a hash (28 bytes) or of a verification key (32), bech32 of a key, a key hash or a script hash, or a stake address. */
export function parseCredential(text: string): CredentialQuery {
  const given = text.trim();
  if (isHex(given, HASH_BYTES)) return { hash: fromHex(given), kind: null, part: null };
  if (isHex(given, KEY_BYTES)) return { hash: blake2b224(fromHex(given)), kind: 'key', part: null };
  if (/^stake(_test)?1/i.test(given)) {
    const { stake } = readAddress(parseBech32Address(given));
    if (stake !== null) return { ...stake, part: 'stake' };
  }
  const { prefix, bytes } = decodeBech32(given, 'a credential (28 bytes of hex, addr_vkh1..., stake_vkh1..., script1... or stake1...)');
  if (Object.hasOwn(KEY_PREFIXES, prefix) && bytes.length === KEY_BYTES) return { hash: blake2b224(bytes), ...KEY_PREFIXES[prefix] };
  const meaning = Object.hasOwn(CREDENTIAL_PREFIXES, prefix) ? CREDENTIAL_PREFIXES[prefix] : undefined;
  if (meaning === undefined) {
    throw usage(`'${prefix}' is not the prefix of a credential; expected one of ${Object.keys(CREDENTIAL_PREFIXES).join(', ')}`, given);
  }
  if (bytes.length !== HASH_BYTES) throw usage(`a credential has ${HASH_BYTES} bytes, this one ${bytes.length}`, given);
  return { hash: bytes, ...meaning };
}

function credential(bytes: Uint8Array, at: number, script: boolean): Credential {
  return { kind: script ? 'script' : 'key', hash: bytes.subarray(at, at + HASH_BYTES) };
}

function readByron(bytes: Uint8Array): Address {
  const byron = readByronAddress(bytes);
  if (byron === null) return UNKNOWN;
  return { kind: 'byron', network: byron.magic === null ? MAINNET : TESTNETS, payment: null, stake: null, byron };
}

/** Three numbers in groups of seven bits, most significant first, and nothing behind them. */
function readPointer(bytes: Uint8Array, from: number): Pointer | null {
  let at = from;
  const numbers: bigint[] = [];
  while (numbers.length < 3) {
    let value = 0n;
    const start = at;
    for (;;) {
      if (at >= bytes.length || at - start >= VARINT_BYTES_MAX) return null;
      const byte = bytes[at++];
      value = (value << 7n) | BigInt(byte & 0x7f);
      if (byte < 0x80) break;
    }
    numbers.push(value);
  }
  const [slot, txIndex, certIndex] = numbers;
  return at === bytes.length ? { slot, txIndex, certIndex } : null;
}

function prefixOf(address: Exclude<Address, { kind: 'unknown' | 'byron' }>): string {
  return (address.kind === 'reward' ? 'stake' : 'addr') + (address.network === MAINNET ? '' : '_test');
}

function parseBech32Address(text: string): Uint8Array {
  const { prefix, bytes } = decodeBech32(text, 'an address');
  const address = readAddress(bytes);
  if (address.kind === 'unknown' || address.kind === 'byron') {
    throw usage(`the ${bytes.length} bytes behind '${prefix}' are not an address of a known kind`, text);
  }
  const wanted = prefixOf(address);
  if (prefix !== wanted) throw usage(`the prefix is '${prefix}' but the address inside would be written '${wanted}'`, text);
  return bytes;
}

function parseByronAddress(text: string): Uint8Array {
  const wanted = 'expected an address: bech32 (addr1..., stake1...), base58 (Byron) or hex';
  if (text === '' || text.length > BASE58_CHARS_MAX) throw usage(wanted, text);
  let bytes: Uint8Array;
  try {
    bytes = base58.decode(text);
  } catch (cause) {
    throw usage(wanted, text, cause);
  }
  if (readByronAddress(bytes) === null) throw usage('not a Byron address, or its checksum (CRC-32) is wrong', text);
  return bytes;
}

/** BIP-173 stops at 90 characters; Cardano does not (CIP-19). */
function decodeBech32(text: string, what: string): { prefix: string; bytes: Uint8Array } {
  try {
    const { prefix, words } = bech32.decode(text as `${string}1${string}`, false);
    return { prefix, bytes: bech32.fromWords(words) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw usage(`expected ${what}; not sound bech32 (${reason.slice(0, 80)})`, text, cause);
  }
}

function usage(reason: string, text: string, cause?: unknown): UnspentError {
  return new UnspentError('USAGE', `${reason}, got '${text.slice(0, 120)}'`, { text: text.slice(0, 200) }, cause);
}
