/**
 * The devnet must be trustworthy before anything is tested with it: its bytes
 * are held against a foreign CBOR decoder, its model against a second fold over
 * what that decoder read, and its rollbacks against digests taken on the way.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode, decodeFirst } from 'cborg';
import { type DevnetBlock, DevnetChain, type DevnetOptions, openDevnet } from '../../../src/chains/cardano/devnet/index.ts';
import { Random } from '../../../src/chains/random.ts';
import { blake2b256, sha256 } from '../../../src/crypto/hash.ts';
import type { Point } from '../../../src/ledgers/ledger.ts';
import type { ChainEvent } from '../../../src/sources/source.ts';
import { concatBytes, equalBytes, toHex, utf8 } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { isUnspentError } from '../../../src/util/errors.ts';

const ANCIENT: DevnetOptions = { seed: 3, byron: { epochs: 3, slotsPerEpoch: 200 } };

function mined(options: DevnetOptions, blocks: number): DevnetChain {
  const chain = new DevnetChain(options);
  for (let i = 0; i < blocks; i++) chain.mine();
  return chain;
}

/** cborg gives the content of the two tags a Conway block may hold outside byte strings. */
const CBORG = { useMaps: true, tags: { 24: (inner: () => unknown) => inner(), 258: (inner: () => unknown) => inner() } };

/** The encoded elements of an encoded array. */
function elements(array: Uint8Array): Uint8Array[] {
  const info = array[0] & 0x1f;
  assert.equal(array[0] >> 5, 4, 'an array');
  let rest = array.subarray(info === 24 ? 2 : info === 25 ? 3 : 1);
  const out: Uint8Array[] = [];
  while (rest.length > 0 && rest[0] !== 0xff) {
    const [, after] = decodeFirst(rest, CBORG);
    out.push(rest.subarray(0, rest.length - after.length));
    rest = after;
  }
  return out;
}

type Item = Uint8Array | number | bigint | null | Item[] | Map<Item, Item>;
type Body = Map<number, Item>;

/** The unspent set as cborg reads it: `[key, lovelace]`, changed in place. */
function foldWithCborg(utxos: Map<string, bigint>, raw: Uint8Array): void {
  const [, block] = elements(raw);
  const [, bodies, , , invalidPart] = elements(block);
  const invalid = new Set(decode(invalidPart, CBORG) as number[]);
  elements(bodies).forEach((bytes, i) => {
    const body = decode(bytes, CBORG) as Body;
    const id = toHex(blake2b256(bytes));
    const outputs = body.get(1) as Item[];
    const returned = body.get(16);
    for (const [txId, index] of (body.get(invalid.has(i) ? 13 : 0) as [Uint8Array, number][]) ?? []) {
      assert.ok(utxos.delete(`${toHex(txId)}#${index}`), 'spends what is unspent');
    }
    const create = (output: Item, index: number) => {
      const value = output instanceof Map ? output.get(1) : (output as Item[])[1];
      utxos.set(`${id}#${index}`, BigInt((Array.isArray(value) ? value[0] : value) as number | bigint));
    };
    if (!invalid.has(i)) outputs.forEach(create);
    else if (returned !== undefined) create(returned, outputs.length);
  });
}

function digestOf(utxos: ReadonlyMap<string, bigint>): string {
  const lines = [...utxos.keys()].sort().map((key) => `${key} ${utxos.get(key)}\n`);
  return toHex(sha256(utf8(lines.join(''))));
}

function total(values: Iterable<bigint>): bigint {
  let sum = 0n;
  for (const value of values) sum += value;
  return sum;
}

