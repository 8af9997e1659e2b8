/**
 * A random walk of a store that follows the devnet's cages: blocks in groups,
 * forks to any depth that the window allows, restarts, pruning. After every step
 * tokens, requests, facts and roots are held against the producer's own account.
 */
import assert from 'node:assert/strict';
import type { CageModel, ModelRequest, ModelToken } from '../../src/chains/cardano/devnet/cage/model.ts';
import { phasesOf } from '../../src/chains/cardano/devnet/cage/phases.ts';
import { STATE_SCRIPT } from '../../src/chains/cardano/devnet/cage/scripts.ts';
import { START_MS } from '../../src/chains/cardano/devnet/genesis.ts';
import { Random } from '../../src/chains/random.ts';
import { PROJECTIONS, type ProjectionTable } from '../../src/projections/registry.ts';
import type { CageQuery, CageToken, PendingRequest } from '../../src/query/cardano/cage.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { mpfRoot } from '../proofs/reference.ts';
import { Devnet, type Rig, type RigOptions } from './harness.ts';

const KEEPS = ['chain', 'transactions', 'utxo', 'cage'];

const STEPS = [
  ['forward', 60],
  ['back', 14],
  ['prune', 8],
  ['restart', 3],
  ['prove', 10],
  ['verify', 0.3],
] as const;

type StepKind = (typeof STEPS)[number][0];

/** The table with cages of the devnet, whatever the settings say. */
const TABLE: ProjectionTable = PROJECTIONS.map((entry) =>
  entry.name === 'cage'
    ? { ...entry, make: (ledger, read) => entry.make(ledger, (key) => (key === 'cage.deployments' ? 'devnet' : (read?.(key) ?? ''))) }
    : entry,
);

export class CageWalk {
  readonly counts: Partial<Record<StepKind, number>> = {};
  private readonly random: Random;
  private readonly rig: Rig;
  private readonly devnet: Devnet;
  /** By token, the state in which its facts were compared since the last fork. */
  private readonly compared = new Map<string, string>();

  private constructor(random: Random, rig: Rig) {
    this.random = random;
    this.rig = rig;
    this.devnet = rig.devnet;
  }

  static async begin(seed: number, open: (devnet: Devnet, options: RigOptions) => Rig | Promise<Rig>): Promise<CageWalk> {
    const random = new Random(seed, 8);
    const devnet = new Devnet({ seed, addresses: 3, txPerBlock: 1, cages: true });
    const pruneDepth = 5 + random.int(30);
    const rig = await open(devnet, { keeps: KEEPS, table: TABLE, pruneDepth, rollbackWindow: pruneDepth + random.int(40) });
    return new CageWalk(random, rig);
  }

  /** How often each thing happened to cages on this chain. */
  get happened(): ReadonlyMap<string, number> {
    return this.devnet.chain.cageCounts;
  }

  async step(): Promise<void> {
    const kind = this.random.weighted(STEPS);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    if (kind === 'restart') await this.rig.restart();
    else this[kind]();
    this.compare();
  }

  async end(): Promise<void> {
    this.compared.clear();
    this.compare();
    this.verify();
    await this.rig.close();
  }

  private get model(): CageModel {
    return this.devnet.chain.cages!;
  }

  private forward(): void {
    const count = 1 + this.random.int(this.random.chance(0.1) ? 12 : 3);
    this.rig.forward(count, [1 + this.random.int(6)]);
  }

  /** To any depth above the horizon; what is mined then is another fork. */
  private back(): void {
    const { head, horizonHeight } = this.rig.fold;
    if (head === null) return;
    const deepest = head.height - (horizonHeight ?? -1);
    if (deepest === 0) return;
    const depth = 1 + this.random.int(this.random.chance(0.3) ? deepest : Math.min(deepest, 6));
    this.devnet.chain.rollback(depth);
    this.rig.fold.rollback(this.devnet.pointBelow(0));
    this.compared.clear();
  }

  private prune(): void {
    const { engine, projections, options } = this.rig;
    const tip = this.rig.fold.head?.height;
    if (tip !== undefined) pruneStep(engine, projections, tip, options, 1 + this.random.int(25));
  }

  private verify(): void {
    const { faults } = verifyStore(this.rig.engine, this.devnet.ledger, { projections: KEEPS });
    assert.deepEqual(faults, []);
  }

