/**
 * Outputs as the eras write them: `[address, value, datum hash?]`, or from
 * Babbage on also a map with datum and reference script. Which form an output
 * takes is drawn from the features; the bytes returned are what the model keeps.
 */
import { fromHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import type { Random } from '../../random.ts';
import type { DevnetAddress } from './addresses.ts';
import { ERA, type Features, type ShapeCount } from './features.ts';
import type { Assets } from './model.ts';
import { type PlutusLanguage, succeeds } from './programs.ts';
import { HUGE } from './spendable-pools.ts';

export interface DraftOutput {
  readonly address: DevnetAddress;
  readonly lovelace: bigint;
  readonly assets: Assets;
  readonly bytes: Uint8Array;
  /** Not to be spent by whoever draws coins. */
  readonly foreign?: boolean;
}

/** What every writer of transactions needs. */
export interface DraftContext {
  readonly random: Random;
  readonly features: Features;
  readonly shapes: ShapeCount;
}

/** Kept between calls: making their buffers anew would cost more than filling them. */
const outputWriter = new CborWriter(4096);
const innerWriter = new CborWriter(4096);

const SCRIPT_SHAPES = ['scriptNative', 'scriptPlutusV1', 'scriptPlutusV2', 'scriptPlutusV3'] as const;

export function makeOutput(shop: DraftContext, era: number, address: DevnetAddress, lovelace: bigint, assets: Assets): DraftOutput {
  const { random, features, shapes } = shop;
  if (address.kind !== 'redeem') shapes.saw(address.kind);
  if (assets.size > 0) shapes.saw('assetsOutput');
  const map = era >= ERA.babbage && random.chance(features.mapOutput);
  shapes.saw(map ? 'mapOutput' : 'legacyOutput');
  const w = outputWriter;
  if (map) writeMapOutput(w, shop, era, address.bytes, lovelace, assets);
  else writeLegacyOutput(w, shop, era, address.bytes, lovelace, assets);
  return { address, lovelace, assets, bytes: w.take() };
}

function writeLegacyOutput(w: CborWriter, shop: DraftContext, era: number, address: Uint8Array, lovelace: bigint, assets: Assets): void {
  const { random, features, shapes } = shop;
  const datum = era >= ERA.alonzo && random.chance(features.datumHash);
  w.array(datum ? 3 : 2).bytes(address);
  writeValue(w, shop, lovelace, assets);
  if (!datum) return;
  shapes.saw('datumHashLegacy');
  w.bytes(random.bytes(32));
}

function writeMapOutput(w: CborWriter, shop: DraftContext, era: number, address: Uint8Array, lovelace: bigint, assets: Assets): void {
  const { random, features, shapes } = shop;
  const hash = random.chance(features.datumHash);
  const inline = !hash && random.chance(features.inlineDatum);
  const script = random.chance(features.referenceScript);
  const indefinite = random.chance(features.indefinite);
  if (indefinite) {
    shapes.saw('indefiniteOutput');
    w.startMap();
  } else {
    w.map(2 + (hash || inline ? 1 : 0) + (script ? 1 : 0));
  }
  w.uint(0).bytes(address).uint(1);
  writeValue(w, shop, lovelace, assets);
  if (hash) {
    shapes.saw('datumHashMap');
    w.uint(2).array(2).uint(0).bytes(random.bytes(32));
  }
  if (inline) {
    shapes.saw('inlineDatum');
    w.uint(2).array(2).uint(1).encoded(plutusData(random, 2));
  }
  if (script) w.uint(3).encoded(scriptRef(shop, era));
  if (indefinite) w.end();
}

function writeValue(w: CborWriter, shop: DraftContext, lovelace: bigint, assets: Assets): void {
  if (assets.size === 0) {
    w.bigUint(lovelace);
    return;
  }
  for (const quantity of assets.values()) if (quantity > HUGE) shop.shapes.saw('hugeQuantity');
  w.array(2).bigUint(lovelace);
  writeAssets(w, assets, shop.random.chance(shop.features.indefinite));
}

/** `{policy: {name: quantity}}`, of a value or a mint. */
export function writeAssets(w: CborWriter, assets: Assets, indefinite: boolean): void {
  const byPolicy = new Map<string, (readonly [string, bigint])[]>();
  for (const [asset, quantity] of assets) {
    const dot = asset.indexOf('.');
    const policy = asset.slice(0, dot);
    const names = byPolicy.get(policy) ?? [];
    names.push([asset.slice(dot + 1), quantity]);
    byPolicy.set(policy, names);
  }
  if (indefinite) w.startMap();
  else w.map(byPolicy.size);
  for (const [policy, names] of byPolicy) {
    w.bytes(fromHex(policy)).map(names.length);
    for (const [name, quantity] of names) w.bytes(fromHex(name)).int(quantity);
  }
  if (indefinite) w.end();
}

/** Kind 0 is a native script, 1 to 3 the versions of Plutus; the third came with Conway. */
function scriptRef({ random, shapes }: DraftContext, era: number): Uint8Array {
  const kind = random.int(era >= ERA.conway ? 4 : 3);
  shapes.saw(SCRIPT_SHAPES[kind]);
  if (kind === 0) return innerWriter.array(2).uint(0).array(2).uint(0).bytes(random.bytes(28)).take();
  const { script } = succeeds(kind as PlutusLanguage, random.bytes(20 + random.int(120)));
  return innerWriter.array(2).uint(kind).bytes(script).take();
}

/** Plutus data as wallets write it: constructors under tags 121.., lists open-ended, long strings in pieces. */
function plutusData(random: Random, depth: number): Uint8Array {
  writePlutusData(innerWriter, random, depth);
  return innerWriter.take();
}

function writePlutusData(w: CborWriter, random: Random, depth: number): void {
  const kind = random.int(depth > 0 ? 6 : 3);
  if (kind === 0) w.int(random.big(1n << 40n) - (1n << 39n));
  else if (kind === 1) w.bytes(random.bytes(random.int(40)));
  else if (kind === 2)
    w.startBytes()
      .bytes(random.bytes(64))
      .bytes(random.bytes(random.int(64)))
      .end();
  else {
    const count = random.int(4);
    if (kind === 3) w.map(count);
    else if (count === 0) w.tag(121 + random.int(7)).array(0);
    else w.tag(121 + random.int(7)).startArray();
    for (let i = 0; i < count; i++) {
      if (kind === 3) w.uint(i);
      writePlutusData(w, random, depth - 1);
    }
    if (kind !== 3 && count > 0) w.end();
  }
}