describe('devnet producer', () => {
  it('gives the same bytes for the same seed and calls', () => {
    const script = (seed: number) => {
      const chain = mined({ seed }, 60);
      chain.fork(7);
      return concatBytes(...chain.blocks.map((block) => block.raw));
    };
    assert.ok(equalBytes(script(9), script(9)));
    assert.ok(!equalBytes(script(9), script(10)));
  });

  it('links blocks, and hashes and sizes are what the bytes say', () => {
    const { blocks } = mined({ seed: 1 }, 200);
    blocks.forEach((block, i) => {
      const [era, inner] = elements(block.raw);
      const [header, ...parts] = elements(inner);
      const [fields, signature] = decode(header, CBORG) as [Item[], Uint8Array];
      assert.equal(decode(era), 7);
      assert.equal(fields.length, 10);
      assert.deepEqual(fields.slice(0, 3), [i, block.slot, i === 0 ? null : blocks[i - 1].hash]);
      assert.ok(i === 0 || block.slot > blocks[i - 1].slot);
      assert.equal(signature.length, 448);
      assert.deepEqual(block.hash, blake2b256(header));
      assert.equal(fields[6], concatBytes(...parts).length);
      assert.deepEqual(fields[7], blake2b256(concatBytes(...parts.map((part) => blake2b256(part)))));
    });
  });

  it('has every shape within 300 blocks', () => {
    for (const seed of [1, 2, 3]) {
      const missing = Object.entries(mined({ seed }, 300).shapes).filter(([, count]) => count === 0);
      assert.deepEqual(missing, [], `seed ${seed}`);
    }
  });

  it('agrees with a fold over what cborg reads', () => {
    const chain = new DevnetChain({ seed: 4, txPerBlock: 4 });
    const utxos = new Map([...chain.utxos.values()].map((utxo) => [utxo.key, utxo.lovelace]));
    for (let i = 0; i < 300; i++) foldWithCborg(utxos, chain.mine());
    assert.equal(chain.digest(), digestOf(utxos));
    assert.equal(chain.count, utxos.size);
    assert.equal(chain.value, total(utxos.values()));
  });

  it('puts genesis into the files as well', () => {
    const shelley = new DevnetChain({ seed: 1 });
    const funds = [...shelley.genesisShelley.matchAll(/"([0-9a-f]{58,})": (\d+)/g)].map(
      ([, address, lovelace]) => `${address} ${lovelace}`,
    );
    assert.deepEqual(funds.sort(), [...shelley.utxos.values()].map((utxo) => `${utxo.addressHex} ${utxo.lovelace}`).sort());
    assert.equal(JSON.parse(shelley.genesisShelley).networkMagic, 42);

    const byron = new DevnetChain(ANCIENT);
    const { nonAvvmBalances, avvmDistr } = JSON.parse(byron.genesisByron);
    const amounts = [...Object.values<string>(nonAvvmBalances), ...Object.values<string>(avvmDistr)].map(BigInt);
    assert.equal(amounts.length, byron.count);
    assert.equal(total(amounts), byron.value);
    assert.equal(amounts.filter((amount) => amount === 0n).length, 7);
  });

  for (const options of [{ seed: 6 }, ANCIENT]) {
    it(`conserves value in every transaction (seed ${options.seed})`, () => {
      for (const { txs } of mined(options, 400).blocks) for (const tx of txs) assertConserved(tx);
    });

    it(`restores its model exactly when it rolls back (seed ${options.seed})`, () => {
      const chain = new DevnetChain(options);
      const digests = [stateOf(chain)];
      const random = new Random(options.seed, 7);
      while (chain.blocks.length < 400) {
        chain.mine();
        digests.push(stateOf(chain));
        if (!random.chance(0.05)) continue;
        const dropped = chain.blocks.slice(-1 - random.int(Math.min(20, chain.blocks.length)));
        chain.rollback(dropped.length);
        digests.length = chain.blocks.length + 1;
        assert.equal(stateOf(chain), digests.at(-1));
        for (const tx of dropped.flatMap((block) => block.txs))
          for (const { key } of tx.spends) assert.equal(chain.spentBy(key), undefined);
      }
      while (chain.blocks.length > 0) {
        chain.rollback(Math.min(7, chain.blocks.length));
        assert.equal(stateOf(chain), digests[chain.blocks.length]);
      }
    });
  }

  it('mines another fork after a rollback', () => {
    const chain = mined({ seed: 1 }, 30);
    const before = chain.blocks.slice(-5).map((block) => toHex(block.hash));
    assert.equal(chain.fork(5).length, 6);
    for (const block of chain.blocks.slice(-6)) assert.ok(!before.includes(toHex(block.hash)));
  });

  it('knows who spent what', () => {
    const chain = mined({ seed: 8 }, 50);
    for (const { txs, height } of chain.blocks) {
      txs.forEach((tx, txIndex) => {
        tx.spends.forEach(({ key }, inputIndex) => {
          assert.deepEqual(chain.spentBy(key), { txId: tx.id, inputIndex, txIndex, height, slot: chain.blocks[height].slot });
        });
      });
    }
  });
});

