/**
 * Values with an inside (Plutus data, metadata, native scripts) as a tree that
 * opens and closes: kinds as words, bytes with the text they may stand for.
 */
import { type Child, h } from './dom.ts';
import { count, counted, printable, shortened } from './format.ts';
import { copyButton } from './parts.ts';

type Leaf = { readonly int: number | string } | { readonly bytes: string } | { readonly text: string };

export type Tree =
  | Leaf
  | { readonly constructor: number; readonly fields: readonly Tree[] }
  | { readonly map: readonly { readonly k: Tree; readonly v: Tree }[] }
  | { readonly list: readonly Tree[] };

/** Deeper ones are closed at first. */
const OPEN_LEVELS = 3;
/** More of them are shown when asked for. */
const ITEMS_MAX = 60;
const BYTES_SHOWN = { head: 40, tail: 12 } as const;

export function treeView(tree: Tree): HTMLElement {
  return h('div', { class: 'tree' }, node(tree, 0, null));
}

function node(tree: Tree, depth: number, key: Child): HTMLElement {
  if (isLeaf(tree)) return h('div', { class: 'leaf' }, key, leaf(tree));
  const kind = (words: string): HTMLElement => h('span', { class: 'kind' }, words);
  if ('fields' in tree) return branch(key, kind(`constructor ${tree.constructor}`), [...tree.fields.entries()], depth, 'field');
  if ('list' in tree) return branch(key, kind('list'), [...tree.list.entries()], depth, 'item');
  return branch(
    key,
    kind('map'),
    tree.map.map(({ k, v }) => [k, v]),
    depth,
    'entry',
  );
}

function isLeaf(tree: Tree): tree is Leaf {
  return 'int' in tree || 'bytes' in tree || 'text' in tree;
}

type Entry = readonly [key: number | Tree, value: Tree];

function branch(key: Child, kind: HTMLElement, entries: readonly Entry[], depth: number, of: string): HTMLElement {
  const many = entries.length === 1 || of !== 'entry' ? counted(entries.length, of) : `${count(entries.length)} entries`;
  if (entries.length === 0) return h('div', { class: 'leaf' }, key, kind, h('span', { class: 'note' }, ' empty'));
  const list = h('ul', {});
  const show = (from: number): void => {
    for (const [name, value] of entries.slice(from, from + ITEMS_MAX)) list.append(h('li', {}, node(value, depth + 1, keyOf(name))));
    if (from + ITEMS_MAX >= entries.length) return;
    const more = h('button', { class: 'button', type: 'button' }, `${count(entries.length - from - ITEMS_MAX)} more`);
    const item = h('li', {}, more);
    more.addEventListener('click', () => {
      item.remove();
      show(from + ITEMS_MAX);
    });
    list.append(item);
  };
  show(0);
  return h('details', { open: depth < OPEN_LEVELS }, h('summary', {}, key, kind, h('span', { class: 'note' }, ` ${many}`)), list);
}

/** The name of an entry; what is itself a tree is shown as one line. */
function keyOf(key: number | Tree): Child {
  if (typeof key === 'number') return h('span', { class: 'key' }, `${key}`);
  if (!isLeaf(key)) return h('span', { class: 'key' }, JSON.stringify(key));
  return h('span', { class: 'key' }, leaf(key));
}

function leaf(tree: Leaf): Child {
  if ('text' in tree) return h('span', { class: 'text' }, `“${tree.text}”`);
  if ('int' in tree) return h('span', { class: 'int' }, count(BigInt(tree.int)));
  const { bytes } = tree;
  if (bytes === '') return h('span', { class: 'note' }, 'no bytes');
  const text = printable(bytes);
  return [
    h('code', { title: bytes }, shortened(bytes, BYTES_SHOWN.head, BYTES_SHOWN.tail)),
    text !== null && h('span', { class: 'text' }, `“${text}”`),
    copyButton(bytes, 'bytes'),
  ];
}

/** What a native script asks for. */
export type NativeScript =
  | { readonly type: 'sig'; readonly keyHash: string }
  | { readonly type: 'all' | 'any'; readonly scripts: readonly NativeScript[] }
  | { readonly type: 'atLeast'; readonly required: number; readonly scripts: readonly NativeScript[] }
  | { readonly type: 'after' | 'before'; readonly slot: number };

export function nativeView(script: NativeScript): HTMLElement {
  return h('div', { class: 'tree' }, nativeNode(script));
}

function nativeNode(script: NativeScript): HTMLElement {
  if ('keyHash' in script) {
    const { keyHash } = script;
    return h(
      'div',
      { class: 'leaf' },
      h('span', { class: 'kind' }, 'signed by'),
      ' ',
      h('code', {}, keyHash),
      copyButton(keyHash, 'key hash'),
    );
  }
  if ('slot' in script) {
    const words = script.type === 'after' ? 'from slot' : 'before slot';
    return h('div', { class: 'leaf' }, h('span', { class: 'kind' }, words), ' ', h('span', { class: 'int' }, count(script.slot)));
  }
  const { scripts } = script;
  const kind = 'required' in script ? `at least ${script.required} of` : `${script.type} of`;
  const items = scripts.map((each) => h('li', {}, nativeNode(each)));
  return h(
    'details',
    { open: true },
    h('summary', {}, h('span', { class: 'kind' }, kind), h('span', { class: 'note' }, ` ${count(scripts.length)}`)),
    h('ul', {}, items),
  );
}
