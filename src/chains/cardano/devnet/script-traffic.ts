/**
 * Transactions of the devnet that run scripts: outputs are locked by validators
 * (`programs.ts`) and unlocked with the right redeemer, or the attempt fails and
 * costs its collateral; tokens are minted under policies. Languages, datums
 * inline or by hash, and scripts as witnesses or by reference take turns, as the
 * seed has it. A machine for Plutus comes to the same verdicts: redeemers, datums
 * and hashes are complete. Only the signatures of payers are not real.
 */
import { blake2b256 } from '../../../crypto/hash.ts';
import { describeOutput } from '../../../ledgers/cardano/describe.ts';
import { scriptDataHash } from '../../../ledgers/cardano/script-data-hash.ts';
import { concatBytes, toHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { Random } from '../../random.ts';
import type { DevnetAddress } from './addresses.ts';
import type { Draft } from './body.ts';
import { compareRefs } from './cage/model.ts';
import { cageOutput, keyAddress, plainOutput } from './cage/scripts.ts';
import type { OpenBlock } from './cage/traffic.ts';
import { COST_MODELS } from './cost-models.ts';
import type { ModelUtxo } from './model.ts';
import type { DraftOutput } from './outputs.ts';
import { matches, type PlutusLanguage, type PlutusProgram, succeeds } from './programs.ts';

const SCRIPT_STREAM = 0x5c21;
const ADA = 1_000_000n;
const FEE = 300_000n;
/** Above what any of the programs uses. */
const UNITS = { memory: 20_000, steps: 10_000_000 } as const;
const LANGUAGES: readonly PlutusLanguage[] = [1, 2, 3];
const ENTERPRISE_SCRIPT = 0x70;
const WITNESS = { datums: 4, redeemers: 5 } as const;
/** Keys of the witness set, by language. */
const SCRIPTS_KEY: Readonly<Record<PlutusLanguage, number>> = { 1: 3, 2: 6, 3: 7 };
const TAG_SET = 258;
const PURPOSE = { spend: 0, mint: 1 } as const;

/** How often each thing happens, as weights. */
const DEEDS = [
  ['publish', 1],
  ['lock', 5],
  ['unlock', 4],
  ['fail', 2],
  ['mint', 2],
] as const satisfies readonly (readonly [string, number])[];

type Deed = (typeof DEEDS)[number][0];

interface Locked {
  readonly ref: string;
  readonly language: PlutusLanguage;
  readonly datum: Uint8Array;
  readonly isInline: boolean;
}

/** What a script is run with. */
interface ScriptRun {
  readonly program: PlutusProgram;
  readonly purpose: keyof typeof PURPOSE;
  readonly index: number;
  readonly redeemer: Uint8Array;
  /** For the witness set. */
  readonly datum: Uint8Array | null;
  readonly isByReference: boolean;
}

export class ScriptTraffic {
  /** How often each thing happened, forks that were dropped included. */
  readonly counts = new Map<Deed, number>();
  private readonly random: Random;
  private readonly change: DevnetAddress;
  /** Also those that a rollback took or gave back: what is there is asked of the block. */
  private locked: Locked[] = [];
  private readonly published = new Map<PlutusLanguage, string>();

  constructor(seed: number) {
    this.random = new Random(seed, SCRIPT_STREAM);
    this.change = keyAddress(toHex(this.random.bytes(28)));
  }

  fill(block: OpenBlock): void {
    for (let n = this.random.int(3); n > 0; n--) {
      const deed = this.random.weighted(DEEDS);
      const draft = this.draft(block, deed);
      if (draft === null) continue;
      draft.done(block.put(draft.draft));
      this.counts.set(deed, (this.counts.get(deed) ?? 0) + 1);
    }
  }

  private draft(block: OpenBlock, deed: Deed): { readonly draft: Draft; done(made: readonly ModelUtxo[]): void } | null {
    // Plutus V1 cannot be shown inline datums, references or addresses of Byron.
    const coins = block.pools.coins.draw(this.random, 12).filter(isPlain);
    if (coins.length < 2) return null;
    const [coin, collateral] = coins;
    if (deed === 'publish') return this.publish(block, coin);
    if (deed === 'lock') return this.lock(coin);
    if (deed === 'mint') return { draft: this.mint(coin, collateral), done: () => {} };
    return this.spend(block, coin, collateral, deed === 'unlock');
  }

  /** The validator of a language in an output, for later transactions to refer to. */
  private publish(block: OpenBlock, coin: ModelUtxo): ReturnType<ScriptTraffic['draft']> {
    const language = this.random.pick([2, 3] as const);
    if (this.reference(block, language) !== undefined || coin.lovelace < 10n * ADA) return null;
    const output = cageOutput({ address: this.change, lovelace: 5n * ADA, script: matches(language) });
    return {
      draft: { inputs: [coin], outputs: [output, this.rest(coin.lovelace - 5n * ADA - FEE)], fee: FEE, valid: true },
      done: ([{ key }]) => this.published.set(language, key),
    };
  }

  private lock(coin: ModelUtxo): ReturnType<ScriptTraffic['draft']> {
    const { random } = this;
    if (coin.lovelace < 10n * ADA) return null;
    const language = random.pick(LANGUAGES);
    const isInline = language !== 1 && random.chance(0.5);
    const datum = drawDatum(random);
    const address = scriptAddress(matches(language));
    const output = cageOutput({ address, lovelace: 3n * ADA, ...(isInline ? { datum } : { datumHash: blake2b256(datum) }) });
    return {
      draft: { inputs: [coin], outputs: [output, this.rest(coin.lovelace - 3n * ADA - FEE)], fee: FEE, valid: true },
      done: ([{ key }]) => this.locked.push({ ref: key, language, datum, isInline }),
    };
  }

  private spend(block: OpenBlock, coin: ModelUtxo, collateral: ModelUtxo, succeeds: boolean): ReturnType<ScriptTraffic['draft']> {
    const { random } = this;
    this.locked = this.locked.filter(({ ref }) => block.utxo(ref) !== undefined);
    if (this.locked.length === 0 || coin.lovelace < 3n * ADA || collateral.lovelace < 3n * ADA) return null;
    const { ref, language, datum, isInline } = random.pick(this.locked);
    const reference = language !== 1 && random.chance(0.5) ? this.reference(block, language) : undefined;
    const inputs = [block.utxo(ref)!, coin];
    const program = matches(language);
    const run: ScriptRun = {
      program,
      purpose: 'spend',
      index: inputs
        .map(({ key }) => key)
        .sort(compareRefs)
        .indexOf(ref),
      redeemer: succeeds ? datum : new CborWriter().array(1).raw(datum).take(),
      datum: isInline ? null : datum,
      isByReference: reference !== undefined,
    };
    const draft: Draft = {
      inputs,
      outputs: [this.rest(inputs[0].lovelace + coin.lovelace - FEE)],
      fee: FEE,
      collateral: [collateral],
      ...(reference === undefined ? {} : { references: [reference] }),
      ...scriptParts(run),
      valid: succeeds,
    };
    if (succeeds || language === 1) return { draft, done: () => {} };
    const total = (3n * FEE) / 2n;
    return { draft: { ...draft, totalCollateral: total, collateralReturn: this.rest(collateral.lovelace - total) }, done: () => {} };
  }

  private mint(coin: ModelUtxo, collateral: ModelUtxo): Draft {
    const { random } = this;
    const program = succeeds(random.pick(LANGUAGES), Uint8Array.of(random.int(4)));
    const assets = new Map([[`${toHex(program.hash)}.${toHex(random.bytes(random.int(9)))}`, 1n + random.big(1000n)]]);
    const run: ScriptRun = { program, purpose: 'mint', index: 0, redeemer: drawDatum(random), datum: null, isByReference: false };
    const output = plainOutput({ address: this.change, lovelace: coin.lovelace - FEE, assets });
    return { inputs: [coin], outputs: [output], fee: FEE, mint: assets, collateral: [collateral], ...scriptParts(run), valid: true };
  }

  private reference(block: OpenBlock, language: PlutusLanguage): ModelUtxo | undefined {
    const ref = this.published.get(language);
    return ref === undefined ? undefined : block.utxo(ref);
  }

  private rest(lovelace: bigint): DraftOutput {
    return plainOutput({ address: this.change, lovelace });
  }
}

/** At an address of a key from Shelley on, without datum and script. */
function isPlain({ addressHex, output, lovelace }: ModelUtxo): boolean {
  if (!/^[026]0/.test(addressHex) || lovelace < 3n * ADA) return false;
  const { datumHash, inlineDatum, scriptRef } = describeOutput(output);
  return datumHash === null && inlineDatum === null && scriptRef === null;
}

function scriptAddress({ hash }: PlutusProgram): DevnetAddress {
  const bytes = concatBytes(Uint8Array.of(ENTERPRISE_SCRIPT), hash);
  return { kind: 'enterpriseScript', bytes, hex: toHex(bytes) };
}

/** `{name, number}` as a constructor. */
function drawDatum(random: Random): Uint8Array {
  return new CborWriter(64)
    .tag(121)
    .array(2)
    .bytes(random.bytes(random.int(20)))
    .int(random.big(1n << 40n) - (1n << 39n))
    .take();
}

/** Witness set and the hash that binds it to the body. */
function scriptParts({ program, purpose, index, redeemer, datum, isByReference }: ScriptRun): Pick<Draft, 'witnesses' | 'scriptDataHash'> {
  const { language, script } = program;
  const redeemers = new CborWriter(256)
    .map(1)
    .array(2)
    .uint(PURPOSE[purpose])
    .uint(index)
    .array(2)
    .raw(redeemer)
    .array(2)
    .uint(UNITS.memory)
    .uint(UNITS.steps)
    .take();
  const datums = datum === null ? null : new CborWriter(128).tag(TAG_SET).array(1).raw(datum).take();
  const w = new CborWriter(1024).map(1 + (datums === null ? 0 : 1) + (isByReference ? 0 : 1));
  if (datums !== null) w.uint(WITNESS.datums).raw(datums);
  w.uint(WITNESS.redeemers).raw(redeemers);
  if (!isByReference) w.uint(SCRIPTS_KEY[language]).array(1).bytes(script);
  const costModels = new Map([[language - 1, COST_MODELS.get(language - 1)!]]);
  return { witnesses: w.take(), scriptDataHash: scriptDataHash({ redeemers, ...(datums === null ? {} : { datums }), costModels }) };
}
