/**
 * A chain with cages that is made by chance: every event of the protocol, in
 * every combination that its scripts allow, with transactions beside them that
 * look like it and are not. It can be gone back on to any block.
 */
import type { Random } from '../../src/chains/random.ts';
import type { Block, Point } from '../../src/ledgers/ledger.ts';
import { toHex } from '../../src/util/bytes.ts';
import { CageBlocks, type DrawnTx } from './cage-blocks.ts';
import {
  CageWorld,
  isApplicable,
  person,
  policyOf,
  STRANGE_SCRIPT,
  type TxDraft,
  WORLD_CAGES,
  type WorldRequest,
  type WorldState,
  type WorldToken,
} from './cage-world.ts';

const FUNDS = 1500;

/** What chains must contain (cage specification, section 9) that is more than one event. Rollbacks and crashes are their readers' part. */
export const CAGE_CASES = [
  'overlapping requests',
  'made and used in one block',
  'mixed update',
  'change of owner',
  'boot after a burn',
] as const;
type CageCase = (typeof CAGE_CASES)[number];

export interface StoryBlock {
  readonly block: Block;
  readonly after: WorldState;
  /** Types of the events, in order. */
  readonly events: readonly string[];
  /** Outputs at scripts of cages whose datum is none. */
  readonly malformed: number;
}

type Deed = (draft: TxDraft) => boolean;

export class CageTale {
  readonly world: CageWorld;
  readonly blocks: StoryBlock[] = [];
  readonly counts = new Map<string, number>();
  /** How often each case came about, in blocks that were gone back on, too. */
  readonly cases = new Map<CageCase, number>(CAGE_CASES.map((name) => [name, 0]));
  private readonly maker: CageBlocks;
  private readonly random: Random;
  private malformed = 0;
  /** The update under way applies some requests and rejects others. */
  private isMixed = false;

  constructor(seed: number) {
    this.maker = new CageBlocks(seed);
    this.random = this.maker.random;
    const funds: DrawnTx = {
      inputs: [],
      outputs: Array.from({ length: FUNDS }, () => ({ address: `key:${person(9)}`, value: { lovelace: 5_000_000 } })),
    };
    const { body, id } = this.maker.encode(funds);
    this.world = new CageWorld(this.maker, id, FUNDS);
    this.push(this.maker.block(null, 1, [funds], [body]), [], 0);
  }

  private push(block: Block, events: readonly string[], malformed: number): void {
    this.blocks.push({ block, after: this.world.save(), events, malformed });
    for (const event of events) this.counts.set(event, (this.counts.get(event) ?? 0) + 1);
  }

  get tip(): Point {
    return this.blocks.at(-1)!.block;
  }

  /** Forgets the newest blocks, so that the next one begins a fork. */
  back(count: number): void {
    this.blocks.splice(this.blocks.length - count);
    this.world.restore(this.blocks.at(-1)!.after);
  }

  next(txsMax = 6): StoryBlock {
    const txs: DrawnTx[] = [];
    const bodies: Uint8Array[] = [];
    const events: string[] = [];
    const born = new Set<string>();
    this.malformed = 0;
    for (let i = this.random.int(txsMax + 1); i > 0; i--) {
      const draft = this.world.draft();
      const malformed = this.malformed;
      this.isMixed = false;
      const deed = this.random.pick(this.deeds);
      if (!deed(draft)) continue;
      const isValid = !this.random.chance(0.1);
      if (!isValid) this.malformed = malformed;
      const before = new Map(this.world.state.requests);
      const owners = this.owners();
      const { tx, body } = this.world.finish(draft, isValid);
      if (isValid) this.countCases(draft, before, owners, born);
      txs.push(tx);
      bodies.push(body);
      if (isValid) events.push(...draft.events);
    }
    this.push(this.maker.block(this.tip, this.tip.slot + 1 + this.random.int(20), txs, bodies), events, this.malformed);
    return this.blocks.at(-1)!;
  }

  private owners(): ReadonlyMap<string, string> {
    return new Map([...this.world.state.tokens].map(([id, { owner }]) => [id, owner]));
  }

