/**
 * The people of a devnet: a fixed book of addresses of every kind, made from
 * the seed. Written from CIP-19 and byron.cddl alone, not with the ledger's own
 * address code, because tests hold the two against each other.
 */
import { crc32 } from 'node:zlib';
import { blake2b224, sha3_256 } from '../../../crypto/hash.ts';
import { concatBytes, toHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import type { Random } from '../../random.ts';

export const DEVNET_MAGIC = 42;

const HASH_BYTES = 28;
const BYRON_KEY = 0;
const BYRON_REDEEM = 2;
const ATTRIBUTE_DERIVATION = 1;
const ATTRIBUTE_MAGIC = 2;

export type AddressKind = 'base' | 'baseScript' | 'enterprise' | 'enterpriseScript' | 'pointer' | 'pointerScript' | 'byron';

const KINDS: readonly (readonly [AddressKind, number])[] = [
  ['base', 50],
  ['baseScript', 10],
  ['enterprise', 12],
  ['enterpriseScript', 8],
  ['pointer', 5],
  ['pointerScript', 3],
  ['byron', 12],
];

export interface DevnetAddress {
  readonly kind: AddressKind | 'redeem';
  readonly bytes: Uint8Array;
  readonly hex: string;
}

export class AddressBook {
  readonly shelley: readonly DevnetAddress[];
  readonly byron: readonly DevnetAddress[];
  private readonly byKind: ReadonlyMap<AddressKind, readonly DevnetAddress[]>;
  private readonly known: ReadonlySet<string>;

  /** `count` addresses of each kind; base addresses share a fifth as many stake credentials. */
  constructor(random: Random, count: number) {
    const stakes = Array.from({ length: Math.max(1, Math.ceil(count / 5)) }, () => random.bytes(HASH_BYTES));
    const byKind = new Map<AddressKind, DevnetAddress[]>();
    for (const [kind] of KINDS) {
      byKind.set(
        kind,
        Array.from({ length: count }, () => address(kind, makeBytes(kind, random, stakes))),
      );
    }
    this.byKind = byKind;
    this.byron = byKind.get('byron')!;
    this.shelley = KINDS.filter(([kind]) => kind !== 'byron').flatMap(([kind]) => byKind.get(kind)!);
    this.known = new Set([...byKind.values()].flatMap((addresses) => addresses.map(({ hex }) => hex)));
  }

  has(addressHex: string): boolean {
    return this.known.has(addressHex);
  }

  /** Any address, the common kinds more often. */
  any(random: Random): DevnetAddress {
    return random.pick(this.byKind.get(random.weighted(KINDS))!);
  }
}

export function byronAddress(random: Random): DevnetAddress {
  return address('byron', byronKeyBytes(random, random.bytes(HASH_BYTES)));
}

/** The address at which Byron genesis puts the coins of a redeem (AVVM) key. */
export function redeemAddress(key: Uint8Array): DevnetAddress {
  const attributes = byronAttributes(null);
  const spending = new CborWriter().array(3).uint(BYRON_REDEEM).array(2).uint(BYRON_REDEEM).bytes(key).raw(attributes).take();
  return address('redeem', byronBytes(blake2b224(sha3_256(spending)), attributes, BYRON_REDEEM));
}

function address(kind: DevnetAddress['kind'], bytes: Uint8Array): DevnetAddress {
  return { kind, bytes, hex: toHex(bytes) };
}

/** CIP-19: the type is the upper half of the first byte, the network (0: a testnet) the lower. */
function makeBytes(kind: AddressKind, random: Random, stakes: readonly Uint8Array[]): Uint8Array {
  const payment = random.bytes(HASH_BYTES);
  const script = kind.endsWith('Script') ? 1 : 0;
  switch (kind) {
    case 'base':
    case 'baseScript':
      return concatBytes(Uint8Array.of((script | (random.chance(0.2) ? 2 : 0)) << 4), payment, random.pick(stakes));
    case 'enterprise':
    case 'enterpriseScript':
      return concatBytes(Uint8Array.of((6 | script) << 4), payment);
    case 'pointer':
    case 'pointerScript':
      return concatBytes(
        Uint8Array.of((4 | script) << 4),
        payment,
        varint(random.int(100_000_000)),
        varint(random.int(300)),
        varint(random.int(3)),
      );
    case 'byron':
      return byronKeyBytes(random, payment);
  }
}

/** Groups of seven bits, most significant first. */
function varint(value: number): Uint8Array {
  const groups = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80);
  return Uint8Array.from(groups);
}

/** Half of them with the encrypted path that wallets of the time put in. */
function byronKeyBytes(random: Random, root: Uint8Array): Uint8Array {
  return byronBytes(root, byronAttributes(random.chance(0.5) ? random.bytes(28) : null), BYRON_KEY);
}

function byronAttributes(derivation: Uint8Array | null): Uint8Array {
  const w = new CborWriter().map(derivation === null ? 1 : 2);
  if (derivation !== null) w.uint(ATTRIBUTE_DERIVATION).bytes(new CborWriter().bytes(derivation).take());
  return w.uint(ATTRIBUTE_MAGIC).bytes(new CborWriter().uint(DEVNET_MAGIC).take()).take();
}

function byronBytes(root: Uint8Array, attributes: Uint8Array, type: number): Uint8Array {
  const payload = new CborWriter().array(3).bytes(root).raw(attributes).uint(type).take();
  return new CborWriter().array(2).encoded(payload).uint(crc32(payload)).take();
}
