/**
 * A fold that keeps cages, on an engine in memory, and what it says of them in
 * plain words.
 */
import type { Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { type CageDeployment, type CageEvent, detectCage, requestScriptHash } from '../../src/ledgers/cardano/cage/index.ts';
import type { Block } from '../../src/ledgers/ledger.ts';
import { cageProjection } from '../../src/projections/cardano/cage/cage.ts';
import { cageTxs } from '../../src/projections/cardano/cage/transactions.ts';
import { CageWatch } from '../../src/projections/cardano/cage/watch.ts';
import { chainProjection } from '../../src/projections/chain.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { transactionsProjection } from '../../src/projections/transactions.ts';
import { utxoProjection } from '../../src/projections/utxo.ts';
import { CageQuery, type CageToken } from '../../src/query/cardano/cage.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold } from '../../src/state/fold.ts';
import { toHex } from '../../src/util/bytes.ts';
import { cageLedger } from './cage-blocks.ts';

export const WINDOW = { pruneDepth: 2160, rollbackWindow: 4320 };

export function cageProjections(deployments: readonly CageDeployment[]): readonly Projection[] {
  return [chainProjection(), transactionsProjection(cageLedger), utxoProjection(cageLedger), cageProjection(CHAIN, deployments)];
}

/** Hears what happens to cages while blocks are applied, and keeps nothing in the store. */
function listener(deployments: readonly CageDeployment[], heard: CageEvent[]): Projection {
  const scripts = new Set<string>();
  const watch = new CageWatch(cageLedger.traits!);
  for (const { stateScriptHash } of deployments) watch.add(stateScriptHash);
  const policies = deployments.map(({ stateScriptHash }) => stateScriptHash);
  const isRequestScript = (hash: Uint8Array): boolean => scripts.has(toHex(hash));
  const hear = (event: CageEvent): void => {
    heard.push(event);
    if (event.type !== 'boot' && event.type !== 'migrate') return;
    const hash = requestScriptHash(event.deployment, event.token.name);
    if (hash === null || event.deployment.version !== 'v2') return;
    scripts.add(toHex(hash));
    watch.add(hash);
  };
  return {
    name: 'cage-listener',
    columns: [],
    apply(step) {
      for (const block of step.blocks)
        for (const tx of cageTxs(CHAIN, block, watch, policies))
          for (const event of detectCage(tx, { deployments, isRequestScript }).events) hear(event);
      return undefined;
    },
    revert: () => undefined,
  };
}

const CHAIN = { traits: cageLedger.traits!, scriptData: (block: Block) => cageLedger.scriptData!(block) };

export class CageRig {
  /** Events of what was applied, in order. */
  readonly heard: CageEvent[] = [];
  readonly deployments: readonly CageDeployment[];
  readonly engine: Engine;
  fold: Fold;
  private readonly windows: typeof WINDOW;

  constructor(deployments: readonly CageDeployment[], windows = WINDOW, wrap: (engine: Engine) => Engine = (engine) => engine) {
    this.deployments = deployments;
    this.windows = windows;
    this.engine = wrap(openMemory([...cageProjections(deployments).flatMap(({ columns }) => columns), deltaColumn]));
    this.fold = this.newFold();
  }

  /** As after a stop of the process. The chain begins with an output that no block made, so the store counts as partial. */
  newFold(): Fold {
    const options = { utxo: true, partial: true, selfContained: false, fsync: false, ...this.windows };
    this.fold = new Fold(this.engine, cageLedger, [...cageProjections(this.deployments), listener(this.deployments, this.heard)], options);
    return this.fold;
  }

  query(): CageQuery {
    return new CageQuery(this.engine);
  }

  /** Everything that is known of cages, as text, for comparison. */
  story(): CageStory {
    const query = this.query();
    const tokens = [...query.tokens()];
    return {
      tokens: tokens.map((token) => tokenText(token)),
      requests: [...query.allRequests()].map(({ txId, index }) => `${toHex(txId)}#${index}`).sort(),
      facts: Object.fromEntries(tokens.map((token) => [toHex(token.id.name), factsText(query, token)])),
    };
  }
}

export interface CageStory {
  readonly tokens: readonly string[];
  readonly requests: readonly string[];
  readonly facts: Readonly<Record<string, readonly string[]>>;
}

export function tokenText({ id, txId, index, state, status }: CageToken): string {
  const terms = state.terms === null ? '' : ` ${state.terms.tip} ${state.terms.processTime} ${state.terms.retractTime}`;
  return `${toHex(id.policy).slice(0, 4)} ${toHex(id.name)} ${toHex(txId)}#${index} ${toHex(state.owner)} ${toHex(state.root)}${terms} ${status}`;
}

function factsText(query: CageQuery, token: CageToken): string[] {
  return token.trie === null ? [] : [...query.facts(token)].map(({ key, value }) => `${toHex(key)}=${toHex(value)}`);
}
