/**
 * The claim of a proof document in words, for people: made from its bytes, which
 * the proof is about, and from nothing else the document says. Bytes that do not
 * read as an output are shown as they are.
 */
import type { Family, LeafDescription } from '../families/family.ts';
import { familyNamed } from '../families/networks.ts';
import { documentToJson, type ProofDocument } from '../proofs/index.ts';
import { toHex } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';
import { counted } from './format.ts';

/** Outputs of a complete set that are shown one by one. */
const OUTPUTS_SHOWN = 20;

type Row = [name: string, value: string];

export function claimRows(document: ProofDocument): Row[] {
  const { network } = document;
  const family = familyNamed(document.family);
  switch (document.kind) {
    case 'csmt-absent': {
      const { owner, address } = document.claim;
      return [['output', names(document)[0]], ...ownerRows(owner, address, family, network)];
    }
    case 'csmt-complete': {
      const { owner, address, outputs } = document.claim;
      const listed = names(document).map((name, i): Row => ['output', `${name} ${amountOf(outputs[i].txOut, family)}`.trimEnd()]);
      const rest = listed.length - OUTPUTS_SHOWN;
      return [
        ...ownerRows(owner, address, family, network),
        ['outputs', counted(listed.length, 'output')],
        ...listed.slice(0, OUTPUTS_SHOWN),
        ...(rest > 0 ? [['', `and ${rest} more, in the document`] as Row] : []),
      ];
    }
    default:
      return [['output', names(document)[0]], ...outputRows(document.claim.txOut, family, network)];
  }
}

/** Outpoints of the claim as people write them. */
function names(document: ProofDocument): string[] {
  const { claim } = documentToJson(document);
  const outpoints = 'outputs' in claim ? claim.outputs : [claim];
  return outpoints.map(({ tx_hash, output_index }) => `${tx_hash}#${output_index}`);
}

function ownerRows(owner: Uint8Array, address: Uint8Array | null, family: Family, network: string): Row[] {
  if (address === null) return [['owner', `${toHex(owner)} (a hash; of which address, the proof does not say)`]];
  return [['owner', family.ownerText(address, network)]];
}

function outputRows(txOut: Uint8Array, family: Family, network: string): Row[] {
  const read = readOutput(txOut, family);
  if (read === null) return [['bytes', toHex(txOut)]];
  return [
    ['owner', family.ownerText(read.owner, network)],
    ['amount', amountOf(txOut, family)],
  ];
}

function amountOf(txOut: Uint8Array, family: Family): string {
  const read = readOutput(txOut, family);
  if (read === null) return '';
  return read.assets === 0 ? read.amount : `${read.amount} and ${counted(read.assets, 'asset')}`;
}

function readOutput(txOut: Uint8Array, family: Family): LeafDescription | null {
  try {
    return family.describeLeaf(txOut);
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return null;
  }
}