  /** `born`: requests that this block has made so far. */
  private countCases(
    { events }: TxDraft,
    before: ReadonlyMap<string, WorldRequest>,
    owners: ReadonlyMap<string, string>,
    born: Set<string>,
  ): void {
    const see = (name: CageCase, times: number): void => void this.cases.set(name, this.cases.get(name)! + times);
    const { requests } = this.world.state;
    const used = [...before.keys()].filter((ref) => !requests.has(ref));
    const made = [...requests].filter(([ref]) => !before.has(ref));
    const about = ({ token, key }: WorldRequest): string => `${token} ${key}`;
    const waiting = new Set(Array.from(before.values(), about));
    const booted = events.filter((event) => event === 'boot').length;
    see('boot after a burn', this.counts.has('burn') ? booted : 0);
    see('made and used in one block', used.filter((ref) => born.has(ref)).length);
    see('overlapping requests', made.filter(([, request]) => waiting.has(about(request))).length);
    see('mixed update', this.isMixed ? 1 : 0);
    see('change of owner', [...this.owners()].filter(([id, owner]) => owners.has(id) && owners.get(id) !== owner).length);
    for (const [ref] of made) born.add(ref);
  }

  private get tokens(): WorldToken[] {
    return [...this.world.state.tokens.values()];
  }

  private pick<T>(items: readonly T[]): T | null {
    return items.length === 0 ? null : this.random.pick(items);
  }

  private readonly deeds: readonly Deed[] = [
    (draft) => this.boot(draft),
    (draft) => this.asks(draft),
    (draft) => this.asks(draft),
    (draft) => this.asks(draft),
    (draft) => this.modifies(draft),
    (draft) => this.modifies(draft),
    (draft) => this.modifies(draft),
    (draft) => this.rejectsAll(draft),
    (draft) => this.spends(draft),
    (draft) => this.leaves(draft),
    (draft) => this.strange(draft),
  ];

  private boot(draft: TxDraft): boolean {
    const token = this.world.boot(draft, this.random.pick(WORLD_CAGES), person(1 + this.random.int(3)));
    if (this.random.chance(0.4)) this.world.ask(draft, this.request(token, new Map()));
    return true;
  }

  private asks(draft: TxDraft): boolean {
    const token = this.pick(this.tokens);
    if (token === null) return false;
    for (let i = 1 + this.random.int(4); i > 0; i--) this.world.ask(draft, this.request(token, token.facts));
    return true;
  }

  /** About one of few keys, so that requests overlap; at times for no token, or at another address. */
  private request(token: Pick<WorldToken, 'deployment' | 'name'>, facts: ReadonlyMap<string, string>): WorldRequest {
    const { random } = this;
    const key = random.chance(0.1) ? '' : toHex(Uint8Array.of(random.int(12)));
    const known = facts.get(key);
    const value = random.bytes(random.int(4) === 0 ? 0 : random.int(80));
    const before = known === undefined || random.chance(0.1) ? random.bytes(2) : Uint8Array.from(Buffer.from(known, 'hex'));
    const operation =
      known === undefined || random.chance(0.2)
        ? ({ type: 'insert', value } as const)
        : random.chance(0.5)
          ? ({ type: 'delete', value: before } as const)
          : ({ type: 'update', before, after: value } as const);
    const script = random.chance(0.1) ? null : random.chance(0.15) ? STRANGE_SCRIPT : this.world.requestScriptOf(token);
    const name = random.chance(0.07) ? toHex(random.bytes(random.int(33))) : token.name;
    return { token: name, owner: person(4 + random.int(3)), key, operation, bare: token.deployment.version === 'v0', script };
  }

  /** Requests for the token in the form of its version: the validators see no others. */
  private requestsFor({ name, deployment }: WorldToken): [string, WorldRequest][] {
    return [...this.world.state.requests].filter(([, { token, bare }]) => token === name && bare === (deployment.version === 'v0'));
  }

  private modifies(draft: TxDraft): boolean {
    const { random } = this;
    const token = this.pick(this.tokens);
    if (token === null) return false;
    const chosen = this.requestsFor(token).filter(() => random.chance(0.7));
    const facts = new Map(token.facts);
    const taken = new Map<string, 'apply' | 'reject'>();
    // In ledger order, as they are applied.
    for (const [ref, request] of chosen.sort(([a], [b]) =>
      a.split('#')[0] === b.split('#')[0] ? Number(a.split('#')[1]) - Number(b.split('#')[1]) : a < b ? -1 : 1,
    )) {
      const isApplied = isApplicable(facts, request) && token.status === 'consistent' && !random.chance(0.2);
      if (!isApplied && token.deployment.version === 'v0') continue;
      taken.set(ref, isApplied ? 'apply' : 'reject');
      const { operation, key } = request;
      if (!isApplied) continue;
      if (operation.type === 'delete') facts.delete(key);
      else facts.set(key, toHex(operation.type === 'insert' ? operation.value : operation.after));
    }
    this.isMixed = new Set(taken.values()).size === 2;
    const owner = random.chance(0.3) ? person(1 + random.int(3)) : token.owner;
    // What the owner of a token and a faulty library can bring about: a root that is not that of the facts.
    const wrong = token.status === 'inconsistent' ? token.root : random.chance(0.02) ? 'ee'.repeat(32) : undefined;
    this.world.modify(draft, token, taken, owner, token.status === 'incomplete' ? token.root : wrong);
    if (random.chance(0.3)) this.world.ask(draft, this.request(token, facts));
    return true;
  }

