/**
 * The genesis files that come with a node, found in a folder by the names nodes
 * and their packages give them: `byron-genesis.json`, `<network>-byron-genesis.json`
 * and the like.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../../files/regular.ts';
import { UnspentError } from '../../util/errors.ts';
import { GENESIS_FILE_BYTES_MAX } from '../../util/limits.ts';
import type { GenesisTexts } from '../source.ts';

/** Throws GENESIS_NEEDED when the folder cannot be read or lacks one of the two. */
export function readGenesisFiles(folder: string, network: string): GenesisTexts {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    throw new UnspentError('GENESIS_NEEDED', `the genesis folder ${folder} cannot be read: ${(cause as Error).message}`, { folder }, cause);
  }
  return { byron: readOne(folder, names, network, 'byron'), shelley: readOne(folder, names, network, 'shelley') };
}

function readOne(folder: string, names: readonly string[], network: string, era: string): string {
  const candidates = names.filter((name) => name.endsWith('.json') && name.includes(era) && !name.startsWith('expected'));
  const exact = candidates.find((name) => name === `${era}-genesis.json` || name === `${era}.json`);
  const ofNetwork = candidates.find((name) => name.startsWith(`${network}-`));
  const only = candidates.length === 1 ? candidates[0] : undefined;
  const chosen = exact ?? ofNetwork ?? only;
  if (chosen === undefined) {
    const found = candidates.length === 0 ? 'no such file' : `several files: ${candidates.join(', ')}`;
    throw new UnspentError('GENESIS_NEEDED', `${folder} has no ${era}-genesis.json of '${network}' (${found})`, { folder, era });
  }
  try {
    return new TextDecoder().decode(readRegular(join(folder, chosen), { bytesMax: GENESIS_FILE_BYTES_MAX, links: 'follow' }));
  } catch (cause) {
    throw new UnspentError('GENESIS_NEEDED', `${join(folder, chosen)} cannot be read: ${(cause as Error).message}`, { folder }, cause);
  }
}
