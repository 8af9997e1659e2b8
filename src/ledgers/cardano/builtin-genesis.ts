/**
 * Genesis of the test networks that need no file: the facts that make outputs
 * and the hashes that name the files they come from. Mainnet's 14,505 AVVM
 * entries are not here; it asks for its files (GENESIS_NEEDED).
 *
 * Source: byron-genesis.json and shelley-genesis.json of each network, as
 * published with cardano-node. Neither has AVVM entries or initialFunds.
 */
import { byronGrants, type GenesisUtxos } from './genesis.ts';

export interface BuiltinGenesis {
  readonly magic: number;
  /** Hex, of the files (`byronGenesisHash`, `shelleyGenesisHash`). */
  readonly byronHash: string;
  readonly shelleyHash: string;
  readonly nonAvvmBalances: Readonly<Record<string, string>>;
}

const BUILTIN: Readonly<Record<string, BuiltinGenesis>> = {
  preprod: {
    magic: 1,
    byronHash: 'd4b8de7a11d929a323373cbab6c1a9bdc931beffff11db111cf9d57356ee1937',
    shelleyHash: '162d29c4e1cf6b8a84f2d692e67a3ac6bc7851bc3e6e4afe64d15778bed8bd86',
    nonAvvmBalances: {
      FHnt4NL7yPXhCzCHVywZLqVsvwuG3HvwmjKXQJBrXh3h2aigv6uxkePbpzRNV8q: '0',
      FHnt4NL7yPXuJGViM3KwSPwrwECD9q5vNetX3QJDYRWgiX3RHi5i5VV32dnETDK: '0',
      FHnt4NL7yPXuYUxBF33VX5dZMBDAab2kvSNLRzCskvuKNCSDknzrQvKeQhGUw5a: '30000000000000000',
      FHnt4NL7yPY8exfnuJ8ACyoU7xCN93tKXSv357UrTp1nddGbkWxJpQfrt62xYFX: '0',
      FHnt4NL7yPYFpVcAXZADrKdsqCAFvcRFYkTcqkn2guGmj8akQMiMVjhSUECvD1F: '0',
      FHnt4NL7yPYH2vP2FLEfH2pt3K6meM7fgtjRiLBidaqpP5ogPzxLNsZy68e1KdW: '0',
      FHnt4NL7yPYHrcxPtPufYYFWLhqvHGnZ5NFSz2KZpWQgSq4VLsUgWnkEmfUtd1E: '0',
      FHnt4NL7yPYJiN5Y8VsQr6LP6YgN51BHBPegNjVwKkq6AooCkbTpfZ2bqkVkfXU: '0',
    },
  },
  preview: {
    magic: 2,
    byronHash: '83de1d7302569ad56cf9139a41e2e11346d4cb4a31c00142557b6ab3fa550761',
    shelleyHash: '363498d1024f84bb39d3fa9593ce391483cb40d479b87233f868d6e57c3a400d',
    nonAvvmBalances: {
      FHnt4NL7yPXjpZtYj1YUiX9QYYUZGXDT9gA2PJXQFkTSMx3EgawXK5BUrCHdhe2: '0',
      FHnt4NL7yPXk7D87qAWEmfnL7wSQ9AzBU2mjZt3eM48NSCbygxgzAU6vCGiRZEW: '0',
      FHnt4NL7yPXpazQsTdJ3Gp1twQUo4N5rrgGbRNSzchjchPiApc1k4CvqDMcdd7H: '0',
      FHnt4NL7yPXtNo1wLCLZyGTMfAvB14h8onafiYkM7B69ZwvGgXeUyQWfi7FPrif: '0',
      FHnt4NL7yPXtmi4mAjD43V3NB3shDs1gCuHNcMLPsRWjaw1b2yRV2xad8S8V6aq: '0',
      FHnt4NL7yPXvDWHa8bVs73UEUdJd64VxWXSFNqetECtYfTd9TtJguJ14Lu3feth: '30000000000000000',
      FHnt4NL7yPXvNSRpCYydjRr7koQCrsTtkovk5uYMimgqMJX2DyrEEBqiXaTd8rG: '0',
      FHnt4NL7yPY9rTvdsCeyRnsbzp4bN7XdmAZeU5PzA1qR2asYmN6CsdxJw4YoDjG: '0',
    },
  },
};

/** Undefined when the network's genesis has to come from files. */
export function builtinGenesis(network: string): BuiltinGenesis | undefined {
  return Object.hasOwn(BUILTIN, network) ? BUILTIN[network] : undefined;
}

export function builtinGenesisUtxos(network: string): GenesisUtxos | undefined {
  const genesis = builtinGenesis(network);
  if (genesis === undefined) return undefined;
  const { magic, nonAvvmBalances } = genesis;
  return { byron: byronGrants({ magic, nonAvvmBalances, avvmDistr: {} }), shelley: [] };
}
