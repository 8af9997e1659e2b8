/**
 * What happens to the devnet's cages, block by block: tokens are booted, updated,
 * handed over and burned; requests are made, applied, rejected, retracted and
 * swept; and now and then somebody leaves an output that is nothing of the kind.
 * Which of it happens follows from the seed; phases are kept to, as the scripts
 * of a real deployment would see to.
 */
import { type CageTerms, cageTokenName, type SpendRedeemer } from '../../../../ledgers/cardano/cage/index.ts';
import { fromHex, toHex } from '../../../../util/bytes.ts';
import { Random } from '../../../random.ts';
import type { Draft } from '../body.ts';
import type { ModelUtxo } from '../model.ts';
import type { DraftOutput } from '../outputs.ts';
import type { SpendablePools } from '../spendable-pools.ts';
import { askFor, askForUnknown, type Moment, malformedDatum, type NewRequest, requestOutput } from './asking.ts';
import { ADA, type CageDraft, completeDraft, mintOf } from './drafts.ts';
import { CageModel, type ModelRequest, type ModelToken, refOf } from './model.ts';
import { actionsOf, isProcessable, phasesOf, SLOT_MS, slotBefore, type TakenRequest, validityOf } from './phases.ts';
import { cageOutput, keyAddress, plainOutput, requestScriptOf, STATE_SCRIPT, scriptAddress, unitOf } from './scripts.ts';
import { isApplicable, ModelTries, valueAfter } from './tries.ts';

const CAGE_STREAM = 0xca9e;
const PEOPLE = 5;
const TOKENS_MAX = 5;
/** Actions of one update. */
const ACTIONS_MAX = 8;
const EMPTY_ROOT = '00'.repeat(32);
/** Of blocks that are about 20 s apart on the chain's own clock. */
const PROCESS_MS = [120_000, 240_000, 600_000] as const;
const RETRACT_MS = [60_000, 120_000, 240_000] as const;

/** How often each thing happens, as weights. */
const DEEDS = [
  ['boot', 2],
  ['bootWithRequest', 1],
  ['request', 34],
  ['burst', 4],
  ['update', 28],
  ['transfer', 2],
  ['invalidUpdate', 2],
  ['requestAndUpdate', 4],
  ['retract', 8],
  ['sweep', 4],
  ['malformed', 2],
  ['noDatum', 1],
  ['unknownToken', 1],
  ['burn', 1],
  ['bootAndBurn', 1],
] as const satisfies readonly (readonly [string, number])[];

type Deed = (typeof DEEDS)[number][0];
/** What the chain does that is more than one deed. */
type Occurrence =
  | Deed
  | 'applied'
  | 'rejected'
  | 'mixedUpdate'
  | 'decoyState'
  | 'burnWithRequests'
  | 'burnWithoutRequests'
  | 'keyAddressApplied';

/** The block under way, as its producer lets others put transactions into it. */
export interface OpenBlock {
  readonly slot: number;
  readonly pools: SpendablePools;
  utxo(ref: string): ModelUtxo | undefined;
  /** The outputs it made. */
  put(draft: Draft): readonly ModelUtxo[];
}

export class CageTraffic {
  readonly model = new CageModel();
  /** How often each thing happened, forks that were dropped included. */
  readonly counts = new Map<Occurrence, number>();
  private readonly random: Random;
  private readonly tries = new ModelTries();
  private readonly people: readonly string[];
  private readonly startMs: number;

  /** `startMs`: POSIX milliseconds of slot 0. */
  constructor(seed: number, startMs: number) {
    this.random = new Random(seed, CAGE_STREAM);
    this.people = Array.from({ length: PEOPLE }, () => toHex(this.random.bytes(28)));
    this.startMs = startMs;
  }

  revert(mark: number): void {
    this.model.revert(mark);
    this.tries.forget();
  }

