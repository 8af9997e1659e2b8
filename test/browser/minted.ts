/** A token with metadata in its mint (CIP-25) and one whose reference token says it in a datum (CIP-68), put into the next block of a devnet. */
import assert from 'node:assert/strict';
import type { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';

const FEE = 1_000_000n;
const LEAST = 3_000_000n;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export interface MintedTokens {
  readonly policy: string;
  /** Units. */
  readonly nft: string;
  readonly user: string;
  readonly txId: string;
}

/** The names are `Fish` and `Boat`; what is said of each is that it is little, and that it is wooden. */
export function mintTokens(devnet: LiveDevnet): MintedTokens {
  const policy = '5a'.repeat(28);
  const [nft, user, reference] = [toHex(utf8('Fish')), `000de140${toHex(utf8('Boat'))}`, `000643b0${toHex(utf8('Boat'))}`];
  const coin = [...devnet.utxos.values()].find(
    ({ assets, lovelace, addressHex }) => assets.size === 0 && lovelace > 20_000_000n && /^6/.test(addressHex),
  );
  assert.ok(coin !== undefined, 'the devnet has a plain coin');
  const address = fromHex(coin.addressHex);
  const tokens = (w: CborWriter, names: readonly string[]): void => {
    w.map(1).bytes(fromHex(policy)).map(names.length);
    for (const name of names) w.bytes(fromHex(name)).uint(1);
  };
  // Constructor 0 of a map, the version, and nothing more.
  const datum = new CborWriter().tag(121).array(3).map(1).bytes(utf8('hull')).bytes(utf8('wooden')).uint(1).bytes(new Uint8Array()).take();
  const w = new CborWriter(1024).array(4).map(4);
  w.uint(0).array(1).array(2).bytes(coin.txId).uint(coin.index);
  w.uint(1).array(2);
  w.map(3).uint(0).bytes(address).uint(1).array(2).bigUint(LEAST);
  tokens(w, [reference]);
  w.uint(2).array(2).uint(1).tag(24).bytes(datum);
  w.map(2)
    .uint(0)
    .bytes(address)
    .uint(1)
    .array(2)
    .bigUint(coin.lovelace - LEAST - FEE);
  tokens(
    w,
    [nft, user].sort((a, b) => a.length - b.length),
  );
  w.uint(2).bigUint(FEE).uint(9);
  tokens(
    w,
    [nft, reference, user].sort((a, b) => a.length - b.length),
  );
  w.map(0).bool(true);
  w.map(1).uint(721).map(1).text(policy).map(1).text('Fish').map(2).text('name').text('A little fish').text('image').text('ipfs://fish');
  const verdict = devnet.submit(w.take());
  assert.ok(
    verdict.accepted,
    JSON.stringify(verdict, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  );
  return { policy, nft: policy + nft, user: policy + user, txId: toHex(verdict.id) };
}