describe('devnet of all eras', () => {
  const chain = mined(ANCIENT, 400);

  it('begins with Byron epochs, each opened by a boundary block', () => {
    const byron = chain.blocks.filter((block) => block.era <= 1);
    assert.deepEqual(
      byron.filter((block) => block.boundary).map((block) => block.slot),
      [0, 200, 400],
    );
    byron.forEach((block, i) => {
      const [kind, inner] = elements(block.raw);
      const [header] = elements(inner);
      const prev = i === 0 ? blake2b256(utf8(chain.genesisByron)) : byron[i - 1].hash;
      assert.equal(decode(kind), block.boundary ? 0 : 1);
      assert.deepEqual((decode(header, CBORG) as Item[])[1], prev);
      assert.deepEqual(block.hash, blake2b256(concatBytes(Uint8Array.of(0x82, block.boundary ? 0 : 1), header)));
      if (i > 0) assert.equal(block.height, byron[i - 1].height + (block.boundary ? 0 : 1));
    });
  });

  it('walks through every era, with the header and the parts of each', () => {
    assert.deepEqual([...new Set(chain.blocks.map((block) => block.era))], [0, 1, 2, 3, 4, 5, 6, 7]);
    for (const block of chain.blocks.filter(({ era }) => era > 1)) {
      const parts = elements(elements(block.raw)[1]);
      assert.equal((decode(parts[0], CBORG) as Item[][])[0].length, block.era < 6 ? 15 : 10);
      assert.equal(parts.length, block.era < 5 ? 4 : 5);
    }
  });

  it('drops zero outputs at Shelley and redeem outputs at Allegra', () => {
    const fresh = new DevnetChain(ANCIENT);
    const seen: Record<number, { zero: number; redeem: number }> = {};
    for (let i = 0; i < 400; i++) {
      fresh.mine();
      const left = [...fresh.utxos.values()];
      seen[fresh.tip!.era] ??= {
        zero: left.filter(({ lovelace }) => lovelace === 0n).length,
        redeem: left.filter(({ redeem }) => redeem).length,
      };
    }
    assert.equal(seen[1].zero, 7);
    assert.equal(seen[2].zero, 0);
    assert.ok(seen[2].redeem > 0);
    assert.equal(seen[3].redeem, 0);
  });
});

describe('devnet source', () => {
  const URL = 'devnet:?blocks=1500&seed=5&rollbacks=3';
  const never = new AbortController().signal;

  async function read(url: string, from: readonly Point[] = []): Promise<ChainEvent[]> {
    const events: ChainEvent[] = [];
    for await (const run of openDevnet(url).runs({ from, follow: false, signal: never })) events.push(...run.events);
    return events;
  }

  /** The same story, told by the chain itself. */
  async function story(url: string): Promise<{ chain: DevnetChain; told: DevnetBlock[]; events: ChainEvent[] }> {
    const chain = new DevnetChain({ seed: 5 });
    const told: DevnetBlock[] = [];
    const events = await read(url);
    for (const event of events) {
      if (event.kind === 'forward') assert.ok(equalBytes(chain.mine(), event.raw));
      else chain.rollback(chain.tip!.height - (event.point?.height ?? -1));
      if (event.kind === 'back') assert.deepEqual(chain.tip?.hash, event.point?.hash);
      told.push(chain.tip!);
    }
    return { chain, told, events };
  }

  it('tells the chain with its reorganisations, and the tip in advance', async () => {
    const { chain, events } = await story(URL);
    assert.equal(chain.blocks.length, 1500);
    assert.equal(events.filter((event) => event.kind === 'back').length, 3);
    let atTip = false;
    for await (const run of openDevnet(URL).runs({ from: [], follow: false, signal: never })) {
      assert.deepEqual(run.tip, { slot: chain.tip!.slot, height: 1499 });
      assert.ok(run.events.length <= 100 && !atTip);
      atTip = run.atTip;
    }
    assert.ok(atTip);
  });

  it('continues after any point it has told, abandoned forks included', async () => {
    const { told, events } = await story(URL);
    const turn = events.findIndex((event) => event.kind === 'back');
    for (const at of [0, 99, turn - 1, turn + 1, turn + 5, events.length - 1]) {
      assert.deepEqual(await read(URL, [told[at]]), events.slice(at + 1), `after event ${at}`);
    }
  });

  it('is continued by a longer chain', async () => {
    const { told, events } = await story('devnet:?blocks=300&seed=5&rollbacks=3');
    const longer = await read(URL);
    assert.deepEqual(longer.slice(0, events.length), events);
    assert.deepEqual(await read(URL, [told.at(-1)!]), longer.slice(events.length));
  });

  it('goes back to the newest point it knows, and refuses when it knows none', async () => {
    const { told, events } = await story(URL);
    const stranger = { height: 120, slot: 2400, hash: new Uint8Array(32) };
    assert.deepEqual(await read(URL, [stranger, told[100], told[50]]), [{ kind: 'back', point: told[100] }, ...events.slice(101)]);
    await assert.rejects(read(URL, [stranger]), (error) => isUnspentError(error, 'SOURCE_FORK'));
  });

  it('mines on while followed, until the reader leaves', async () => {
    const stop = new AbortController();
    const heights: (number | undefined)[] = [];
    for await (const run of openDevnet('devnet:?blocks=5&interval=1').runs({ from: [], follow: true, signal: stop.signal })) {
      heights.push(run.tip?.height);
      if (heights.length === 2) stop.abort();
    }
    assert.deepEqual(heights, [4, 5]);
  });

  it('refuses what it does not understand', () => {
    assert.throws(
      () => openDevnet('rpc:'),
      (error) => isUnspentError(error, 'SOURCE_UNKNOWN'),
    );
    for (const url of ['devnet:?block=1', 'devnet:?blocks=-1', 'devnet:?blocks=0', 'devnet:?seed=x', 'devnet:/x']) {
      assert.throws(
        () => openDevnet(url),
        (error) => isUnspentError(error, 'USAGE'),
        url,
      );
    }
  });
});

