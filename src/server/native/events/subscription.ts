/**
 * What a reader of events asked for: which types, and for outputs which ones.
 * An output is told when it fits any of the filters; without filters, all are.
 */
import { KEY_BYTES, type KeyKind, type Ledger } from '../../../ledgers/ledger.ts';
import { keyOf } from '../../../projections/packed.ts';
import type { Dialect } from '../../../query/dialect.ts';
import type { Utxo } from '../../../query/query.ts';
import { isHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { EVENT_FILTERS_MAX } from '../../../util/limits.ts';
import { addressKey, paymentKey, stakeKey } from '../keys.ts';

export const EVENT_TYPES = ['block', 'rollback', 'utxo', 'tip'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** As the route was asked; each a list, or texts joined by commas. */
export interface SubscriptionParams {
  readonly types?: string | readonly string[] | undefined;
  readonly address?: string | readonly string[] | undefined;
  readonly credential?: string | readonly string[] | undefined;
  readonly stake?: string | readonly string[] | undefined;
  readonly policy?: string | readonly string[] | undefined;
  readonly asset?: string | readonly string[] | undefined;
}

/** Bytes of the longest asset name. */
const NAME_BYTES_MAX = 32;

/** The keys of an output in hex, worked out when first asked for. */
export class SubscribedKeys {
  private readonly utxo: Utxo;
  private readonly ledger: Pick<Ledger, 'traits' | 'ownerKey'>;
  private units: readonly string[] | null = null;

  constructor(utxo: Utxo, ledger: Pick<Ledger, 'traits' | 'ownerKey'>) {
    this.utxo = utxo;
    this.ledger = ledger;
  }

  key(kind: KeyKind): string | undefined {
    const key = keyOf(this.utxo.output, kind, this.ledger);
    return key === undefined ? undefined : toHex(key);
  }

  /** Policy and name of each asset, joined. */
  get assets(): readonly string[] {
    this.units ??= this.readAssets();
    return this.units;
  }

  private readAssets(): readonly string[] {
    const { raw } = this.utxo.output;
    const { traits } = this.ledger;
    if (traits?.isPlain(raw, 0, raw.length) !== false) return [];
    const units: string[] = [];
    traits.assets(raw, 0, raw.length, (policy, name) => units.push(toHex(policy) + toHex(name)));
    return units;
  }
}

export class Subscription {
  readonly types: ReadonlySet<EventType>;
  private readonly keys: Readonly<Record<KeyKind, ReadonlySet<string>>>;
  private readonly policies: ReadonlySet<string>;
  private readonly units: ReadonlySet<string>;
  private readonly everything: boolean;

  /** Throws USAGE. */
  constructor(params: SubscriptionParams, dialect: Dialect) {
    this.keys = {
      address: new Set(listOf(params.address).map((text) => toHex(addressKey(text, dialect)))),
      payment: new Set(listOf(params.credential).map((text) => toHex(paymentKey(text, dialect)))),
      stake: new Set(listOf(params.stake).map((text) => toHex(stakeKey(text, dialect)))),
    };
    this.policies = new Set(listOf(params.policy).map(policyOf));
    this.units = new Set(listOf(params.asset).map(unitOf));
    const sets = [this.keys.address, this.keys.payment, this.keys.stake, this.policies, this.units];
    const filters = sets.reduce((sum, { size }) => sum + size, 0);
    if (filters > EVENT_FILTERS_MAX)
      throw new UnspentError('LIMIT', `a stream has at most ${EVENT_FILTERS_MAX} filters`, { limit: EVENT_FILTERS_MAX });
    this.everything = filters === 0;
    this.types = typesOf(listOf(params.types), !this.everything);
  }

  get wantsBlocks(): boolean {
    return this.types.has('block');
  }

  get wantsOutputs(): boolean {
    return this.types.has('utxo');
  }

  /** True when nothing between two moves of the store matters to it. */
  get wantsTipOnly(): boolean {
    return this.types.size === 1 && this.types.has('tip');
  }

  fits(output: SubscribedKeys): boolean {
    if (this.everything) return true;
    const { keys, policies, units } = this;
    for (const kind of ['address', 'payment', 'stake'] as const) {
      const key = keys[kind].size === 0 ? undefined : output.key(kind);
      if (key !== undefined && keys[kind].has(key)) return true;
    }
    if (policies.size + units.size === 0) return false;
    return output.assets.some((unit) => units.has(unit) || policies.has(unit.slice(0, 2 * KEY_BYTES)));
  }
}

/** Blocks and rollbacks unless told; outputs too when somebody names some. */
function typesOf(given: readonly string[], filtered: boolean): ReadonlySet<EventType> {
  const types = new Set<EventType>();
  for (const text of given) {
    const type = EVENT_TYPES.find((known) => known === text);
    if (type === undefined)
      throw new UnspentError('USAGE', `types are ${EVENT_TYPES.join(', ')}, not '${text.slice(0, 40)}'`, { field: 'types' });
    types.add(type);
  }
  if (given.length === 0) return new Set<EventType>(filtered ? ['block', 'rollback', 'utxo'] : ['block', 'rollback']);
  if (filtered && !types.has('utxo'))
    throw new UnspentError('USAGE', 'filters are for outputs: add utxo to the types, or leave them out', { field: 'types' });
  return types;
}

function listOf(given: string | readonly string[] | undefined): string[] {
  const texts = given === undefined ? [] : typeof given === 'string' ? [given] : given;
  return texts.flatMap((text) => text.split(',')).filter((text) => text !== '');
}

function policyOf(text: string): string {
  if (!isHex(text, KEY_BYTES))
    throw new UnspentError('USAGE', `a policy is ${2 * KEY_BYTES} hex digits, not '${text.slice(0, 80)}'`, { field: 'policy' });
  return text.toLowerCase();
}

function unitOf(text: string): string {
  const unit = text.replace('.', '').toLowerCase();
  if (!isHex(unit) || unit.length < 2 * KEY_BYTES || unit.length > 2 * (KEY_BYTES + NAME_BYTES_MAX))
    throw new UnspentError('USAGE', `an asset is its policy and its name in hex, not '${text.slice(0, 140)}'`, { field: 'asset' });
  return unit;
}