  private rejectsAll(draft: TxDraft): boolean {
    const token = this.pick(this.tokens.filter(({ deployment }) => deployment.version === 'v1'));
    const refs = token === null ? [] : this.requestsFor(token).map(([ref]) => ref);
    if (token === null || refs.length === 0) return false;
    this.world.rejectAll(draft, token, refs);
    return true;
  }

  private spends(draft: TxDraft): boolean {
    const litter = this.pick([...this.world.state.litter].filter(([, script]) => this.isRequestScript(script)));
    if (litter !== null && this.random.chance(0.5)) {
      this.world.sweepLitter(draft, litter[0]);
      return true;
    }
    const refs = [...this.world.state.requests.keys()].filter(() => this.random.chance(0.1));
    for (const ref of refs.sort()) this.world.spendRequest(draft, ref, this.random.pick(['retract', 'retract', 'sweep', 'gone'] as const));
    // Events come in the order of the inputs, however the transaction was written.
    draft.events.splice(0, draft.events.length, ...this.inOrder(draft, refs));
    return refs.length > 0;
  }

  private inOrder(draft: TxDraft, refs: readonly string[]): string[] {
    const kinds = new Map(
      refs.filter((ref) => this.world.state.requests.get(ref)!.script !== null).map((ref, i) => [ref, draft.events[i]]),
    );
    const byPlace = [...kinds.keys()].sort((a, b) =>
      a.slice(0, 64) === b.slice(0, 64) ? Number(a.slice(65)) - Number(b.slice(65)) : a < b ? -1 : 1,
    );
    return byPlace.map((ref) => kinds.get(ref)!);
  }

  /** Of a token that there is: since v2 with a program each has one of its own. */
  private isRequestScript(script: string): boolean {
    return this.tokens.some((token) => token.deployment.requestProgram !== null && this.world.requestScriptOf(token) === script);
  }

  private leaves(draft: TxDraft): boolean {
    const token = this.pick(this.tokens);
    if (token === null) return false;
    const to = this.random.pick(WORLD_CAGES);
    if (to === token.deployment || this.random.chance(0.4)) this.world.burn(draft, token);
    else if ((to.version === 'v0') !== (token.deployment.version === 'v0')) return false;
    else this.world.migrate(draft, token, to, this.random.chance(0.3) ? this.random.pick(['dd'.repeat(32), '00'.repeat(32)]) : token.root);
    return true;
  }

  /** What looks like the protocol and is not: datums that do not decode, outputs without any, states without a token. */
  private strange(draft: TxDraft): boolean {
    const token = this.pick(this.tokens);
    const script = token === null ? STRANGE_SCRIPT : this.world.requestScriptOf(token);
    const isCage = token !== null && (token.deployment.requestProgram !== null || token.deployment.version !== 'v2');
    const state = token === null ? WORLD_CAGES[0].stateScriptHash : token.deployment.stateScriptHash;
    const wrong = ['d87b9f00ff', 'd8799fd8799fd8799f4100ff581b', 'd87a9fd8799f4100ffff', '182a', 'd8799fd8799fd8799f581c'].slice(0, 4);
    const kind = this.random.int(4);
    const value = { lovelace: 2_000_000 };
    if (kind === 0) {
      draft.outputs.push({ address: `script:${toHex(state)}`, value, inlineDatum: this.random.pick(wrong) });
      this.malformed++;
    } else if (kind === 1) {
      draft.outputs.push({ address: `script:${script}`, value, inlineDatum: this.random.pick(wrong) });
      if (isCage) this.malformed++;
    } else if (kind === 2) this.world.drop(draft, script);
    else if (token !== null) {
      // Anybody can write a state; without the token it is none.
      draft.outputs.push({ address: `script:${policyOf(token)}`, value, inlineDatum: this.world.stateDatum(token) });
    }
    return true;
  }
}
