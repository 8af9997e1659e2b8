/**
 * The blueprint of a cage (`cage.blueprint`, CIP-57) as a setting of the store:
 * what the file says becomes `cage.deployments`, which the store then remembers
 * by itself. So the file is needed only to make a store, and is checked against
 * it wherever it is named again.
 */
import { type Config, isGiven, withValues } from '../../config/schema.ts';
import { readRegular } from '../../files/regular.ts';
import { cageFromBlueprint, formatCageDeployments } from '../../ledgers/cardano/cage/index.ts';
import { UnspentError } from '../../util/errors.ts';
import { BLUEPRINT_FILE_BYTES_MAX } from '../../util/limits.ts';

/** The settings with the deployments that the blueprint gives, where one is named. Throws CONFIG. */
export function withBlueprint(config: Config): Config {
  const { enabled, blueprint: file } = config.cage;
  if (file === '' || !config.utxo.enabled || !enabled) return config;
  if (isGiven(config, 'cage.deployments')) {
    throw new UnspentError('CONFIG', 'cage.blueprint and cage.deployments both say which cages to follow: give one of them', { file });
  }
  return withValues(config, { 'cage.deployments': deploymentsIn(file) });
}

function deploymentsIn(file: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      readRegular(file, { bytesMax: BLUEPRINT_FILE_BYTES_MAX, links: 'follow' }),
    );
    return formatCageDeployments([cageFromBlueprint(JSON.parse(text))]);
  } catch (cause) {
    throw new UnspentError('CONFIG', `cage.blueprint: ${file} cannot be used: ${(cause as Error).message}`, { file }, cause);
  }
}
