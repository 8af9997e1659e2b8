/**
 * Field masks: what of an answer is wanted, as paths of fields from the answer
 * on, such as `items.txo_ref` or `ledger_tip.slot`. What no path names, or leads
 * through, is left out.
 */
import type { AnyMessage, FieldInfo, FieldMask, Message, MessageType } from '@bufbuild/protobuf';
import { UnspentError } from '../../../../util/errors.ts';

/** Fields by their name; null: the field as a whole. */
type PathTree = Map<string, PathTree | null>;

/** The message with the fields of the mask alone; without a mask, or with an empty one, as it is. Throws USAGE. */
export function masked<T extends Message<T>>(message: T, mask: FieldMask | undefined): T {
  if (mask === undefined || mask.paths.length === 0) return message;
  const tree: PathTree = new Map();
  for (const path of mask.paths) addPath(tree, path, message.getType());
  clearOthers(message as AnyMessage, tree);
  return message;
}

function addPath(tree: PathTree, path: string, type: MessageType): void {
  const names = path.split('.');
  let [at, of]: [PathTree, MessageType | null] = [tree, type];
  for (const [i, given] of names.entries()) {
    const field: FieldInfo | undefined = of?.fields.list().find(({ name, localName }) => given === name || given === localName);
    if (field === undefined)
      throw new UnspentError('USAGE', `the field mask names '${path.slice(0, 100)}', which the answer does not have`, {
        field: 'field_mask',
      });
    const below: PathTree | null | undefined = at.get(field.name);
    // The field as a whole was named already.
    if (below === null) return;
    if (i === names.length - 1) at.set(field.name, null);
    else {
      const next: PathTree = below ?? new Map();
      at.set(field.name, next);
      at = next;
    }
    of = field.kind === 'message' ? (field.T as MessageType) : null;
  }
}

function clearOthers(message: AnyMessage, tree: PathTree): void {
  const type = message.getType();
  const empty = new type() as AnyMessage;
  for (const member of type.fields.byMember()) {
    const { localName } = member;
    const value: unknown = message[localName];
    const chosen = member.kind === 'oneof' ? (value as { readonly case?: string; readonly value?: unknown }) : null;
    const field = chosen === null ? (member as FieldInfo) : member.kind === 'oneof' ? member.findField(chosen.case ?? '') : undefined;
    const below = field === undefined ? undefined : tree.get(field.name);
    if (below === undefined) message[localName] = empty[localName];
    else if (below !== null) for (const each of [chosen === null ? value : chosen.value].flat()) clearOthers(each as AnyMessage, below);
  }
}
