/**
 * Output descriptors (BIP380 to 387) from text to a tree of expressions. What
 * may stand where is one table. Miniscript is not among it: a script that is
 * none of these is refused, with the place.
 */
import { type BitcoinNetwork, descriptorChecksum, formatAddress, isDescriptorText, parseAddress } from '../../../ledgers/bitcoin/index.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { DESCRIPTOR_CHARS_MAX, TAPROOT_DEPTH_MAX } from '../../../util/limits.ts';
import { DescriptorKey, type KeyForm } from './descriptor-key.ts';

/** Of one key: to the key, to its hash, to its hash in a witness, all that wallets made of it, taproot without tweak. */
const ONE_KEY = ['pk', 'pkh', 'wpkh', 'combo', 'rawtr'] as const;
const MANY_KEYS = ['multi', 'sortedmulti', 'multi_a', 'sortedmulti_a'] as const;

type OneKeyName = (typeof ONE_KEY)[number];
type ManyKeysName = (typeof MANY_KEYS)[number];

/** The leaves and pairs of the tree of a taproot output. */
export type TreeExpression = ScriptExpression | readonly [TreeExpression, TreeExpression];

/** An expression of a descriptor that stands for a script. */
export type ScriptExpression =
  | { readonly name: OneKeyName; readonly key: DescriptorKey }
  | { readonly name: ManyKeysName; readonly required: number; readonly keys: readonly DescriptorKey[] }
  | { readonly name: 'sh' | 'wsh'; readonly inner: ScriptExpression }
  | { readonly name: 'tr'; readonly key: DescriptorKey; readonly tree: TreeExpression | null }
  | { readonly name: 'addr'; readonly address: string; readonly script: Uint8Array }
  | { readonly name: 'raw'; readonly script: Uint8Array };

type Context = 'top' | 'sh' | 'wsh' | 'tr';
type Name = ScriptExpression['name'];

const CONTEXTS: Readonly<Record<Name, readonly Context[]>> = {
  pk: ['top', 'sh', 'wsh', 'tr'],
  pkh: ['top', 'sh', 'wsh'],
  wpkh: ['top', 'sh'],
  combo: ['top'],
  rawtr: ['top'],
  multi: ['top', 'sh', 'wsh'],
  sortedmulti: ['top', 'sh', 'wsh'],
  multi_a: ['tr'],
  sortedmulti_a: ['tr'],
  sh: ['top'],
  wsh: ['top', 'sh'],
  tr: ['top'],
  addr: ['top'],
  raw: ['top'],
};

