/**
 * Cuts the answer to "the whole unspent set" into its entries while it is still
 * arriving: on a main network it is gigabytes in one message. What is held is
 * an entry that was cut, and nothing else.
 *
 *   [4, [{[txid, index]: output, ...}]]
 *
 * An answer about another era than the one asked about has two elements instead.
 */
import { ARRAY, Cursor, MAP, UINT } from '../../../util/cbor.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { MessageScanner } from './message-scanner.ts';
import { violation } from './protocol.ts';
import { readInput, type UtxoEntry } from './queries.ts';

const RESULT = 4;
const BREAK = 0xff;
/** The heads in front of the first entry, at their longest. */
const LEAD_BYTES_MAX = 4 * 9;

export class UtxoSplitter {
  private rest: Uint8Array = new Uint8Array(0);
  private scanner = new MessageScanner();
  /** Entries still to come; null: the heads are not read; infinite: a break ends them. */
  private left: number | null = null;
  private readonly bytesMax: number;
  /** Entries found. */
  count = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The entries that are whole with these bytes, as views of bytes that nobody changes. Throws PROTOCOL. */
  entries(part: Uint8Array, isLast: boolean): UtxoEntry[] {
    const bytes = this.rest.length === 0 ? part : joined(this.rest, part);
    const found: UtxoEntry[] = [];
    let at = 0;
    if (this.left === null) {
      if (bytes.length < LEAD_BYTES_MAX && !isLast) {
        this.rest = bytes.slice();
        return found;
      }
      at = malformed(() => this.lead(new Cursor(bytes)));
    }
    let left = this.left as number | null as number;
    while (left > 0) {
      if (at < bytes.length && bytes[at] === BREAK && left === Number.POSITIVE_INFINITY) left = 0;
      else {
        const middle = this.scanner.scan(bytes, at, this.bytesMax);
        const end = middle < 0 ? -1 : this.scanner.scan(bytes, middle, this.bytesMax);
        if (end < 0) {
          // What was cut is scanned again, from its start, when more has come.
          this.scanner = new MessageScanner();
          break;
        }
        found.push({ input: malformed(() => readInput(new Cursor(bytes, at, middle))), output: bytes.subarray(middle, end) });
        at = end;
        left--;
      }
    }
    this.left = left;
    this.count += found.length;
    this.rest = bytes.slice(at);
    if (isLast && left > 0) throw violation('an unspent set that ends before it says it does');
    return found;
  }

  /** Reads the heads; returns where the first entry begins. */
  private lead(c: Cursor): number {
    open(c, ARRAY);
    if (!c.head() || c.major !== UINT || c.lo !== RESULT) c.fail('expected the result of a query');
    if (open(c, ARRAY) === 2) throw violation('the ledger is in another era than the one asked about', { mismatch: true });
    this.left = open(c, MAP);
    return c.at;
  }
}

/** How many items a container has; infinite: that is not told. */
function open(c: Cursor, major: typeof ARRAY | typeof MAP): number {
  const isDefinite = c.head();
  if (c.major !== major) c.fail(major === MAP ? 'expected the map of unspent outputs' : 'expected an array');
  return isDefinite ? c.hi * 2 ** 32 + c.lo : Number.POSITIVE_INFINITY;
}

function malformed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw violation(`a malformed unspent set: ${error.message}`, error.meta, error);
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
