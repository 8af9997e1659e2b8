/**
 * Sums of lovelace and assets. An asset is named by its unit, policy and name in
 * hex; lovelace has a name of its own, so that a search treats all alike.
 */
import type { Asset } from '../../../ledgers/asset.ts';
import { toHex } from '../../../util/bytes.ts';

export const LOVELACE = 'lovelace';

interface Holding {
  readonly lovelace: bigint;
  readonly assets?: readonly Asset[];
}

export function unitOf({ policy, name }: Pick<Asset, 'policy' | 'name'>): string {
  return `${toHex(policy)}.${toHex(name)}`;
}

/** Quantities by unit; a unit that is not there has a quantity of 0. */
export class Bundle {
  readonly #quantities = new Map<string, bigint>();
  readonly #assets = new Map<string, Asset>();

  static sumOf(holdings: readonly Holding[]): Bundle {
    const bundle = new Bundle();
    for (const holding of holdings) bundle.add(holding);
    return bundle;
  }

  add(holding: Holding): void {
    this.#count(holding, 1n);
  }

  subtract(holding: Holding): void {
    this.#count(holding, -1n);
  }

  #count({ lovelace, assets = [] }: Holding, sign: bigint): void {
    this.#quantities.set(LOVELACE, this.quantity(LOVELACE) + sign * lovelace);
    for (const asset of assets) {
      const unit = unitOf(asset);
      this.#assets.set(unit, asset);
      this.#quantities.set(unit, this.quantity(unit) + sign * asset.quantity);
    }
  }

  quantity(unit: string): bigint {
    return this.#quantities.get(unit) ?? 0n;
  }

  /** Units with a quantity above 0, lovelace last. */
  units(): readonly string[] {
    const units = [...this.#assets.keys()].filter((unit) => this.quantity(unit) > 0n);
    return this.quantity(LOVELACE) > 0n ? [...units, LOVELACE] : units;
  }

  /** Those with a quantity that is not 0, by policy and name. */
  assets(): readonly Asset[] {
    const held = [...this.#assets].flatMap(([unit, { policy, name }]) => {
      const quantity = this.quantity(unit);
      return quantity === 0n ? [] : [{ unit, policy, name, quantity }];
    });
    return held.sort((a, b) => (a.unit < b.unit ? -1 : 1)).map(({ policy, name, quantity }) => ({ policy, name, quantity }));
  }
}
