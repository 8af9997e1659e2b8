/**
 * Makes wrong proof documents out of right ones, in their JSON form: a digit of
 * hex or a bit of a path is another one, text gets longer or shorter, a number
 * moves, a field goes, comes or takes the value of a neighbour, the elements of
 * a list are dropped, doubled or swapped.
 */
import type { Dice } from './support.ts';

/** Words that the root does not commit to: who they are told to must ask elsewhere. */
const UNPROVEN = ['network', 'point'];

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** One random change, anywhere in the document but in what no root could show to be wrong. */
export function spoil(document: unknown, dice: Dice): unknown {
  const fields = document as Record<string, Json>;
  const places = Object.keys(fields)
    .filter((name) => !UNPROVEN.includes(name))
    .flatMap((name) => changesIn(fields[name], dice).map((change) => () => ({ ...fields, [name]: change() })));
  return dice.pick([...places, ...changesOfFields(fields, dice)])();
}

/** Every field and every element of a document, one at a time, replaced by each of what might be taken for it, or gone. */
export function* everyChange(document: unknown): Generator<unknown> {
  const value = document as Json;
  if (typeof value === 'object' && value !== null) {
    const entries: [string, Json][] = Object.entries(value);
    const from = (parts: [string, Json][]): Json => (isList(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts));
    for (const [i, [name, part]] of entries.entries()) {
      yield from(entries.toSpliced(i, 1));
      for (const changed of everyChange(part)) yield from(entries.with(i, [name, changed as Json]));
    }
    if (!isList(value))
      for (const name of ['more', 'cbor', 'address', 'owner', 'type']) if (!(name in value)) yield { ...value, [name]: '' };
    return;
  }
  yield* substitutes(value).filter((each) => each !== value);
}

function substitutes(value: Json): Json[] {
  const strange: Json[] = [null, true, '', [], {}, 0, -1, 0.5];
  if (typeof value === 'number') return [...strange, value + 1, value - 1, value + 2 ** 32, `${value}`];
  if (typeof value !== 'string') return [...strange, '00'.repeat(32)];
  if (!/^[0-9a-f]*$/.test(value)) return [...strange, ...WORDS];
  const digit = (text: string): string => (text === '0' ? '1' : '0');
  return [
    ...strange,
    digit(value[0]) + value.slice(1),
    value.slice(0, -1) + digit(value.slice(-1)),
    `${value}0`,
    `${value}00`,
    `0${value}`,
    value.slice(1),
    value.slice(2),
    value.slice(0, -1),
    value.match(/../g)?.reverse().join('') ?? 'zz',
    value.toUpperCase(),
  ];
}

function changesIn(value: Json, dice: Dice): (() => Json)[] {
  if (typeof value === 'string') return [() => changedText(value, dice)];
  if (typeof value === 'number') return [() => dice.pick([value + 1, value - 1, 2 * value + 1, value + 0.5, -1 - value, `${value}`, null])];
  if (value === null) return [() => dice.pick<Json>(['00'.repeat(32), '', 0, {}, []])];
  if (typeof value !== 'object') return [() => null];
  if (isList(value)) {
    const inside = value.flatMap((part, i) => changesIn(part, dice).map((change) => () => value.with(i, change())));
    return [...inside, () => changedList(value, dice), () => ({ ...value })];
  }
  const inside = Object.entries(value).flatMap(([name, part]) =>
    changesIn(part, dice).map((change) => () => ({ ...value, [name]: change() })),
  );
  return [...inside, ...changesOfFields(value, dice)];
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function changesOfFields(fields: { readonly [name: string]: Json }, dice: Dice): (() => Json)[] {
  const names = Object.keys(fields);
  const without = (name: string): Json => Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));
  return [
    () => without(dice.pick(names)),
    () => ({ ...fields, [dice.pick(['more', 'cbor', 'address', 'type', 'owner', 'bits'])]: '00' }),
    () => ({ ...fields, [dice.pick(names)]: fields[dice.pick(names)] }),
  ];
}

const WORDS = [
  'csmt-inclusion',
  'csmt-absent',
  'csmt-complete',
  'mmr-unspent',
  'mmr-spent',
  'cardano',
  'bitcoin',
  'witness',
  'empty',
  'toString',
  '__proto__',
];

function changedText(text: string, dice: Dice): Json {
  if (!/^[0-9a-f]*$/.test(text)) return dice.pick(WORDS.filter((word) => word !== text));
  const binary = /^[01]*$/.test(text);
  const digit = (): string => (binary ? '01' : '0123456789abcdef')[dice.below(binary ? 2 : 16)];
  const at = dice.below(text.length + 1);
  const flipped =
    text === ''
      ? digit()
      : binary
        ? 1 - Number(text[at] ?? 1)
        : ((Number.parseInt(text[at] ?? '0', 16) + 1 + dice.below(15)) % 16).toString(16);
  return dice.pick<() => Json>([
    () => text.slice(0, at) + flipped + text.slice(at + 1),
    () => text.slice(0, at) + flipped + text.slice(at + 1),
    () => text.slice(0, at) + flipped + text.slice(at + 1),
    () => text.slice(0, at) + digit() + text.slice(at),
    () => text.slice(0, at) + digit() + digit() + text.slice(at),
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.slice(0, at) + text.slice(at + 2),
    () => text.match(/../g)?.reverse().join('') ?? 'zz',
    () => Number(text.slice(0, 9)),
  ])();
}

function changedList(list: readonly Json[], dice: Dice): Json {
  const [i, j] = [dice.below(list.length + 1), dice.below(list.length + 1)];
  return dice.pick<() => Json>([
    () => list.filter((_, k) => k !== i),
    () => [...list.slice(0, i), list[j] ?? 0, ...list.slice(i)],
    () => list.map((part, k) => (k === i ? (list[j] ?? 0) : k === j ? (list[i] ?? 0) : part)),
    () => list.slice(0, i),
    () => [],
  ])();
}
