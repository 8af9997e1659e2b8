/**
 * A devnet that a test mines and forks, the addresses on it, and a store that
 * becomes what the chain is; and what a store and a wallet say of outputs, in one
 * form, so that they can be compared.
 */
import { DevnetChain } from '../../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatAddress, readAddress, stakeAddressOf } from '../../src/ledgers/cardano/index.ts';
import type { UtxoJson } from '../../src/query/json.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { equalBytes, fromHex } from '../../src/util/bytes.ts';
import type { WalletCoinJson } from '../../src/wallet/documents.ts';

export class DevnetStore {
  readonly chain: DevnetChain;
  readonly data: string;
  readonly #set: readonly string[];

  /** `set`: settings, as `KEY=VALUE`. */
  constructor(data: string, seed: number, set: readonly string[] = []) {
    this.#set = set;
    this.chain = new DevnetChain({ seed, txPerBlock: 4 });
    this.data = data;
  }

  /** With all blocks of the chain. */
  async open(): Promise<OpenStore> {
    const { genesisByron: byron, genesisShelley: shelley } = this.chain;
    const { config } = loadConfig({ flags: { set: this.#set }, env: {} });
    const store = await openStore({ data: this.data, network: 'devnet', genesis: { byron, shelley }, config });
    applyDevnet(store, this.chain);
    return store;
  }

  mine(blocks: number): void {
    for (let i = 0; i < blocks; i++) this.chain.mine();
  }

  /** That have outputs now, as text, in the order of the chain's own account. */
  addresses(): string[] {
    const owners = new Set([...this.chain.utxos.values()].map(({ addressHex }) => addressHex));
    return [...owners]
      .map((hex) => fromHex(hex))
      .filter((address) => readAddress(address).kind !== 'unknown')
      .map(formatAddress);
  }

  /** What the chain itself says is unspent at these addresses, as `utxoLine` and `coinLine` have it. */
  lines(addresses: readonly string[]): string[] {
    const own = new Set(addresses);
    return [...this.chain.utxos.values()]
      .map(({ key, addressHex, lovelace, assets }) => ({ key, owner: formatAddress(fromHex(addressHex)), lovelace, assets }))
      .filter(({ owner }) => own.has(owner))
      .map(({ key, owner, lovelace, assets }) => {
        const held = [...assets].map(([unit, quantity]) => ({ unit: unit.replace('.', ''), quantity: `${quantity}` }));
        return line(key, owner, [{ unit: 'lovelace', quantity: `${lovelace}` }, ...held]);
      })
      .sort();
  }

  /** Of the stake credentials in those addresses. */
  stakeAddresses(): string[] {
    const owners = [...this.chain.utxos.values()].map(({ addressHex }) => stakeAddressOf(fromHex(addressHex)));
    return [...new Set(owners.flatMap((stake) => (stake === null ? [] : [formatAddress(stake)])))];
  }
}

/** The store becomes what the chain is. */
export function applyDevnet(store: OpenStore, { blocks }: DevnetChain): void {
  const { fold, network } = store;
  const isOn = ({ height, hash }: { height: number; hash: Uint8Array }): boolean =>
    blocks[height] !== undefined && equalBytes(blocks[height].hash, hash);
  while (fold.head !== null && !isOn(fold.head)) store.rollback(store.locate(`height:${fold.head.height - 1}`));
  for (const { raw } of blocks.slice((fold.head?.height ?? -1) + 1)) fold.apply([network.ledger.decode(raw)]);
}

/** As the native API tells it. */
export function utxoLine({ tx_hash, output_index, owner_addr, amounts }: UtxoJson): string {
  return line(`${tx_hash}#${output_index}`, owner_addr ?? '', amounts);
}

/** As a wallet tells it. */
export function coinLine({ outpoint, address, amount, assets = [] }: WalletCoinJson): string {
  return line(outpoint, address ?? '', [{ unit: 'lovelace', quantity: amount }, ...assets]);
}

function line(outpoint: string, owner: string, amounts: readonly { readonly unit: string; readonly quantity: string }[]): string {
  const held = amounts.map(({ unit, quantity }) => `${unit}:${quantity}`).sort();
  return `${outpoint} ${owner} ${held.join()}`;
}