  fill(block: OpenBlock): void {
    const { random } = this;
    for (let n = random.int(4); n > 0; n--) {
      const deed = this.model.tokens.size === 0 ? 'boot' : random.weighted(DEEDS);
      if (this.follow(block, deed)) this.count(deed);
    }
  }

  private follow(block: OpenBlock, deed: Deed): boolean {
    const { random } = this;
    if (deed === 'boot' || deed === 'bootWithRequest') return this.boot(block, deed === 'bootWithRequest') !== null;
    if (deed === 'bootAndBurn') return this.bootAndBurn(block);
    if (deed === 'unknownToken') return this.ask(block, [askForUnknown(random, this.person(), this.momentOf(block))]);
    const token = this.anyToken(block);
    if (token === null) return false;
    if (deed === 'request') return this.askFor(block, token, 1 + random.int(2));
    if (deed === 'burst') return this.askFor(block, token, 4 + random.int(8));
    if (deed === 'update') return this.update(block, token, random.chance(0.1) ? this.person() : token.owner, ACTIONS_MAX, true);
    if (deed === 'transfer') return this.update(block, token, this.person(), 0, true);
    if (deed === 'invalidUpdate') return this.update(block, token, this.person(), ACTIONS_MAX, false);
    if (deed === 'requestAndUpdate') return this.askFor(block, token, 2) && this.update(block, token, token.owner, ACTIONS_MAX, true);
    if (deed === 'retract') return this.retract(block, token);
    if (deed === 'sweep') return this.sweep(block, token);
    if (deed === 'burn') return this.burn(block, token);
    return this.leaveLitter(block, token, deed === 'malformed');
  }

  private bootAndBurn(block: OpenBlock): boolean {
    const token = this.boot(block, this.random.chance(0.5));
    return token !== null && this.burn(block, token);
  }

  /** A new token, named after the coin that is spent for it; with a request for it in the same transaction where asked. */
  private boot(block: OpenBlock, withRequest: boolean): ModelToken | null {
    const { random } = this;
    const [seed] = block.pools.coins.draw(random, 1);
    if (seed === undefined || this.model.tokens.size >= TOKENS_MAX) return null;
    const name = toHex(cageTokenName(seed));
    const terms: CageTerms = {
      tip: BigInt(1 + random.int(2)) * ADA,
      processTime: BigInt(random.pick(PROCESS_MS)),
      retractTime: BigInt(random.pick(RETRACT_MS)),
    };
    const token: ModelToken = { name, ref: '', owner: this.person(), root: EMPTY_ROOT, terms, facts: new Map() };
    const asked = withRequest ? [askFor(random, token, this.person(), this.momentOf(block))] : [];
    const made = this.put(block, {
      signer: token.owner,
      seeds: [seed],
      spends: [],
      outputs: [this.stateOutput(token), ...asked.map((request) => requestOutput(random, request)), ...this.decoy(token)],
      mint: mintOf(name, { type: 'minting', seed }),
    });
    if (made === null) return null;
    const booted = { ...token, ref: made[0].key };
    this.model.setToken(booted);
    this.setRequests(asked, made.slice(1));
    return booted;
  }

  private askFor(block: OpenBlock, token: ModelToken, count: number): boolean {
    return this.ask(
      block,
      Array.from({ length: count }, () => askFor(this.random, token, this.person(), this.momentOf(block))),
    );
  }

  private ask(block: OpenBlock, asked: readonly NewRequest[]): boolean {
    const { random } = this;
    // What stands before a request must not hide it from a reader that gives up early.
    const lead = random.chance(0.3) ? [plainOutput({ address: keyAddress(this.person()), lovelace: 2n * ADA })] : [];
    const outputs = [...lead, ...asked.map((request) => requestOutput(random, request))];
    const made = this.put(block, { signer: asked[0].owner, spends: [], outputs });
    if (made === null) return false;
    this.setRequests(asked, made.slice(lead.length));
    return true;
  }

