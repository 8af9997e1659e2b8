/**
 * From a network's name to its family, and to the network itself. The only list
 * of families: a new one is a descriptor and a line here.
 */
import type { FamilyName } from '../proofs/index.ts';
import type { GenesisTexts } from '../sources/source.ts';
import { UnspentError } from '../util/errors.ts';
import { didYouMean } from '../util/suggest.ts';
import { bitcoin } from './bitcoin.ts';
import { cardano } from './cardano.ts';
import type { Family, Network, NetworkParameters } from './family.ts';

export const FAMILIES: readonly Family[] = [cardano, bitcoin];

/** The names of all networks that a store can be of. */
export function networkNames(): string[] {
  return FAMILIES.flatMap(({ networks }) => networks.map(({ name }) => name));
}

/** The family of that name; undefined: there is none. */
export function familyNamed(name: FamilyName): Family;
export function familyNamed(name: unknown): Family | undefined;
export function familyNamed(name: unknown): Family | undefined {
  return FAMILIES.find((family) => family.name === name);
}

/** Which family a network is of. Throws NETWORK_UNKNOWN. */
export function familyOfNetwork(name: string): Family {
  return known(name).family;
}

/** `remembered` are the parameters of an existing store, `genesis` the texts of genesis files if any were given. Throws NETWORK_UNKNOWN, GENESIS_WRONG. */
export function openNetwork(name: string, genesis: GenesisTexts | null, remembered?: NetworkParameters): Network {
  const { family, parameters } = known(name);
  return family.open(parameters, { genesis, remembered });
}

/** As this program knows it by its name. */
function known(name: string): { readonly family: Family; readonly parameters: NetworkParameters } {
  for (const family of FAMILIES) {
    const parameters = family.networks.find((network) => network.name === name);
    if (parameters !== undefined) return { family, parameters };
  }
  const meant = didYouMean(name, networkNames());
  throw new UnspentError('NETWORK_UNKNOWN', `no network '${name}'; there are ${networkNames().join(', ')}${meant}`, { name });
}
