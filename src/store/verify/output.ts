/**
 * Checks a stored output against its own bytes: the header in front of it
 * says what the output says, and nothing stands behind it. Used by `verify`,
 * and by the import of outputs from elsewhere.
 */
import { type Ledger, OutputKeys, type OutputTraits } from '../../ledgers/ledger.ts';
import { AT, KEY_MASK_SHIFT, KEYS_BYTES_MAX, outputOffset, VALUE_HEADER_BYTES, writeKeys } from '../../projections/coin.ts';
import { readU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';

const NONE: readonly string[] = Object.freeze([]);

export class OutputCheck {
  private readonly ledger: Ledger;
  private readonly keys = new OutputKeys();
  private readonly wanted = new Uint8Array(AT.keys + KEYS_BYTES_MAX);

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  /** What is wrong with the stored value `bytes[at..end]`. Throws where the output does not decode. */
  faults(bytes: Uint8Array, at: number, end: number): readonly string[] {
    const start = end - at > VALUE_HEADER_BYTES ? outputOffset(bytes, at) : end;
    if (start >= end) throw new UnspentError('BLOCK_INVALID', 'there is no output behind the header');
    const create = this.ledger.readOutput(bytes, start, end);
    if (create.end !== end) throw new UnspentError('BLOCK_INVALID', `${end - create.end} bytes stand behind it`);
    readTraits(this.ledger.traits, bytes, start, end);
    this.ledger.findKeys(bytes, create, this.keys);
    const keysEnd = writeKeys(this.wanted, 0, this.keys, bytes, start);
    const hasKeys = this.keys.mask === bytes[at] >> KEY_MASK_SHIFT && this.isWanted(bytes, at, keysEnd);
    const hasValue = create.valueHi === readU32(bytes, at + AT.value) && create.valueLo === readU32(bytes, at + AT.value + 4);
    if (hasKeys && hasValue) return NONE;
    return [
      ...(hasKeys ? [] : ['its index keys are not those of its address']),
      ...(hasValue ? [] : ['its value is not that of its output']),
    ];
  }

  private isWanted(bytes: Uint8Array, at: number, end: number): boolean {
    for (let i: number = AT.keys; i < end; i++) if (bytes[at + i] !== this.wanted[i]) return false;
    return true;
  }
}

/** Throws where an output says something of itself that cannot be read. */
function readTraits(traits: OutputTraits | null, bytes: Uint8Array, start: number, end: number): void {
  if (traits === null || traits.isPlain(bytes, start, end)) return;
  traits.assets(bytes, start, end, () => {});
  traits.datumHash(bytes, start, end);
  traits.referenceScript(bytes, start, end);
}
