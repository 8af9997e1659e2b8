/**
 * What a text in the search box could be. Some texts are one thing only; a bare
 * hash could be several, and the order says which to try first. Pure.
 */

export type Kind = 'address' | 'stake' | 'credential' | 'output' | 'tx' | 'block' | 'asset' | 'policy' | 'datum' | 'script';

/** A page of the explorer, as it stands behind the #. */
export interface Place {
  readonly kind: Kind;
  readonly value: string;
}

const HASH = /^[0-9a-f]{64}$/;
const CREDENTIAL = /^[0-9a-f]{56}$/;
const OUTPOINT = /^([0-9a-f]{64})[#:./@-](\d{1,10})$/;
const ASSET = /^([0-9a-f]{56})\.?((?:[0-9a-f]{2}){0,32})$/;
/** Of the Bitcoin family from 26 characters on, of Byron from 59. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{26,200}$/;
/** BIP173, of every network there is. */
const WITNESS_ADDRESS = /^(?:bc|tb|bcrt|ltc|tltc|rltc)1[a-z0-9]{8,}$/;
const HEX = /^(?:[0-9a-f]{2})+$/;
/** CIP-19: credentials and, for pointers, three numbers of up to ten bytes each. */
const ADDRESS_BYTES = { base: 57, enterprise: 29, pointerLeast: 32, pointerMost: 59 } as const;

export function placesOf(text: string): Place[] {
  const given = text.trim();
  const hex = given.toLowerCase();
  const outpoint = OUTPOINT.exec(hex);
  if (outpoint !== null) return [{ kind: 'output', value: `${outpoint[1]}/${Number(outpoint[2])}` }];
  if (/^stake(_test)?1[a-z0-9]+$/.test(hex)) return [{ kind: 'stake', value: hex }];
  if (/^addr(_test)?1[a-z0-9]+$/.test(hex) || WITNESS_ADDRESS.test(hex)) return [{ kind: 'address', value: hex }];
  const number = numberOf(given);
  if (number !== null) return number;
  if (/^82d818([0-9a-f]{2})+$/.test(hex)) return [{ kind: 'address', value: hex }];
  const found = [...ofHash(hex), ...rawAddress(hex), ...ofPolicy(hex)];
  if (found.length > 0) return found;
  return BASE58.test(given) ? [{ kind: 'address', value: given }] : [];
}

/** `123`, `1,234,567`, `height:123`, `slot:123`; a bare number is a height first, then a slot. */
function numberOf(text: string): Place[] | null {
  const [, named, digits] = /^(?:(height|slot|block)[: ]\s*)?#?(\d[\d,_]{0,19})$/i.exec(text) ?? [];
  if (digits === undefined) return null;
  const number = digits.replace(/[,_]/g, '');
  if (number.length > 15) return null;
  const height: Place = { kind: 'block', value: `height:${Number(number)}` };
  const slot: Place = { kind: 'block', value: `slot:${Number(number)}` };
  if (named === undefined) return [height, slot];
  return named.toLowerCase() === 'slot' ? [slot] : [height];
}

/** The upper half of the first byte is the kind of address, the lower the network (CIP-19). */
function rawAddress(hex: string): Place[] {
  if (!HEX.test(hex)) return [];
  const bytes = hex.length / 2;
  const [type, network] = [Number.parseInt(hex[0], 16), Number.parseInt(hex[1], 16)];
  if (network > 1) return [];
  const { base, enterprise, pointerLeast, pointerMost } = ADDRESS_BYTES;
  if (type <= 3) return bytes === base ? [{ kind: 'address', value: hex }] : [];
  if (type <= 5) return bytes >= pointerLeast && bytes <= pointerMost ? [{ kind: 'address', value: hex }] : [];
  if (bytes !== enterprise) return [];
  if (type <= 7) return [{ kind: 'address', value: hex }];
  return type >= 14 ? [{ kind: 'stake', value: hex }] : [];
}

function ofHash(hex: string): Place[] {
  return HASH.test(hex) ? ['tx', 'block', 'datum'].map((kind) => ({ kind: kind as Kind, value: hex })) : [];
}

/** An asset with a name of four bytes is as long as a hash. */
function ofPolicy(hex: string): Place[] {
  if (CREDENTIAL.test(hex)) return ['policy', 'credential', 'stake', 'script'].map((kind) => ({ kind: kind as Kind, value: hex }));
  const asset = ASSET.exec(hex);
  return asset === null ? [] : [{ kind: 'asset', value: asset[1] + asset[2] }];
}
