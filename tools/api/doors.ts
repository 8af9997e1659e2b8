/** The doors of the package, and what stands behind them: from its `exports`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Declaration, exportsOf, headOf } from './declarations.ts';

export interface Door {
  /** As programs import it. */
  readonly name: string;
  readonly doc: string;
  readonly declarations: readonly Declaration[];
}

/** `declared`: the folder with the emitted declarations, which stands for `dist`. */
export function readDoors(root: string, declared: string): readonly Door[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return [];
    const file = join(declared, target.types.replace('./dist/', ''));
    return [{ name: path === '.' ? 'unspent' : `unspent/${path.slice(2)}`, doc: headOf(file), declarations: exportsOf(file) }];
  });
}

/** Everything public that has no doc comment. */
export function undocumented(doors: readonly Door[]): readonly string[] {
  const missing = (declarations: readonly Declaration[], prefix: string): string[] =>
    declarations.flatMap(({ name, kind, doc, members, inside }) => [
      ...(doc === '' && !isOverload(declarations, name, kind) ? [prefix + name] : []),
      ...members.filter((member) => member.doc === '').map((member) => `${prefix + name}.${member.name}`),
      ...missing(inside, `${prefix + name}.`),
    ]);
  return [...new Set(doors.flatMap(({ name, declarations }) => missing(declarations, `${name}: `)))];
}

/** Of several signatures of one function the first is documented. */
function isOverload(declarations: readonly Declaration[], name: string, kind: Declaration['kind']): boolean {
  return kind === 'function' && declarations.some((other) => other.name === name && other.doc !== '');
}

/** Types of ours that signatures speak of and that no door exports: nobody could name them. */
export function unexported(doors: readonly Door[]): readonly string[] {
  const all = doors.flatMap(({ declarations }) => flat(declarations));
  const known = new Set(all.map(({ origin }) => origin));
  const found = all.flatMap((declaration) =>
    [...declaration.mentions()].filter(([, origin]) => !known.has(origin)).map(([name]) => `${declaration.name} speaks of ${name}`),
  );
  return [...new Set(found)];
}

function flat(declarations: readonly Declaration[]): Declaration[] {
  return declarations.flatMap((declaration) => [declaration, ...flat(declaration.inside)]);
}
