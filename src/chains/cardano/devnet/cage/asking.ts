/**
 * What people ask of the devnet's tokens: readings of sensors, mostly in plain
 * text, and among them what a store must get right though it is rare: bytes that
 * are no text, empty and long values, operations that cannot be applied, a wrong
 * tip, a time in the future, datums that are none.
 */
import type { CageDatum, CageOperation } from '../../../../ledgers/cardano/cage/index.ts';
import { concatBytes, fromHex, toHex, utf8 } from '../../../../util/bytes.ts';
import { CborWriter } from '../../../../util/cbor-write.ts';
import type { Random } from '../../../random.ts';
import type { DraftOutput } from '../outputs.ts';
import { ADA } from './drafts.ts';
import type { ModelRequest, ModelToken } from './model.ts';
import { cageOutput, keyAddress, requestScriptOf, scriptAddress } from './scripts.ts';

const PLACES = ['harbour', 'mill', 'bridge', 'orchard', 'tower', 'quarry'] as const;
const READINGS = ['temperature', 'humidity', 'wind', 'level'] as const;
/** Each place has so many sensors of a kind: few enough that keys are asked for again and again. */
const SENSORS = 6;
const FUTURE_MS = 3_600_000;

/** A request that no transaction has made yet. */
export type NewRequest = Omit<ModelRequest, 'ref'>;

export interface Moment {
  readonly slot: number;
  /** POSIX milliseconds of the slot. */
  readonly nowMs: number;
}

/** A request for a token: nearly always one that can be applied, if nobody else asks for the same key first. */
export function askFor(random: Random, token: ModelToken, owner: string, { nowMs }: Moment): NewRequest {
  const key = toHex(randomKey(random));
  const isOdd = random.chance(0.06);
  const delay = random.chance(0.04) ? FUTURE_MS : -random.int(15_000);
  const { tip } = token.terms;
  return {
    token: token.name,
    owner,
    key,
    operation: operationOn(random, token.facts.get(key), random.chance(0.05)),
    tip: isOdd ? tip + 1n : tip,
    submittedAt: BigInt(nowMs + delay),
    lovelace: random.chance(0.04) ? tip - 1n : tip + 2n * ADA,
    script: random.chance(0.04) ? null : requestScriptOf(token.name),
  };
}

/** A request for a token that nobody knows. */
export function askForUnknown(random: Random, owner: string, { nowMs }: Moment): NewRequest {
  const token = toHex(random.bytes(32));
  const operation = operationOn(random, undefined, false);
  const [key, tip] = [toHex(randomKey(random)), ADA];
  return { token, owner, key, operation, tip, submittedAt: BigInt(nowMs), lovelace: 3n * ADA, script: requestScriptOf(token) };
}

/** `isWrong`: one that the facts do not allow. */
function operationOn(random: Random, before: string | undefined, isWrong: boolean): CageOperation {
  if ((before === undefined) !== isWrong) return { type: 'insert', value: randomValue(random) };
  const old = before === undefined ? randomValue(random) : fromHex(before);
  return random.chance(0.35) ? { type: 'delete', value: old } : { type: 'update', before: old, after: randomValue(random) };
}

function randomKey(random: Random): Uint8Array {
  if (random.chance(0.01)) return new Uint8Array(0);
  if (random.chance(0.05)) return Uint8Array.of(0xff, random.int(8));
  return utf8(`${random.pick(PLACES)}/${random.pick(READINGS)}/${random.int(SENSORS)}`);
}

function randomValue(random: Random): Uint8Array {
  if (random.chance(0.03)) return new Uint8Array(0);
  if (random.chance(0.06)) return random.bytes(1 + random.int(200));
  return utf8(`${random.int(100)}.${random.int(10)}`);
}

export function requestOutput(random: Random, request: NewRequest): DraftOutput {
  const { token, owner, key, operation, tip, submittedAt, lovelace, script } = request;
  const datum: CageDatum = {
    type: 'request',
    request: { token: fromHex(token), owner: fromHex(owner), key: fromHex(key), operation, terms: { tip, submittedAt } },
  };
  return cageOutput({ address: script === null ? keyAddress(owner) : scriptAddress(random, script), lovelace, datum });
}

/** Plutus data that is no datum of a cage, though some of it nearly is one. */
export function malformedDatum(random: Random): Uint8Array {
  const w = new CborWriter();
  const [owner, root] = [random.bytes(28), random.bytes(32)];
  const kind = random.int(4);
  if (kind === 0) return w.bytes(owner).take();
  // A state with a short root, a state of three fields, and a constructor that there is not.
  if (kind === 1) w.tag(122).array(1).tag(121).array(2).bytes(owner).bytes(root.subarray(1));
  else if (kind === 2) w.tag(122).array(1).tag(121).array(3).bytes(owner).bytes(root).uint(1);
  else w.tag(123).array(1).bytes(concatBytes(owner, root));
  return w.take();
}
