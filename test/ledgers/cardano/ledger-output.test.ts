/**
 * Outputs as a node's ledger encodes them, against bytes written by hand from
 * the rules of cardano-ledger, and against every shape of output the devnet
 * makes, read with a CBOR library that is not ours.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from 'cborg';
import { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import { encodeLedgerOutput } from '../../../src/ledgers/cardano/ledger-output.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';

const ADDRESS = `60${'aa'.repeat(28)}`;
const ADDRESS_BYTES = `581d${ADDRESS}`;
const HASH = `5820${'bb'.repeat(32)}`;
const P1 = `581c${'11'.repeat(28)}`;
const P2 = `581c${'22'.repeat(28)}`;

/** Each: in a block, and of the ledger. */
const CASES: readonly (readonly [string, string, string])[] = [
  ['an array stays', `82${ADDRESS_BYTES}1864`, `82${ADDRESS_BYTES}1864`],
  ['an open array is closed', `9f${ADDRESS_BYTES}1864${HASH}ff`, `83${ADDRESS_BYTES}1864${HASH}`],
  ['a map without datum and script is an array', `bf00${ADDRESS_BYTES}011864ff`, `82${ADDRESS_BYTES}1864`],
  [
    'a map with a datum hash is an array of three',
    `a300${ADDRESS_BYTES}0118640282005820${'bb'.repeat(32)}`,
    `83${ADDRESS_BYTES}1864${HASH}`,
  ],
  [
    'an inline datum keeps its own bytes, in a map',
    `bf00${ADDRESS_BYTES}011864029f01d8185f429f0141ffffffff`,
    `a300${ADDRESS_BYTES}011864028201d818439f01ff`,
  ],
  [
    'a Plutus script in pieces is one string',
    `a300${ADDRESS_BYTES}01186403d8184982025f4201024103ff`,
    `a300${ADDRESS_BYTES}01186403d81846820243010203`,
  ],
  [
    'a native script keeps its own bytes, and a datum hash beside it stays in the map',
    `a400${ADDRESS_BYTES}0118640282005820${'bb'.repeat(32)}03d8184682009f0500ff`,
    `a400${ADDRESS_BYTES}0118640282005820${'bb'.repeat(32)}03d8184682009f0500ff`,
  ],
  ['an address in pieces is one string', `825f4160581c${'aa'.repeat(28)}ff1864`, `82${ADDRESS_BYTES}1864`],
  ['heads are the shortest', `82${ADDRESS_BYTES}1b0000000000000064`, `82${ADDRESS_BYTES}1864`],
  [
    'assets are sorted by policy and name, and none is zero',
    `82${ADDRESS_BYTES}9f1864bf${P2}a1410007${P1}bf420201014102024000ffffff`,
    `82${ADDRESS_BYTES}821864a2${P1}a241020242020101${P2}a1410007`,
  ],
  ['a value of nothing but zeros is its coin', `82${ADDRESS_BYTES}821864a1${P1}a14000`, `82${ADDRESS_BYTES}1864`],
];

describe('an output as the ledger encodes it', () => {
  for (const [what, inBlock, ofLedger] of CASES) {
    it(what, () => assert.equal(toHex(encodeLedgerOutput(fromHex(inBlock))), ofLedger));
  }

  it('a Byron address becomes a string', () => {
    const address = '82d818430102031a00000000';
    const expected = new CborWriter().array(2).bytes(fromHex(address)).uint(100).take();
    assert.equal(toHex(encodeLedgerOutput(fromHex(`82${address}1864`))), toHex(expected));
  });

  for (const count of [23, 24]) {
    it(`a map of ${count} names is ${count > 23 ? 'left open' : 'closed'}`, () => {
      const names = (w: CborWriter): CborWriter => {
        for (let i = 0; i < count; i++) w.bytes(Uint8Array.of(i)).uint(1);
        return w;
      };
      const head = fromHex(`82${ADDRESS_BYTES}821864a1${P1}`);
      const inBlock = names(new CborWriter().raw(head).map(count)).take();
      const open = names(new CborWriter().raw(head).startMap()).end().take();
      assert.equal(toHex(encodeLedgerOutput(inBlock)), toHex(count > 23 ? open : inBlock));
    });
  }

  it('of every shape the devnet makes means the same, and is encoded once and for all', () => {
    const chain = new DevnetChain({ seed: 5, txPerBlock: 6, features: { indefinite: 0.6, mapOutput: 0.7 } });
    for (let i = 0; i < 120; i++) chain.mine();
    let changed = 0;
    let maps = 0;
    for (const { output } of chain.utxos.values()) {
      const encoded = encodeLedgerOutput(output);
      assert.deepEqual(meaning(encoded), meaning(output));
      assert.equal(toHex(encodeLedgerOutput(encoded)), toHex(encoded));
      if (toHex(encoded) !== toHex(output)) changed++;
      const isMap = encoded[0] >> 5 === 5;
      if (isMap) maps++;
      const { datum, script } = meaning(encoded);
      assert.equal(isMap, script !== undefined || datum?.[0] === 1, 'a map only where an array cannot say it');
    }
    assert.ok(changed > 50 && maps > 20, `${chain.count} outputs, ${changed} encoded differently, ${maps} maps`);
  });
});

/** What an output says, however it says it. */
function meaning(output: Uint8Array): { address: unknown; coin: unknown; assets: string[]; datum: unknown[] | undefined; script: unknown } {
  const item = decode(output, { useMaps: true, tags: { 24: (inner) => toHex(inner() as Uint8Array) } });
  const map =
    item instanceof Map ? item : new Map([...(item as unknown[]).entries()].map(([i, field]) => [i, i === 2 ? [0, field] : field]));
  const value = map.get(1);
  const [coin, held] = Array.isArray(value) ? value : [value, new Map()];
  const assets: string[] = [];
  for (const [policy, names] of held) for (const [name, quantity] of names) assets.push(`${toHex(policy)}.${toHex(name)} ${quantity}`);
  return { address: map.get(0), coin: BigInt(coin), assets: assets.sort(), datum: map.get(2), script: map.get(3) };
}