  private setRequests(asked: readonly NewRequest[], made: readonly ModelUtxo[]): void {
    asked.forEach((request, i) => {
      this.model.setRequest({ ...request, ref: made[i].key });
    });
  }

  /** A Modify: applies and rejects what the phases allow, and hands the token over if `owner` is another. */
  private update(block: OpenBlock, token: ModelToken, owner: string, actionsMax: number, valid: boolean): boolean {
    const state = block.utxo(token.ref)!;
    const taken = this.chooseActions(block, token, actionsMax);
    const applied = taken.filter(({ isApplied }) => isApplied).map(({ request }) => request);
    const { root, changes, proofs } = this.tries.apply(token, applied);
    const after: ModelToken = { ...token, owner, root };
    const contribute: SpendRedeemer = { type: 'contribute', state: refOf(token.ref) };
    const made = this.put(
      block,
      {
        signer: token.owner,
        spends: [
          ...taken.map(({ utxo, request }) => ({ utxo, redeemer: request.script === null ? null : contribute })),
          { utxo: state, redeemer: { type: 'modify', actions: actionsOf(taken, proofs), bare: false } },
        ],
        outputs: [
          this.stateOutput(after, state.lovelace),
          ...taken.map(({ request }) => plainOutput({ address: keyAddress(request.owner), lovelace: request.lovelace - request.tip })),
          ...this.decoy(token),
        ],
        validity: validityOf(taken, block.slot, this.startMs),
      },
      valid,
    );
    if (made === null || !valid) {
      this.tries.forget(token.name);
      return made !== null;
    }
    this.model.changeFacts(token, changes);
    this.model.setToken({ ...after, ref: made[0].key });
    for (const { request } of taken) this.model.removeRequest(request.ref);
    this.countActions(applied, taken.length - applied.length);
    return true;
  }

  private countActions(applied: readonly ModelRequest[], rejected: number): void {
    if (applied.length > 0) this.count('applied', applied.length);
    if (rejected > 0) this.count('rejected', rejected);
    if (applied.length > 0 && rejected > 0) this.count('mixedUpdate');
    const atKeys = applied.filter(({ script }) => script === null).length;
    if (atKeys > 0) this.count('keyAddressApplied', atKeys);
  }

  /** In ledger order, because each is applied to what those before it leave. */
  private chooseActions(block: OpenBlock, token: ModelToken, most: number): TakenRequest[] {
    const taken: TakenRequest[] = [];
    const facts = new Map<string, string | undefined>();
    for (const request of this.model.requestsFor(token.name)) {
      const utxo = block.utxo(request.ref);
      if (taken.length >= most || utxo === undefined || !isProcessable(request, token) || this.random.chance(0.1)) continue;
      const phases = phasesOf(request, token.terms, this.momentOf(block).nowMs);
      const isApplied = phases.apply && isApplicable(token, facts, request);
      if (!isApplied && !phases.reject) continue;
      if (isApplied) facts.set(request.key, valueAfter(request));
      taken.push({ request, utxo, phases, isApplied });
    }
    return taken;
  }

  private retract(block: OpenBlock, token: ModelToken): boolean {
    const { nowMs } = this.momentOf(block);
    const open = this.model
      .requestsFor(token.name)
      .filter(
        (request) => request.script !== null && block.utxo(request.ref) !== undefined && phasesOf(request, token.terms, nowMs).retract,
      );
    if (open.length === 0) return false;
    const request = this.random.pick(open);
    const made = this.put(block, {
      signer: request.owner,
      spends: [{ utxo: block.utxo(request.ref)!, redeemer: { type: 'retract', state: refOf(token.ref) } }],
      outputs: [],
      references: [block.utxo(token.ref)!],
      validity: { from: block.slot, until: slotBefore(phasesOf(request, token.terms, nowMs).retractEndMs, this.startMs) },
    });
    if (made !== null) this.model.removeRequest(request.ref);
    return made !== null;
  }

