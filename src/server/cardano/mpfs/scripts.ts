/**
 * The code of the scripts of cages, for transactions that the server builds: from
 * the blueprints that the settings name, from what the store has seen on chain
 * (`utxo.scripts`), and the devnet's own. A script is known by its hash, so it
 * does not matter where its code comes from.
 */
import type { Config } from '../../../config/schema.ts';
import { readRegular } from '../../../files/regular.ts';
import { codesInBlueprint, DEVNET_CAGE, DEVNET_STATE_CODE, plutusV3Hash } from '../../../ledgers/cardano/cage/index.ts';
import { readScriptRef } from '../../../ledgers/cardano/describe.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { BLUEPRINT_FILE_BYTES_MAX } from '../../../util/limits.ts';

/** The projection that keeps scripts by their hash. */
const SCRIPTS = 'scripts';

export class CageScripts {
  private readonly codes = new Map([[toHex(DEVNET_CAGE.stateScriptHash), DEVNET_STATE_CODE]]);
  /** By the hash of each script that is in it. */
  private readonly blueprints = new Map<string, object>();
  private readonly keepsScripts: boolean;

  /** Throws CONFIG where a file cannot be used. */
  constructor({ cage }: Config, projections: readonly string[]) {
    this.keepsScripts = projections.includes(SCRIPTS);
    for (const file of [cage.blueprint, ...cage.scripts.split(',')]) if (file.trim() !== '') this.read(file.trim());
  }

  private read(file: string): void {
    try {
      const bytes = readRegular(file, { bytesMax: BLUEPRINT_FILE_BYTES_MAX, links: 'follow' });
      const blueprint = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as object;
      for (const [hash, code] of codesInBlueprint(blueprint)) {
        this.codes.set(hash, code);
        this.blueprints.set(hash, blueprint);
      }
    } catch (cause) {
      throw new UnspentError('CONFIG', `cage.scripts: ${file} cannot be used: ${(cause as Error).message}`, { file }, cause);
    }
  }

  /** The blueprint that has this script; null: none that was named. */
  blueprint(hash: Uint8Array): object | null {
    return this.blueprints.get(toHex(hash)) ?? null;
  }

  /** The compiled code of a script. Throws UNSUPPORTED where nobody has said it, INDEX_NOT_READY where it may still turn up. */
  code(query: Query, hash: Uint8Array): Uint8Array {
    const known = this.codes.get(toHex(hash)) ?? this.seen(query, hash);
    if (known !== null) return known;
    const message = `the code of the state script ${toHex(hash)} is not known here: name the file of its blueprint in cage.scripts`;
    throw new UnspentError('UNSUPPORTED', message, { setting: 'cage.scripts', script: toHex(hash) });
  }

  private seen(query: Query, hash: Uint8Array): Uint8Array | null {
    const found = this.keepsScripts ? query.script(hash) : null;
    if (found === null) return null;
    const { script } = readScriptRef(found.bytes);
    return equalBytes(plutusV3Hash(script), hash) ? script : null;
  }
}
