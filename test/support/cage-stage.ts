import { blake2b256 } from '../../src/crypto/hash.ts';
import type { CageOperation } from '../../src/ledgers/cardano/cage/index.ts';
import type { Block } from '../../src/ledgers/ledger.ts';
import { MemoryNodes, mpf } from '../../src/proofs/index.ts';
import { fromHex, toHex, utf8 } from '../../src/util/bytes.ts';
import { CageBlocks, type DrawnTx } from './cage-blocks.ts';
import { CageRig } from './cage-rig.ts';
import { CageWorld, person, type TxDraft, tokenIdText, WORLD_CAGES, type WorldRequest, type WorldToken } from './cage-world.ts';

const FUNDS = 300;
export const [V0, V1, V2, V2_OPEN] = WORLD_CAGES;
export const hex = (text: string): string => toHex(utf8(text));

/** A world, a store, and blocks from one to the other. */
export class CageStage {
  readonly rig = new CageRig(WORLD_CAGES, { pruneDepth: 5, rollbackWindow: 10 });
  readonly world: CageWorld;
  readonly blocks: Block[] = [];
  private readonly maker = new CageBlocks(11);

  constructor() {
    const funds: DrawnTx = {
      inputs: [],
      outputs: Array.from({ length: FUNDS }, () => ({ address: `key:${person(9)}`, value: { lovelace: 5_000_000 } })),
    };
    const { body, id } = this.maker.encode(funds);
    this.world = new CageWorld(this.maker, id, FUNDS);
    this.apply([{ tx: funds, body }]);
  }

  private apply(txs: readonly { readonly tx: DrawnTx; readonly body: Uint8Array }[]): void {
    const before = this.blocks.at(-1) ?? null;
    const block = this.maker.block(
      before,
      (before?.slot ?? 0) + 10,
      txs.map(({ tx }) => tx),
      txs.map(({ body }) => body),
    );
    this.blocks.push(block);
    this.rig.fold.apply([block]);
  }

  /** One block; each deed is a transaction. */
  block(...deeds: readonly ((draft: TxDraft) => unknown)[]): void {
    this.apply(
      deeds.map((deed) => {
        const draft = this.world.draft();
        return this.world.finish(draft, deed(draft) !== false);
      }),
    );
  }

  /** The last blocks are taken back. */
  back(count: number): void {
    this.blocks.splice(this.blocks.length - count);
    this.rig.fold.rollback(this.blocks.at(-1)!);
  }

  token(name: string, deployment = V2): WorldToken {
    return this.world.state.tokens.get(tokenIdText(deployment, name))!;
  }

  /** A token of its own, in a block of its own. */
  boot(deployment = V2): string {
    let name = '';
    this.block((draft) => {
      name = this.world.boot(draft, deployment, person(1)).name;
    });
    return name;
  }

  request(name: string, key: string, operation: CageOperation, deployment = V2): WorldRequest {
    const script = this.world.requestScriptOf({ deployment, name });
    return { token: name, owner: person(4), key: hex(key), operation, bare: deployment.version === 'v0', script };
  }

  insert(name: string, key: string, value: string, deployment = V2): WorldRequest {
    return this.request(name, key, { type: 'insert', value: utf8(value) }, deployment);
  }

  /** All requests of the token in the same way. */
  all(name: string, how: 'apply' | 'reject' = 'apply'): Map<string, 'apply' | 'reject'> {
    return new Map([...this.world.state.requests].filter(([, { token }]) => token === name).map(([ref]) => [ref, how]));
  }

  /** Token with these facts, applied. */
  withFacts(facts: Readonly<Record<string, string>>, deployment = V2): string {
    const name = this.boot(deployment);
    this.block((draft) => {
      for (const [key, value] of Object.entries(facts)) this.world.ask(draft, this.insert(name, key, value, deployment));
    });
    this.block((draft) => this.world.modify(draft, this.token(name, deployment), this.all(name), person(1)));
    return name;
  }

  seen(name: string, deployment = V2) {
    return this.rig.query().token({ policy: deployment.stateScriptHash, name: fromHex(name) });
  }

  facts(name: string, deployment = V2): Record<string, string> {
    const query = this.rig.query();
    const token = this.seen(name, deployment)!;
    return Object.fromEntries(
      [...query.facts(token)].map(({ key, value }) => [new TextDecoder().decode(key), new TextDecoder().decode(value)]),
    );
  }

  pending(): string[] {
    return [...this.rig.query().allRequests()].map(({ txId, index }) => `${toHex(txId)}#${index}`).sort();
  }
}

/**
 * Facts and one of them whose deletion the faulty library gets wrong, and the root it then computes: all begin with the
 * same nibble, and two of them with the same two, so that the proof of the third ends with a fork that skips a nibble.
 */
export function faultyDelete(): { readonly facts: readonly string[]; readonly key: string; readonly root: string } {
  const keys = Array.from({ length: 200 }, (_, i) => `fact ${i}`);
  const pathOf = (key: string): string => toHex(blake2b256(utf8(key)));
  const [first] = keys;
  const alike = keys.filter((key) => pathOf(key)[0] === pathOf(first)[0] && pathOf(key)[1] !== pathOf(first)[1]);
  const pair = [...Map.groupBy(alike, (key) => pathOf(key)[1]).values()].find((group) => group.length > 1)!.slice(0, 2);
  const facts = [first, ...pair];
  return { facts, key: first, root: faultyRoot(new Map(facts.map((key) => [hex(key), utf8('v')])), first)! };
}

function faultyRoot(stored: ReadonlyMap<string, Uint8Array>, key: string): string | null {
  const nodes = nodesOf(stored);
  const { proof } = mpf.prove(nodes, utf8(key));
  const faulty = mpf.rootUnderV200(utf8(key), null, proof);
  const right = mpf.rootAfterDelete(mpf.root(nodes), utf8(key), utf8('v'), proof);
  if (!faulty.ok || !right.ok || toHex(faulty.root) === toHex(right.root)) return null;
  const before = mpf.rootUnderV200(utf8(key), utf8('v'), proof);
  return before.ok && toHex(before.root) === toHex(mpf.root(nodes)) ? toHex(faulty.root) : null;
}

function nodesOf(stored: ReadonlyMap<string, Uint8Array>): MemoryNodes {
  const nodes = new MemoryNodes();
  mpf.update(
    nodes,
    nodes,
    [...stored].map(([key, value]) => ({ key: fromHex(key), value })),
  );
  return nodes;
}