  private prove(): void {
    this.read((cages) => {
      for (const token of cages.tokens()) {
        const { facts, root } = this.model.tokens.get(toHex(token.id.name))!;
        const known = [...facts.keys()];
        const key = known.length > 0 && this.random.chance(0.7) ? this.random.pick(known) : toHex(this.random.bytes(2));
        // The query verifies a proof before it gives it out.
        const proof = cages.proof(token, fromHex(key));
        assert.equal(proof.fact === null ? undefined : toHex(proof.fact.value), facts.get(key));
        assert.equal(toHex(proof.root), root);
      }
    });
  }

  private read(body: (cages: CageQuery) => void): void {
    if (this.rig.fold.head !== null) this.rig.read((query) => body(query.cage()));
  }

  private compare(): void {
    assert.equal(this.rig.fold.head?.height, this.devnet.chain.tip?.height);
    const { model } = this;
    this.read((cages) => {
      const tokens = [...cages.tokens()];
      assert.deepEqual(tokens.map(storedToken), [...model.tokens.values()].sort(byName).map(expectedToken));
      const listed = [...model.requests.values()].filter(({ script }) => script !== null);
      const refs = Array.from(cages.allRequests(), refText).sort();
      assert.deepEqual(refs, listed.map(({ ref }) => ref).sort());
      const counters = cages.counters();
      assert.deepEqual(
        [counters.tokens, counters.requests, counters.malformed, counters.diverged, counters.gone],
        [tokens.length, listed.length, model.malformed, 0, 0],
      );
      for (const token of tokens) this.compareToken(cages, token, model.tokens.get(toHex(token.id.name))!);
    });
  }

  private compareToken(cages: CageQuery, token: CageToken, expected: ModelToken): void {
    const nowMs = START_MS + 1000 * this.devnet.chain.tip!.slot;
    const requests = this.model.requestsFor(expected.name).filter(({ script }) => script !== null);
    const pending = Array.from(cages.requests(token, BigInt(nowMs)), pendingText).sort();
    assert.deepEqual(pending, requests.map((request) => expectedPending(request, expected, nowMs)).sort());
    // As long as no block spends its state, a token has the same facts: they are compared again only now and then.
    if (this.compared.get(expected.name) === expected.ref && !this.random.chance(0.05)) return;
    const facts = Array.from(cages.facts(token), ({ key, value }) => `${toHex(key)}=${toHex(value)}`);
    assert.deepEqual(facts.sort(), Array.from(expected.facts, ([key, value]) => `${key}=${value}`).sort());
    const entries = new Map(Array.from(expected.facts, ([key, value]) => [key, fromHex(value)]));
    assert.equal(toHex(token.state.root), mpfRoot(entries), 'the root on chain is that of the facts, by a second implementation');
    this.compared.set(expected.name, expected.ref);
  }
}

const byName = (a: ModelToken, b: ModelToken): number => (a.name < b.name ? -1 : 1);

function refText({ txId, index }: { readonly txId: Uint8Array; readonly index: number }): string {
  return `${toHex(txId)}#${index}`;
}

function storedToken(token: CageToken): object {
  const { id, state, facts, status, migratedFrom } = token;
  const { owner, root, terms } = state;
  return {
    id: `${toHex(id.policy)}.${toHex(id.name)}`,
    ref: refText(token),
    owner: toHex(owner),
    root: toHex(root),
    terms,
    facts,
    status,
    migratedFrom,
  };
}

function expectedToken({ name, ref, owner, root, terms, facts }: ModelToken): object {
  return { id: `${STATE_SCRIPT}.${name}`, ref, owner, root, terms, facts: facts.size, status: 'consistent', migratedFrom: null };
}

function pendingText({ txId, index, lovelace, request, canonical, phase }: PendingRequest): string {
  const { owner, key, terms } = request;
  const about = [refText({ txId, index }), lovelace, toHex(owner), toHex(key), terms?.tip, terms?.submittedAt, request.operation.type];
  return [...about, canonical, phase].join(' ');
}

function expectedPending(request: ModelRequest, { terms }: ModelToken, nowMs: number): string {
  const { ref, lovelace, owner, key, tip, submittedAt, operation } = request;
  const { processEndMs, retractEndMs } = phasesOf(request, terms, nowMs);
  const phase = nowMs < submittedAt ? 'dishonest' : nowMs < processEndMs ? 'process' : nowMs < retractEndMs ? 'retract' : 'reject';
  return [ref, lovelace, owner, key, tip, submittedAt, operation.type, true, phase].join(' ');
}
