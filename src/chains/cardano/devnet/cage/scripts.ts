/**
 * The scripts of the devnet's cages and the outputs at them. Nothing here runs
 * scripts, so the programs do nothing: but they are programs, and hashes and
 * addresses follow from them as they do for any other deployment.
 */
import { type CageDatum, DEVNET_CAGE, encodeCageDatum, requestScriptHash } from '../../../../ledgers/cardano/cage/index.ts';
import { concatBytes, fromHex, toHex } from '../../../../util/bytes.ts';
import { CborWriter } from '../../../../util/cbor-write.ts';
import type { Random } from '../../../random.ts';
import type { DevnetAddress } from '../addresses.ts';
import { type Assets, NO_ASSETS } from '../model.ts';
import { type DraftOutput, writeAssets } from '../outputs.ts';
import type { PlutusProgram } from '../programs.ts';

/** CIP-19: addresses on a test network without a stake part, and of a script with the stake part of a key. */
const ENTERPRISE_KEY = 0x60;
const ENTERPRISE_SCRIPT = 0x70;
const BASE_SCRIPT = 0x10;

export const STATE_SCRIPT = toHex(DEVNET_CAGE.stateScriptHash);

const outputWriter = new CborWriter(4096);

/** Where requests for a token belong. */
export function requestScriptOf(token: string): string {
  return toHex(requestScriptHash(DEVNET_CAGE, fromHex(token))!);
}

export function unitOf(token: string): string {
  return `${STATE_SCRIPT}.${token}`;
}

/** The stake part is free, so a few addresses have one. */
export function scriptAddress(random: Random, hash: string): DevnetAddress {
  const hasStake = random.chance(0.03);
  const parts = hasStake
    ? [Uint8Array.of(BASE_SCRIPT), fromHex(hash), random.bytes(28)]
    : [Uint8Array.of(ENTERPRISE_SCRIPT), fromHex(hash)];
  return addressOf(hasStake ? 'baseScript' : 'enterpriseScript', concatBytes(...parts));
}

export function keyAddress(hash: string): DevnetAddress {
  return addressOf('enterprise', concatBytes(Uint8Array.of(ENTERPRISE_KEY), fromHex(hash)));
}

function addressOf(kind: DevnetAddress['kind'], bytes: Uint8Array): DevnetAddress {
  return { kind, bytes, hex: toHex(bytes) };
}

export interface OutputParts {
  readonly address: DevnetAddress;
  readonly lovelace: bigint;
  readonly assets?: Assets;
  /** Of the protocol, or any Plutus data in CBOR; none by default. */
  readonly datum?: CageDatum | Uint8Array;
  /** In its place. */
  readonly datumHash?: Uint8Array;
  /** A reference script. */
  readonly script?: PlutusProgram;
}

/** An output of a cage: the devnet's payers leave it alone. */
export function cageOutput(parts: OutputParts): DraftOutput {
  return { ...plainOutput(parts), foreign: true };
}

export function plainOutput({ address, lovelace, assets = NO_ASSETS, datum, datumHash, script }: OutputParts): DraftOutput {
  const w = outputWriter.map(2 + (datum === undefined && datumHash === undefined ? 0 : 1) + (script === undefined ? 0 : 1));
  w.uint(0).bytes(address.bytes).uint(1);
  if (assets.size === 0) w.bigUint(lovelace);
  else writeAssets(w.array(2).bigUint(lovelace), assets, false);
  if (datum !== undefined) {
    const bytes = datum instanceof Uint8Array ? datum : encodeCageDatum(datum);
    w.uint(2).array(2).uint(1).encoded(bytes);
  } else if (datumHash !== undefined) w.uint(2).array(2).uint(0).bytes(datumHash);
  if (script !== undefined) w.uint(3).encoded(new CborWriter(512).array(2).uint(script.language).bytes(script.script).take());
  return { address, lovelace, assets, bytes: w.take() };
}
