/**
 * An output descriptor: which scripts a wallet watches, and which keys they have.
 * It prints itself with its checksum and never with a private key. Branches are
 * the values of steps such as `<0;1>`: 0 is where others pay to, 1 is change.
 */
import { type BitcoinNetwork, descriptorChecksum } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type DerivedScript, deriveScripts } from './derived-script.ts';
import type { DescriptorKey, PrivateKey } from './descriptor-key.ts';
import { parseExpression, type ScriptExpression, type TreeExpression } from './descriptor-parse.ts';
import { HARDENED } from './key-path.ts';

export interface DescriptorOptions {
  /** Whether a descriptor without checksum is refused. Default: no. */
  readonly needsChecksum?: boolean;
}

/** Throws DESCRIPTOR_INVALID. */
export function parseDescriptor(network: BitcoinNetwork, text: string, options: DescriptorOptions = {}): Descriptor {
  return new Descriptor(network, parseExpression(network, text, options.needsChecksum ?? false));
}

export class Descriptor {
  readonly network: BitcoinNetwork;
  /** How many branches it has; 1: it has no step of the form `<0;1>`. */
  readonly branchCount: number;
  /** Whether it has a script for each index, rather than one. */
  readonly isRanged: boolean;
  private readonly expression: ScriptExpression;
  private readonly keys: readonly DescriptorKey[];

  /** @internal `parseDescriptor` makes them. */
  constructor(network: BitcoinNetwork, expression: ScriptExpression) {
    this.network = network;
    this.expression = expression;
    this.keys = keysIn(expression);
    this.isRanged = this.keys.some(({ wildcard }) => wildcard !== '');
    const counts = new Set(this.keys.map(({ branchCount }) => branchCount).filter((count) => count > 1));
    if (counts.size > 1) {
      throw new UnspentError('DESCRIPTOR_INVALID', 'steps of the form <0;1> have as many values in each key of a descriptor');
    }
    this.branchCount = counts.values().next().value ?? 1;
  }

  /** Its private keys; none: it only watches. */
  get privateKeys(): PrivateKey[] {
    return this.keys.flatMap(({ privateKey }) => privateKey ?? []);
  }

  /** One of its branches as a descriptor without branches. */
  branch(branch: number): Descriptor {
    this.checkPlace(branch, 0);
    return this.mapKeys((key) => key.branch(branch));
  }

  /** Without private keys; hardened steps are derived first. Throws DERIVATION_FAILED where that differs by branch. */
  toPublic(): Descriptor {
    return this.privateKeys.length === 0 ? this : this.mapKeys((key) => key.toPublic());
  }

  /** In its one form, with its checksum and without private keys. */
  toString(): string {
    const text = formatExpression(this.toPublic().expression);
    return `${text}#${descriptorChecksum(text)}`;
  }

  /** `JSON.stringify` and loggers get no more than `toString` says. */
  toJSON(): string {
    return this.toString();
  }

  /**
   * Its scripts at that branch and index: one, or of `combo` up to four. One
   * that has no index has them at index 0. Throws DERIVATION_FAILED.
   */
  derive(branch: number, index: number): DerivedScript[] {
    this.checkPlace(branch, index);
    return deriveScripts(this.expression, { branch, index });
  }

  /** Overwrites its private keys. */
  wipe(): void {
    for (const key of this.keys) key.wipe();
  }

  private checkPlace(branch: number, index: number): void {
    if (!Number.isInteger(branch) || branch < 0 || branch >= this.branchCount) {
      const message = `the descriptor has ${this.branchCount === 1 ? 'one branch' : `branches 0 to ${this.branchCount - 1}`}, not ${branch}`;
      throw new UnspentError('DERIVATION_FAILED', message, { reason: 'branch', branch });
    }
    const indexes = this.isRanged ? HARDENED : 1;
    if (!Number.isInteger(index) || index < 0 || index >= indexes) {
      const message = this.isRanged
        ? `an index is at most ${HARDENED - 1}, got ${index}`
        : `the descriptor has one script, at index 0, not ${index}`;
      throw new UnspentError('DERIVATION_FAILED', message, { reason: 'index', index });
    }
  }

  private mapKeys(change: (key: DescriptorKey) => DescriptorKey): Descriptor {
    return new Descriptor(this.network, mapExpression(this.expression, change));
  }
}

function keysIn(expression: ScriptExpression): DescriptorKey[] {
  if ('inner' in expression) return keysIn(expression.inner);
  if ('keys' in expression) return [...expression.keys];
  if (!('key' in expression)) return [];
  return expression.name === 'tr' && expression.tree !== null ? [expression.key, ...keysInTree(expression.tree)] : [expression.key];
}

function keysInTree(tree: TreeExpression): DescriptorKey[] {
  return 'name' in tree ? keysIn(tree) : tree.flatMap(keysInTree);
}

function mapExpression(expression: ScriptExpression, change: (key: DescriptorKey) => DescriptorKey): ScriptExpression {
  if ('inner' in expression) return { ...expression, inner: mapExpression(expression.inner, change) };
  if ('keys' in expression) return { ...expression, keys: expression.keys.map(change) };
  if (expression.name === 'tr')
    return { ...expression, key: change(expression.key), tree: expression.tree && mapTree(expression.tree, change) };
  return 'key' in expression ? { ...expression, key: change(expression.key) } : expression;
}

function mapTree(tree: TreeExpression, change: (key: DescriptorKey) => DescriptorKey): TreeExpression {
  return 'name' in tree ? mapExpression(tree, change) : [mapTree(tree[0], change), mapTree(tree[1], change)];
}

function formatExpression(expression: ScriptExpression): string {
  return `${expression.name}(${argumentsOf(expression)})`;
}

function argumentsOf(expression: ScriptExpression): string {
  if ('inner' in expression) return formatExpression(expression.inner);
  if ('keys' in expression) return [expression.required, ...expression.keys].join(',');
  if (expression.name === 'addr') return expression.address;
  if (expression.name === 'raw') return toHex(expression.script);
  if (expression.name === 'tr' && expression.tree !== null) return `${expression.key},${formatTree(expression.tree)}`;
  return `${expression.key}`;
}

function formatTree(tree: TreeExpression): string {
  return 'name' in tree ? formatExpression(tree) : `{${tree.map(formatTree).join(',')}}`;
}
