/**
 * Where the nodes of a tree rest. The trees read through a `NodeReader` and say
 * what changes to a `NodeSink`; they keep nothing of their own, so a column of
 * an engine serves as well as a map, and one batch takes the nodes of a block
 * together with everything else of it.
 *
 * A tree never reads back what it wrote in the same call. To make several
 * calls before writing (the blocks of a group), put an `NodeOverlay` between.
 */
import { equalBytes } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';

/** Where a tree reads its nodes. */
export interface NodeReader {
  /** The value of a key; undefined: none. */
  get(key: Uint8Array): Uint8Array | undefined;
  /** Values in the order of the keys. */
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[];
}

/** Takes each key at most once a call. It may keep the arrays it is given: nobody writes into them any more. */
export interface NodeSink {
  /** True: it copies what it is given, and the arrays are used again after the call. */
  readonly copies?: boolean;
  /** Sets the value of a key. */
  put(key: Uint8Array, value: Uint8Array): void;
  /** Deletes a key. */
  del(key: Uint8Array): void;
}

/** One write; `undefined` deletes. */
export type NodeWrite = readonly [key: Uint8Array, value: Uint8Array | undefined];

/** Makes all these writes. */
export function writeAll(writes: Iterable<NodeWrite>, sink: NodeSink): void {
  for (const [key, value] of writes) {
    if (value === undefined) sink.del(key);
    else sink.put(key, value);
  }
}

/** A node that must be there. */
export function needNode(value: Uint8Array | undefined, what: string): Uint8Array {
  if (value === undefined) throw new UnspentError('STORE_DAMAGED', `a tree names a node that is not there: ${what}`);
  return value;
}

/** Keys of a `Map`: one character a byte. */
function textOf(key: Uint8Array): string {
  return String.fromCharCode.apply(null, key as unknown as number[]);
}

/** Nodes in a map: for the browser, for tests, and for trees that are built and thrown away. */
export class MemoryNodes implements NodeReader, NodeSink {
  private readonly rows = new Map<string, NodeWrite>();

  /** How many there are. */
  get size(): number {
    return this.rows.size;
  }

  /** The value of a key; undefined: none. */
  get(key: Uint8Array): Uint8Array | undefined {
    return this.rows.get(textOf(key))?.[1];
  }

  /** Values in the order of the keys. */
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return keys.map((key) => this.get(key));
  }

  /** Sets the value of a key. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.rows.set(textOf(key), [key, value]);
  }

  /** Deletes a key. */
  del(key: Uint8Array): void {
    this.rows.delete(textOf(key));
  }

  /** Everything, in no order. */
  entries(): Iterable<NodeWrite> {
    return this.rows.values();
  }
}

/** Writes that are not written yet, in front of the nodes they will change. */
export class NodeOverlay implements NodeReader, NodeSink {
  private readonly base: NodeReader;
  private readonly pending: Map<string, NodeWrite>;

  /** `base`: the nodes they will change; `pending`: writes to begin with. */
  constructor(base: NodeReader, pending = new Map<string, NodeWrite>()) {
    this.base = base;
    this.pending = pending;
  }

  /** The same writes in front of another reader of the same nodes. */
  over(base: NodeReader): NodeOverlay {
    return new NodeOverlay(base, this.pending);
  }

  /** All that was written here. */
  pendingWrites(): Iterable<NodeWrite> {
    return this.pending.values();
  }

  /** The value of a key as it will be. */
  get(key: Uint8Array): Uint8Array | undefined {
    const write = this.pending.get(textOf(key));
    return write === undefined ? this.base.get(key) : write[1];
  }

  /** Values as they will be, in the order of the keys. */
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const found = keys.map((key) => this.pending.get(textOf(key)));
    const asked = keys.filter((_, i) => found[i] === undefined);
    const read = asked.length === 0 ? [] : this.base.getMany(asked);
    let next = 0;
    return found.map((write) => (write === undefined ? read[next++] : write[1]));
  }

  /** Sets the value of a key. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.pending.set(textOf(key), [key, value]);
  }

  /** Deletes a key. */
  del(key: Uint8Array): void {
    this.pending.set(textOf(key), [key, undefined]);
  }

  /** What differs from the base: written here, and not what is there already. */
  writes(): NodeWrite[] {
    return this.compared().map(([write]) => write);
  }

  /** The writes that give the base back after `writes` have been made: an undo for any tree. */
  inverse(): NodeWrite[] {
    return this.compared().map(([[key], before]) => [key, before]);
  }

  private compared(): (readonly [NodeWrite, Uint8Array | undefined])[] {
    const all = [...this.pending.values()];
    const before = this.base.getMany(all.map(([key]) => key));
    return all.map((write, i) => [write, before[i]] as const).filter(([[, value], old]) => !sameValue(value, old));
  }
}

function sameValue(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}

/** A part of a store of its own: every key gets `prefix` in front. Several trees then share one column. */
export function within(prefix: Uint8Array, nodes: NodeReader): NodeReader {
  return {
    get: (key) => nodes.get(joined(prefix, key)),
    getMany: (keys) => nodes.getMany(keys.map((key) => joined(prefix, key))),
  };
}

/** The same for writes. */
export function sinkWithin(prefix: Uint8Array, sink: NodeSink): NodeSink {
  return {
    put: (key, value) => sink.put(joined(prefix, key), value),
    del: (key) => sink.del(joined(prefix, key)),
  };
}

function joined(prefix: Uint8Array, key: Uint8Array): Uint8Array {
  const out = new Uint8Array(prefix.length + key.length);
  out.set(prefix);
  out.set(key, prefix.length);
  return out;
}
