/**
 * Datums and scripts by their hash: what they are, as bytes and as JSON.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readScriptRef } from '../../../ledgers/cardano/describe.ts';
import { nativeScriptJson } from '../../../ledgers/cardano/native-script.ts';
import { plutusJson } from '../../../ledgers/cardano/plutus-json.ts';
import { hexOf } from '../../../query/dialect.ts';
import { hexParameter } from '../../http/parameters.ts';
import { asJson, type BlockfrostAnswers, notFound } from './answer.ts';

const DATUM_HASH_BYTES = 32;
const SCRIPT_HASH_BYTES = 28;
const NATIVE = 0;

/** A script as it is hashed, behind its kind: 0 is native, 1 and up are Plutus V1 and up. */
interface Script {
  readonly kind: number;
  readonly script: Uint8Array;
}

export function registerScripts(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const datum = (path: string, write: (bytes: Uint8Array) => object): void => {
    app.get(path, (request, reply) => {
      const text = hashOf(request);
      const hash = hexParameter(text, 'datum hash', DATUM_HASH_BYTES);
      answers.give(request, reply, (query) => {
        const seen = query.datum(hash);
        if (seen === null) throw notFound(`no datum with the hash ${text} was seen`);
        return write(seen.bytes);
      });
    });
  };
  const script = (path: string, write: (found: Script, hash: string) => object): void => {
    app.get(path, (request, reply) => {
      const text = hashOf(request);
      const hash = hexParameter(text, 'script hash', SCRIPT_HASH_BYTES);
      answers.give(request, reply, (query) => {
        const seen = query.script(hash);
        if (seen === null) throw notFound(`no script with the hash ${text} was seen`);
        return write(readScriptRef(seen.bytes), text.toLowerCase());
      });
    });
  };
  datum('/scripts/datum/:hash', (bytes) => ({ json_value: asJson(() => plutusJson(bytes)) }));
  datum('/scripts/datum/:hash/cbor', (bytes) => ({ cbor: hexOf(bytes) }));
  script('/scripts/:hash', ({ kind, script: bytes }, hash) => ({
    script_hash: hash,
    type: kind === NATIVE ? 'timelock' : `plutusV${kind}`,
    serialised_size: kind === NATIVE ? null : bytes.length,
  }));
  // Blockfrost gives the bytes of Plutus scripts and the JSON of native ones; the other is null.
  script('/scripts/:hash/cbor', ({ kind, script: bytes }) => ({ cbor: kind === NATIVE ? null : hexOf(bytes) }));
  script('/scripts/:hash/json', ({ kind, script: bytes }) => ({ json: kind === NATIVE ? asJson(() => nativeScriptJson(bytes)) : null }));
}

function hashOf({ params }: FastifyRequest): string {
  return (params as { readonly hash: string }).hash;
}
