/**
 * What a copy is of: all that a reader needs to open it without the directory of
 * the store. It stands in the copy as one JSON document. Only projections that
 * are ready are published; one that is being filled comes with the next
 * snapshot, when it is.
 */
import type { ColumnSpec, Reader } from '../engine/engine.ts';
import type { NetworkParameters } from '../families/family.ts';
import { CHAIN, META_PREFIX } from '../projections/chain.ts';
import { ELSEWHERE_KEY, ONLY_COPY_KEY } from '../projections/history/elsewhere.ts';
import type { Projection } from '../projections/projection.ts';
import { deltaColumn } from '../state/delta.ts';
import { readFills } from '../state/fill.ts';
import { metaKey } from '../state/head.ts';
import type { Windows } from '../state/pruned.ts';
import { txsEntry } from '../txstore/chain/entry.ts';
import { UnspentError } from '../util/errors.ts';
import type { SettingValue } from '../util/setting.ts';
import { keyText } from './row-changes.ts';

/** The form of the document and of the copy. 2: rows are packed, and those of indexes name places (docs/adr/0108). */
export const PUBLISHED_FORM = 2;

export interface PublishedFacts {
  readonly network: string;
  readonly family: string;
  readonly parameters: NetworkParameters;
  readonly partial: boolean;
  readonly selfContained: boolean;
  readonly windows: Windows;
  /** Settings that decide what a store keeps, by key. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

export interface PublishedIdentity extends PublishedFacts {
  readonly form: number;
  /** Names, in the order in which blocks are applied to them. */
  readonly projections: readonly string[];
  readonly columns: readonly ColumnSpec[];
}

/** What of a store is published now: everything but what is still being filled, and records of transactions, which are pruned by rules of their own. */
export class PublishedScope {
  readonly projections: readonly string[];
  readonly columns: readonly ColumnSpec[];
  private readonly local: ReadonlySet<string>;

  constructor(reader: Reader, kept: readonly Projection[]) {
    const filling = readFills(reader);
    const isOut = ({ name }: Projection): boolean => filling.has(name) || name === txsEntry.name;
    const ready = kept.filter((projection) => !isOut(projection));
    this.projections = ready.map(({ name }) => name);
    this.columns = [...ready.flatMap(({ columns }) => columns), deltaColumn];
    const hidden = kept.filter(isOut).flatMap(({ reserved }) => reserved ?? []);
    const cursors = [...filling.keys()].map((name) => metaKey(`fill.${name}`));
    this.local = new Set([...hidden, ...cursors, ELSEWHERE_KEY, ONLY_COPY_KEY].map(keyText));
  }

  /** The one place that says which rows are no part of a copy: cursors of fills, reserved rows of what is not published, and what store and copy each say of themselves. */
  isLocal(column: string, key: Uint8Array): boolean {
    return this.local.size > 0 && column === CHAIN && key[0] === META_PREFIX && this.local.has(keyText(key));
  }

  identity(facts: PublishedFacts): PublishedIdentity {
    return { form: PUBLISHED_FORM, ...facts, projections: this.projections, columns: this.columns };
  }
}

/** Throws STORE_NETWORK where the copy is of another chain, STORE_SCHEMA where it is of a later version. False: it must begin anew. */
export function isSameCopy(published: PublishedIdentity, ours: PublishedIdentity): boolean {
  if (published.form > PUBLISHED_FORM)
    throw new UnspentError('STORE_SCHEMA', `the copy has form ${published.form}; this program knows up to ${PUBLISHED_FORM}`);
  const magic = ({ parameters }: PublishedFacts): number => parameters.magic;
  if (published.network !== ours.network || magic(published) !== magic(ours)) {
    const message = `the copy is of '${published.network}', and this store of '${ours.network}'; publish to another schema or keyspace`;
    throw new UnspentError('STORE_NETWORK', message, { copy: published.network, store: ours.network });
  }
  const shape = ({ form, projections, selfContained, partial }: PublishedIdentity): string =>
    JSON.stringify([form, projections, selfContained, partial]);
  return shape(published) === shape(ours);
}

/** Projections whose history a copy may have alone. */
export function isHistory(projection: string): boolean {
  return projection === 'history' || projection.startsWith('history.');
}
