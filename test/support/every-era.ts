/** A devnet that has been through every era, from Byron with its boundary blocks to Conway: the smallest chain that shows them all. */
import { DevnetChain } from '../../src/chains/cardano/devnet/index.ts';

export const EVERY_ERA_BLOCKS = 240;

export function mineEveryEra(seed: number): DevnetChain {
  const chain = new DevnetChain({ seed, addresses: 3, txPerBlock: 1, byron: { epochs: 2, slotsPerEpoch: 600 } });
  while (chain.blocks.length < EVERY_ERA_BLOCKS) chain.mine();
  return chain;
}
