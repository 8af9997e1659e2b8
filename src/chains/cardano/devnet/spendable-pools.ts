/**
 * What can be spent next, in pools from which a random coin is drawn in
 * constant time. Each unspent output is in one pool at most, so a shape that
 * needs tokens or a huge coin finds one without a search.
 */

import type { Random } from '../../random.ts';
import type { ModelUtxo, Watcher } from './model.ts';

/** Above this a JavaScript number is no longer exact. */
export const HUGE = 1n << 53n;

/** A set with random access: removal moves the last item into the gap. */
class Pool {
  private readonly items: ModelUtxo[] = [];
  private readonly places = new Map<string, number>();

  get size(): number {
    return this.items.length;
  }

  add(utxo: ModelUtxo): void {
    this.places.set(utxo.key, this.items.length);
    this.items.push(utxo);
  }

  remove(utxo: ModelUtxo): void {
    const place = this.places.get(utxo.key)!;
    const last = this.items.pop()!;
    this.places.delete(utxo.key);
    if (last.key === utxo.key) return;
    this.items[place] = last;
    this.places.set(last.key, place);
  }

  /** Up to `n` different outputs, none of them among `except`. */
  draw(random: Random, n: number, except: readonly ModelUtxo[] = []): ModelUtxo[] {
    const drawn: ModelUtxo[] = [];
    for (let tries = 0; this.items.length > 0 && drawn.length < n && tries < 4 * n; tries++) {
      const utxo = random.pick(this.items);
      if (!drawn.includes(utxo) && !except.includes(utxo)) drawn.push(utxo);
    }
    return drawn;
  }
}

export class SpendablePools implements Watcher {
  readonly coins = new Pool();
  readonly tokens = new Pool();
  readonly huge = new Pool();
  /** At redeem addresses; only Byron transactions draw from here. */
  readonly redeem = new Pool();

  added(utxo: ModelUtxo): void {
    this.poolOf(utxo)?.add(utxo);
  }

  removed(utxo: ModelUtxo): void {
    this.poolOf(utxo)?.remove(utxo);
  }

  private poolOf(utxo: ModelUtxo): Pool | null {
    if (utxo.lovelace === 0n || utxo.foreign === true) return null;
    if (utxo.redeem) return this.redeem;
    if (utxo.lovelace > HUGE) return this.huge;
    return utxo.assets.size > 0 ? this.tokens : this.coins;
  }
}
