/**
 * What clients of other APIs are tried on: a server that listens, over a devnet with
 * the largest quantity there is, an asset without a name, and a script with its
 * datum. The devnet's model says what should be found.
 */

import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { blake2b224 } from '../../src/crypto/hash.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { makeOutputs, QUANTITY_MAX } from './kupo-match.ts';
import { Served } from './served.ts';

/** Of the projections, what these APIs read. */
export const CLIENT_KEEPS: readonly string[] = [
  'chain',
  'transactions',
  'utxo',
  'index.address',
  'index.payment',
  'index.stake',
  'index.policy',
  'index.asset',
  'datums',
  'scripts',
];

const POLICY = '77'.repeat(28);
/** The script that always succeeds, compiled for Plutus V3. */
const CODE = '450101002499';

export interface ClientStage {
  readonly served: Served;
  /** Of the server, without a slash behind it. */
  readonly origin: string;
  /** Those the devnet made, by `TXID#INDEX`; without those of Byron addresses, which the clients do not read. */
  readonly utxos: ReadonlyMap<string, ModelUtxo>;
  /** The largest quantity, of an asset without a name. */
  readonly largest: { readonly unit: string; readonly quantity: bigint };
  /** The second output of this transaction carries a script and its datum. */
  readonly script: { readonly txId: string; readonly hash: string; readonly code: string; readonly datum: string };
  byAddress(): ReadonlyMap<string, readonly ModelUtxo[]>;
  /** Assets that no Byron address holds, as `POLICY.NAME`. */
  units(): readonly string[];
  close(): Promise<void>;
}

export async function setClientStage(): Promise<ClientStage> {
  const served = await Served.open({ blocks: 40, seed: 3, store: { keeps: CLIENT_KEEPS } });
  const { origin } = await served.listen();
  const owner = `60${'ee'.repeat(28)}`;
  const scriptRef = `8203${'46'}${CODE}`;
  const txId = makeOutputs(served, [
    { address: owner, lovelace: 2_000_000n, assets: { [`${POLICY}.`]: QUANTITY_MAX } },
    { address: owner, lovelace: 3_000_000n, assets: {}, inlineDatum: 'd87980', scriptRef },
  ]);
  const [byron, shelley] = [true, false].map((wanted) => [...served.devnet.chain.utxos].filter(([, utxo]) => isByron(utxo) === wanted));
  const utxos = new Map(shelley);
  const inByron = new Set(byron.flatMap(([, { assets }]) => [...assets.keys()]));
  return {
    served,
    origin,
    utxos,
    largest: { unit: POLICY, quantity: QUANTITY_MAX },
    script: { txId, hash: toHex(blake2b224(fromHex(`03${CODE}`))), code: CODE, datum: 'd87980' },
    byAddress: () => Map.groupBy(utxos.values(), ({ addressHex }) => addressHex),
    units: () => [...new Set(shelley.flatMap(([, { assets }]) => [...assets.keys()]))].filter((unit) => !inByron.has(unit)),
    close: () => served.close(),
  };
}

function isByron({ addressHex }: ModelUtxo): boolean {
  return addressHex.startsWith('8');
}
