/**
 * The chains that the command line can make itself, one for each family: `start`
 * without a source follows one, `devnet` serves one to others.
 */
import { serveRegtest } from './bitcoin/devnet-regtest.ts';
import { REGTEST, startRegtestStore } from './bitcoin/start-regtest.ts';
import { serveDevnet } from './cardano/serve-devnet.ts';
import { DEVNET, startDevnet } from './cardano/start-devnet.ts';
import type { Context } from './context.ts';

interface LocalChain {
  /** The network it is of. */
  readonly network: string;
  /** Makes it, and follows it into a store. */
  start(context: Context): Promise<void>;
  /** Makes it, and serves it as a node does. */
  serve(context: Context): Promise<void>;
}

/** Unless another is named. */
export const USUAL_CHAIN: LocalChain = { network: DEVNET, start: startDevnet, serve: serveDevnet };

export const LOCAL_CHAINS: readonly LocalChain[] = [USUAL_CHAIN, { network: REGTEST, start: startRegtestStore, serve: serveRegtest }];

/** The one of a network; null: it cannot be made here. */
export function localChain(network: string | undefined): LocalChain | null {
  return LOCAL_CHAINS.find((chain) => chain.network === network) ?? null;
}
