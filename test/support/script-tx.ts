/**
 * Transactions that run scripts, written by hand, and a second machine that runs
 * them: Scalus, which shares nothing with the one that we use. It takes a map of
 * all outputs and names redeemers its own way.
 */
import { createRequire } from 'node:module';
import type { PlutusLanguage, PlutusProgram } from '../../src/chains/cardano/devnet/programs.ts';
import { blake2b224 } from '../../src/crypto/hash.ts';
import { SCRIPT_PURPOSES } from '../../src/evaluation/cardano/outcome.ts';
import type { EvaluationRequest, NamedOutput } from '../../src/evaluation/cardano/request.ts';
import { concatBytes, fromHex } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';

/** Its names can be seen by those who require it only. */
const { Scalus, SlotConfig } = createRequire(import.meta.url)('scalus') as typeof import('scalus');

export const KEY_ADDRESS = concatBytes(Uint8Array.of(0x60), new Uint8Array(28).fill(7));

export const scriptAddress = ({ hash }: PlutusProgram): Uint8Array => concatBytes(Uint8Array.of(0x70), hash);
export const rewardAddress = ({ hash }: PlutusProgram): Uint8Array => concatBytes(Uint8Array.of(0xf0), hash);
export const integer = (value: number): Uint8Array => new CborWriter().uint(value).take();

interface OutputParts {
  readonly address?: Uint8Array;
  readonly datumHash?: Uint8Array;
  readonly datum?: Uint8Array;
  readonly script?: PlutusProgram;
}

/** An output of 10 ada, number 0 of the transaction whose id is this byte repeated. */
export function outputOf(id: number, { address = KEY_ADDRESS, datumHash, datum, script }: OutputParts = {}): NamedOutput {
  const w = new CborWriter(1024).map(2 + ((datumHash ?? datum) ? 1 : 0) + (script ? 1 : 0));
  w.uint(0).bytes(address).uint(1).uint(10_000_000);
  if (datumHash) w.uint(2).array(2).uint(0).bytes(datumHash);
  else if (datum) w.uint(2).array(2).uint(1).encoded(datum);
  if (script) w.uint(3).encoded(new CborWriter(1024).array(2).uint(script.language).bytes(script.script).take());
  return { txId: new Uint8Array(32).fill(id), index: 0, output: w.take() };
}

export interface ScriptTxParts {
  readonly inputs: readonly NamedOutput[];
  readonly references?: readonly NamedOutput[];
  /** Policies, each minting five of a token. */
  readonly mint?: readonly PlutusProgram[];
  /** Scripts whose reward accounts nothing is withdrawn from. */
  readonly withdrawals?: readonly PlutusProgram[];
  readonly scripts?: readonly PlutusProgram[];
  readonly datums?: readonly Uint8Array[];
  /** Purpose, index, data. */
  readonly redeemers: readonly (readonly [number, number, Uint8Array])[];
  readonly validity?: readonly [from: number, until: number];
}

const SCRIPTS_KEY: Readonly<Record<PlutusLanguage, number>> = { 1: 3, 2: 6, 3: 7 };

export function scriptTx(parts: ScriptTxParts): Uint8Array {
  const { references = [], mint = [], withdrawals = [], scripts = [], datums = [], redeemers, validity } = parts;
  const w = new CborWriter(65_536).array(4);
  const optional = [validity, validity, withdrawals[0], mint[0], references[0]].filter((part) => part !== undefined);
  w.map(4 + optional.length);
  writeRefs(w.uint(0), parts.inputs);
  w.uint(1).array(1).array(2).bytes(KEY_ADDRESS).uint(3_000_000).uint(2).uint(200_000);
  if (validity) w.uint(3).uint(validity[1]);
  if (withdrawals.length > 0) w.uint(5).map(withdrawals.length);
  for (const program of withdrawals) w.bytes(rewardAddress(program)).uint(0);
  if (validity) w.uint(8).uint(validity[0]);
  if (mint.length > 0) w.uint(9).map(mint.length);
  for (const { hash } of mint) w.bytes(hash).map(1).bytes(Uint8Array.of(1)).uint(5);
  w.uint(11).bytes(new Uint8Array(32));
  if (references.length > 0) writeRefs(w.uint(18), references);
  const languages = ([1, 2, 3] as const).filter((language) => scripts.some((script) => script.language === language));
  w.map(1 + languages.length + (datums.length > 0 ? 1 : 0));
  if (datums.length > 0) w.uint(4).array(datums.length);
  for (const datum of datums) w.raw(datum);
  w.uint(5).map(redeemers.length);
  for (const [purpose, index, data] of redeemers) w.array(2).uint(purpose).uint(index).array(2).raw(data).array(2).uint(0).uint(0);
  for (const language of languages) {
    const own = scripts.filter((script) => script.language === language);
    w.uint(SCRIPTS_KEY[language]).array(own.length);
    for (const { script } of own) w.bytes(script);
  }
  return w.bool(true).null().take();
}

function writeRefs(w: CborWriter, refs: readonly NamedOutput[]): void {
  w.tag(258).array(refs.length);
  for (const { txId, index } of refs) w.array(2).bytes(txId).uint(index);
}

/** A program of Plutus V2 from the bits of its term, for policies: two parameters. */
export function policyOf(bits: string): PlutusProgram {
  const all = `00100010${bits}`;
  const bytes = `${all}${'0'.repeat(7 - (all.length % 8))}1`.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2));
  const script = new CborWriter(bytes.length + 16).bytes(concatBytes(fromHex('010000'), Uint8Array.from(bytes))).take();
  return { language: 2, script, hash: blake2b224(concatBytes(Uint8Array.of(2), script)) };
}

const SCALUS_PURPOSES = ['Spend', 'Mint', 'Cert', 'Reward', 'Voting', 'Proposing'];

/** As `purpose:index memory steps`; throws where a script fails. */
export function runInScalus({ tx, outputs, costModels, clock }: EvaluationRequest): string[] {
  const w = new CborWriter(65_536).map(outputs.length);
  for (const { txId, index, output } of outputs) w.array(2).bytes(txId).uint(index).raw(output);
  const models = [0, 1, 2].map((language) => costModels.get(language)!.map(Number));
  const slots = new SlotConfig(clock.ms, clock.slot, clock.slotMs);
  return Scalus.evalPlutusScripts(tx.slice(), w.take().slice(), slots, models)
    .map(({ tag, index, budget }) => `${SCRIPT_PURPOSES[SCALUS_PURPOSES.indexOf(tag)]}:${index} ${budget.memory} ${budget.steps}`)
    .sort();
}
