/**
 * Cages that the devnet makes, before a store sees them: the chain follows from
 * its seed, value is conserved, and the account goes back exactly.
 * Whether blocks say what the account says is asked in `test/model/cage.test.ts`.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CageModel } from '../../../src/chains/cardano/devnet/cage/model.ts';
import { DevnetChain, openDevnet } from '../../../src/chains/cardano/devnet/index.ts';
import { Random } from '../../../src/chains/random.ts';
import { sha256 } from '../../../src/crypto/hash.ts';
import { concatBytes, equalBytes, toHex } from '../../../src/util/bytes.ts';

function mined(seed: number, blocks: number, cages = true): DevnetChain {
  const chain = new DevnetChain({ seed, cages });
  for (let i = 0; i < blocks; i++) chain.mine();
  return chain;
}

const bytesOf = (chain: DevnetChain): Uint8Array => concatBytes(...chain.blocks.map(({ raw }) => raw));

/** Everything in the account, as text. */
function textOf({ tokens, requests, litter, malformed }: CageModel): string {
  const plain = (_: string, value: unknown): unknown => {
    if (value instanceof Map) return [...value].sort();
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return typeof value === 'bigint' ? `${value}` : value;
  };
  return JSON.stringify([tokens, requests, litter, malformed], plain);
}

describe('cages of the devnet', () => {
  it('follow from the seed and the calls', () => {
    const story = (seed: number): Uint8Array => {
      const chain = mined(seed, 80);
      chain.fork(9);
      return bytesOf(chain);
    };
    assert.ok(equalBytes(story(3), story(3)));
    assert.ok(!equalBytes(story(3), story(4)));
  });

  it('are not there unless asked for', () => {
    const plain = new DevnetChain({ seed: 3 });
    for (let i = 0; i < 40; i++) plain.mine();
    assert.equal(plain.cages, null);
    assert.equal(
      toHex(sha256(bytesOf(plain))),
      '9c54b2e6606a8bdb3f87def0324e977ef868ea4d96fa18c72a477bbbc551fe38',
      'a chain of a known seed stays as it is: a change of it needs another title of the journal',
    );
  });

  it('conserve value, and make and burn one token a transaction', () => {
    for (const tx of mined(5, 300)
      .blocks.flatMap(({ txs }) => txs)
      .filter(({ valid }) => valid)) {
      const sum = (coins: readonly { readonly lovelace: bigint }[]): bigint => coins.reduce((all, { lovelace }) => all + lovelace, 0n);
      assert.equal(sum(tx.spends), sum(tx.creates) + tx.fee);
      const assets = new Map(tx.mint);
      for (const [coins, sign] of [
        [tx.spends, 1n],
        [tx.creates, -1n],
      ] as const) {
        for (const coin of coins) for (const [unit, quantity] of coin.assets) assets.set(unit, (assets.get(unit) ?? 0n) + sign * quantity);
      }
      assert.ok(
        [...assets.values()].every((rest) => rest === 0n),
        tx.id,
      );
    }
  });

  it('are accounted for exactly when blocks are forgotten', () => {
    const chain = new DevnetChain({ seed: 7, cages: true });
    const texts = [textOf(chain.cages!)];
    const random = new Random(7, 1);
    while (chain.blocks.length < 250) {
      chain.mine();
      texts.push(textOf(chain.cages!));
      if (!random.chance(0.03)) continue;
      chain.rollback(1 + random.int(Math.min(30, chain.blocks.length)));
      texts.length = chain.blocks.length + 1;
      assert.equal(textOf(chain.cages!), texts.at(-1));
    }
    while (chain.blocks.length > 0) {
      chain.rollback(Math.min(7, chain.blocks.length));
      assert.equal(textOf(chain.cages!), texts[chain.blocks.length]);
    }
  });

  it('keep what they hold from the payers of the devnet', () => {
    const chain = mined(9, 200);
    const held = [...chain.cages!.tokens.values(), ...chain.cages!.requests.values()];
    assert.ok(held.length > 10);
    for (const { ref } of held) assert.equal(chain.utxos.get(ref)?.foreign, true);
  });

  it('are an option of the source', async () => {
    const read = async (url: string): Promise<Uint8Array> => {
      const parts: Uint8Array[] = [];
      for await (const { events } of openDevnet(url).runs({ from: [], follow: false, signal: new AbortController().signal })) {
        for (const event of events) if (event.kind === 'forward') parts.push(event.raw);
      }
      return concatBytes(...parts);
    };
    assert.ok(equalBytes(await read('devnet:?blocks=50&seed=3&cages=1&rollbacks=0'), bytesOf(mined(3, 50))));
    assert.ok(equalBytes(await read('devnet:?blocks=50&seed=3&rollbacks=0'), bytesOf(mined(3, 50, false))));
  });
});