describe('CBOR writer', () => {
  it('writes what cborg reads, in the shortest form', () => {
    const ints = [0n, 23n, 24n, 255n, 256n, 65_535n, 65_536n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n];
    for (const n of ints) {
      const bytes = new CborWriter(1).int(n).take();
      assert.equal(BigInt(decode(bytes) as number | bigint), n);
      assert.equal(bytes.length, n < 24n ? 1 : n < 256n ? 2 : n < 65_536n ? 3 : n < 2n ** 32n ? 5 : 9);
      assert.equal(BigInt(decode(new CborWriter().int(-1n - n).take()) as number | bigint), -1n - n);
    }
    assert.equal(toHex(new CborWriter().bigUint(2n ** 64n).take()), 'c249010000000000000000');
    assert.equal(toHex(new CborWriter().negative(-1n - 2n ** 64n).take()), 'c349010000000000000000');
  });

  it('nests, and is empty after take', () => {
    const w = new CborWriter(1).array(4).text('é').bool(true).null().startArray().bool(false).map(1).uint(1).bytes(Uint8Array.of(7)).end();
    assert.deepEqual(decode(w.take(), CBORG), ['é', true, null, [false, new Map([[1, Uint8Array.of(7)]])]]);
    assert.equal(w.length, 0);
    assert.equal(toHex(w.startBytes().bytes(Uint8Array.of(1)).end().take()), '5f4101ff');
    assert.equal(toHex(w.startMap().uint(1).encoded(Uint8Array.of(0xa0)).end().take()), 'bf01d81841a0ff');
  });
});

function stateOf(chain: DevnetChain): string {
  return `${chain.digest()} ${chain.count} ${chain.value} ${chain.tip === undefined ? '' : toHex(chain.tip.hash)}`;
}

function assertConserved({ spends, creates, fee, mint, valid }: DevnetBlock['txs'][number]): void {
  assert.equal(total(spends.map(({ lovelace }) => lovelace)), total(creates.map(({ lovelace }) => lovelace)) + fee);
  assert.ok(fee > 0n && (valid || mint.size === 0));
  const balance = new Map(mint);
  const add = (asset: string, quantity: bigint) => balance.set(asset, (balance.get(asset) ?? 0n) + quantity);
  for (const { assets } of spends) for (const [asset, quantity] of assets) add(asset, quantity);
  for (const { assets } of creates) for (const [asset, quantity] of assets) add(asset, -quantity);
  for (const [asset, rest] of balance) assert.equal(rest, 0n, asset);
}