  /** Clears the request script of what can never be applied, requests or not. */
  private sweep(block: OpenBlock, token: ModelToken): boolean {
    const stuck = this.model.requestsFor(token.name).filter((request) => request.script !== null && !isProcessable(request, token));
    const litter = [...this.model.litter].filter(([, name]) => name === token.name).map(([ref]) => ref);
    const refs = [...stuck.map(({ ref }) => ref), ...litter].filter((ref) => block.utxo(ref) !== undefined);
    if (refs.length === 0) return false;
    const swept = refs.slice(0, 1 + this.random.int(3));
    const made = this.put(block, {
      signer: token.owner,
      spends: swept.map((ref) => ({ utxo: block.utxo(ref)!, redeemer: { type: 'sweep', state: refOf(token.ref) } })),
      outputs: [],
      references: [block.utxo(token.ref)!],
    });
    if (made === null) return false;
    for (const ref of swept) {
      if (this.model.litter.has(ref)) this.model.removeLitter(ref);
      else this.model.removeRequest(ref);
    }
    return true;
  }

  private leaveLitter(block: OpenBlock, token: ModelToken, hasDatum: boolean): boolean {
    const { random } = this;
    const atState = hasDatum && random.chance(0.3);
    const address = scriptAddress(random, atState ? STATE_SCRIPT : requestScriptOf(token.name));
    const output = cageOutput({ address, lovelace: 2n * ADA, ...(hasDatum ? { datum: malformedDatum(random) } : {}) });
    const made = this.put(block, { signer: this.person(), spends: [], outputs: [output] });
    if (made === null) return false;
    if (hasDatum) this.model.countMalformed();
    if (!atState) this.model.addLitter(made[0].key, token.name);
    return true;
  }

  /** Requests that still wait for it are stuck from then on. */
  private burn(block: OpenBlock, token: ModelToken): boolean {
    const made = this.put(block, {
      signer: token.owner,
      spends: [{ utxo: block.utxo(token.ref)!, redeemer: { type: 'end' } }],
      outputs: [],
      mint: mintOf(token.name, { type: 'burning', token: fromHex(token.name) }),
    });
    if (made === null) return false;
    this.count(this.model.requestsFor(token.name).length > 0 ? 'burnWithRequests' : 'burnWithoutRequests');
    this.model.removeToken(token.name);
    this.tries.forget(token.name);
    return true;
  }

  private put(block: OpenBlock, draft: CageDraft, valid = true): readonly ModelUtxo[] | null {
    const complete = completeDraft(this.random, block.pools, draft, valid);
    return complete === null ? null : block.put(complete);
  }

  private stateOutput({ name, owner, root, terms }: ModelToken, lovelace = 3n * ADA): DraftOutput {
    return cageOutput({
      address: scriptAddress(this.random, STATE_SCRIPT),
      lovelace,
      assets: new Map([[unitOf(name), 1n]]),
      datum: { type: 'state', state: { owner: fromHex(owner), root: fromHex(root), terms } },
    });
  }

  /** Now and then an output at the state script that looks like a state and holds no token. */
  private decoy({ terms }: ModelToken): DraftOutput[] {
    const { random } = this;
    if (!random.chance(0.05)) return [];
    this.count('decoyState');
    const state = { owner: random.bytes(28), root: random.bytes(32), terms };
    return [cageOutput({ address: scriptAddress(random, STATE_SCRIPT), lovelace: 2n * ADA, datum: { type: 'state', state } })];
  }

  /** One whose state nobody else has spent. */
  private anyToken(block: OpenBlock): ModelToken | null {
    const tokens = [...this.model.tokens.values()].filter(({ ref }) => block.utxo(ref) !== undefined);
    return tokens.length === 0 ? null : this.random.pick(tokens);
  }

  private person(): string {
    return this.random.pick(this.people);
  }

  private momentOf({ slot }: OpenBlock): Moment {
    return { slot, nowMs: this.startMs + SLOT_MS * slot };
  }

  private count(what: Occurrence, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }
}
