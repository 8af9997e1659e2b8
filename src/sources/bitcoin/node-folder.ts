/**
 * Where a node of the family keeps its data when nobody told it otherwise: one
 * folder a program, and inside it one for each network but the main one.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { BitcoinNetwork } from '../../ledgers/bitcoin/index.ts';

/** Inside the data folder of its program; empty: the folder itself. */
const SUBFOLDERS: Readonly<Record<string, string>> = {
  'bitcoin-testnet3': 'testnet3',
  'bitcoin-testnet4': 'testnet4',
  'bitcoin-signet': 'signet',
  'bitcoin-regtest': 'regtest',
  'litecoin-testnet': 'testnet4',
  'litecoin-regtest': 'regtest',
};

/** The folder of the network inside a data folder; empty for a main network. */
export function networkFolder({ name }: BitcoinNetwork): string {
  return SUBFOLDERS[name] ?? '';
}

/** The data folder of the network on this system, whether it is there or not. */
export function usualFolder(network: BitcoinNetwork): string {
  return join(programFolder(network.unit === 'LTC' ? 'Litecoin' : 'Bitcoin'), networkFolder(network));
}

function programFolder(program: string): string {
  if (process.platform === 'win32') return join(process.env['APPDATA'] ?? homedir(), program);
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', program);
  return join(homedir(), `.${program.toLowerCase()}`);
}