/** Keys of a multisig: what nodes relay bare, what fits the 520 bytes of P2SH, OP_CHECKMULTISIG, the stack of a tapscript. */
const MULTISIG_KEYS_MAX: Readonly<Record<Context, number>> = { top: 3, sh: 15, wsh: 20, tr: 999 };
const P2SH_SCRIPT_BYTES_MAX = 520;
const CHECKSUM = /^[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{8}$/;

/** Throws DESCRIPTOR_INVALID. Its message never has the text of a key, which may be private. */
export function parseExpression(network: BitcoinNetwork, given: string, needsChecksum: boolean): ScriptExpression {
  const text = withoutChecksum(given.trim(), needsChecksum);
  const parser = new Parser(network, text);
  const expression = parser.script('top');
  parser.end();
  return expression;
}

function withoutChecksum(text: string, needsChecksum: boolean): string {
  if (text.length > DESCRIPTOR_CHARS_MAX) throw invalid(`a descriptor has at most ${DESCRIPTOR_CHARS_MAX} characters`);
  if (!isDescriptorText(text)) throw invalid('a character that no descriptor has');
  const mark = text.indexOf('#');
  if (mark < 0) {
    if (needsChecksum) throw invalid('the descriptor has no checksum');
    return text;
  }
  const [body, checksum] = [text.slice(0, mark), text.slice(mark + 1)];
  if (!CHECKSUM.test(checksum)) throw invalid('a checksum has eight characters of those that bech32 uses');
  // The right checksum is not told: whoever mistyped a descriptor should look at the descriptor.
  if (descriptorChecksum(body) !== checksum) throw invalid('the checksum is wrong: a character of the descriptor is, or of the checksum');
  return body;
}

function invalid(reason: string, at?: number, cause?: unknown): UnspentError {
  const where = at === undefined ? '' : ` (at character ${at + 1})`;
  return new UnspentError('DESCRIPTOR_INVALID', `${reason}${where}`, at === undefined ? {} : { at }, cause);
}

class Parser {
  private readonly network: BitcoinNetwork;
  private readonly text: string;
  private at = 0;

  constructor(network: BitcoinNetwork, text: string) {
    this.network = network;
    this.text = text;
  }

  script(context: Context): ScriptExpression {
    const start = this.at;
    const name = this.name(context);
    const expression = this.body(name, context, start);
    this.take(')');
    return expression;
  }

  end(): void {
    if (this.at < this.text.length) throw this.fail('nothing may follow the descriptor but # and its checksum');
  }

  private name(context: Context): Name {
    const [, name] = /^([a-z_]+)\(/.exec(this.text.slice(this.at, this.at + 20)) ?? [];
    if (name === undefined) throw this.fail('expected an expression such as wpkh(...)');
    if (!Object.hasOwn(CONTEXTS, name)) throw this.fail(`no expression '${name}' (miniscript is not supported)`);
    const known = name as Name;
    if (!CONTEXTS[known].includes(context)) {
      throw this.fail(context === 'top' ? `${name}() cannot stand alone` : `${name}() cannot stand in ${context}()`);
    }
    this.at += name.length + 1;
    return known;
  }

  private body(name: Name, context: Context, start: number): ScriptExpression {
    switch (name) {
      case 'sh':
      case 'wsh':
        return { name, inner: this.inner(name, start) };
      case 'tr':
        return { name, key: this.key('x-only'), tree: this.next(',') ? this.tree(0) : null };
      case 'multi':
      case 'sortedmulti':
      case 'multi_a':
      case 'sortedmulti_a':
        return this.multisig(name, context, start);
      case 'addr':
        return this.address();
      case 'raw':
        return { name, script: this.hex() };
      default:
        return { name, key: this.key(keyForm(name, context)) };
    }
  }

  private inner(name: 'sh' | 'wsh', start: number): ScriptExpression {
    const inner = this.script(name);
    // Compressed keys take 34 bytes each, uncompressed ones 66, the rest of the script three.
    const bytes = name === 'sh' && 'keys' in inner ? inner.keys.reduce((sum, key) => sum + 1 + key.byteLength, 3) : 0;
    if (bytes > P2SH_SCRIPT_BYTES_MAX)
      throw this.fail(`the script in sh() has ${bytes} bytes, at most ${P2SH_SCRIPT_BYTES_MAX} can be spent`, start);
    return inner;
  }

  private multisig(name: ManyKeysName, context: Context, start: number): ScriptExpression {
    const count = this.until(',)');
    const required = /^[1-9]\d{0,2}$/.test(count) ? Number(count) : 0;
    if (required === 0) throw this.fail(`${name}() begins with how many of its keys must sign`, start);
    const keys: DescriptorKey[] = [];
    while (this.next(',')) {
      if (keys.length === MULTISIG_KEYS_MAX[context])
        throw this.fail(`${name}() has at most ${MULTISIG_KEYS_MAX[context]} keys here`, start);
      keys.push(this.key(keyForm(name, context)));
    }
    if (required > keys.length) throw this.fail(`${name}() asks for ${required} of ${keys.length} keys`, start);
    return { name, required, keys };
  }

  private tree(depth: number): TreeExpression {
    if (depth > TAPROOT_DEPTH_MAX) throw this.fail(`a tree of scripts has at most ${TAPROOT_DEPTH_MAX} levels`);
    if (!this.next('{')) return this.script('tr');
    const left = this.tree(depth + 1);
    this.take(',');
    const right = this.tree(depth + 1);
    this.take('}');
    return [left, right];
  }

  private address(): ScriptExpression {
    const start = this.at;
    const address = this.until(')');
    try {
      const script = parseAddress(this.network, address);
      // One address may be written in several ways, so it is printed in ours.
      return { name: 'addr', address: formatAddress(this.network, script) ?? address, script };
    } catch (cause) {
      throw invalid(cause instanceof Error ? cause.message : 'not an address', start, cause);
    }
  }

  private hex(): Uint8Array {
    const start = this.at;
    const text = this.until(')');
    if (!isHex(text)) throw this.fail('raw() has a script in hex', start);
    return fromHex(text);
  }

  private key(form: KeyForm): DescriptorKey {
    const start = this.at;
    return DescriptorKey.parse(this.network, this.until(',)}'), form, (reason, cause) => invalid(reason, start, cause));
  }

  /** What stands before one of these characters. */
  private until(ends: string): string {
    const start = this.at;
    while (this.at < this.text.length && !ends.includes(this.text[this.at])) this.at++;
    return this.text.slice(start, this.at);
  }

  /** Whether that character is next; if so, it is passed. */
  private next(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private take(character: string): void {
    if (!this.next(character)) throw this.fail(`expected '${character}'`);
  }

  private fail(reason: string, at = this.at): UnspentError {
    return invalid(reason, at);
  }
}

function keyForm(name: Name, context: Context): KeyForm {
  if (context === 'tr' || name === 'rawtr') return 'x-only';
  return context === 'wsh' || name === 'wpkh' ? 'compressed' : 'any';
}
