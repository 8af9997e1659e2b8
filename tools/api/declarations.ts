/**
 * Reads the declaration files that the compiler emits: statements with their doc
 * comments, members of classes and interfaces, and which module exports what.
 * The compiler writes them in one fixed form, which is all this has to
 * understand (docs/adr/0029-the-front-door.md says why there is no library for
 * it).
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Member {
  readonly name: string;
  /** As it stands in the declaration, without its comment. */
  readonly text: string;
  /** Empty: it has none. */
  readonly doc: string;
}

export interface Declaration {
  /** Under which it is exported. */
  readonly name: string;
  readonly kind: 'class' | 'interface' | 'function' | 'const' | 'type' | 'namespace';
  readonly text: string;
  readonly doc: string;
  /** Of a class or an interface, those it inherits left out. */
  readonly members: readonly Member[];
  /** Of a namespace. */
  readonly inside: readonly Declaration[];
  /** `file#name` of what is declared: one and the same under whichever names it is exported. */
  readonly origin: string;
  /** Names of ours that its text speaks of, each with its origin. Looked up when asked for: modules import each other's types in circles. */
  mentions(): ReadonlyMap<string, string>;
}

interface Statement {
  readonly doc: string;
  readonly text: string;
}

/** What a module exports, under the names it exports it by. */
export function exportsOf(file: string): readonly Declaration[] {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const statements = statementsOf(readFileSync(file, 'utf8'));
  const imported = importsOf(statements, file);
  const local = new Map<string, Declaration[]>();
  const found: Declaration[] = [];
  for (const statement of statements) {
    const read = declarationOf(statement, file);
    if (read === null) continue;
    const declared: Declaration = { ...read, mentions: () => mentionsOf(read, local, imported) };
    local.set(declared.name, [...(local.get(declared.name) ?? []), declared]);
    if (statement.text.startsWith('export ')) found.push(declared);
  }
  for (const { text, doc } of statements) found.push(...passedOn(text.replaceAll('"', "'"), doc, file, local, imported));
  modules.set(file, found);
  return found;
}

/** Read once each: doors share most of what stands behind them. */
const modules = new Map<string, readonly Declaration[]>();

interface Imported {
  readonly from: string;
  readonly name: string;
}

function importsOf(statements: readonly Statement[], file: string): ReadonlyMap<string, Imported> {
  const imported = new Map<string, Imported>();
  for (const { text } of statements) {
    const [, names, target] = /^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/.exec(text.replaceAll('"', "'")) ?? [];
    if (names === undefined || target === undefined) continue;
    for (const { name, as } of namesIn(names)) imported.set(as, { from: moduleFile(file, target), name });
  }
  return imported;
}

type Read = Omit<Declaration, 'mentions'>;

function mentionsOf(
  { text, origin }: Read,
  local: ReadonlyMap<string, Read[]>,
  imported: ReadonlyMap<string, Imported>,
): Map<string, string> {
  const mentions = new Map<string, string>();
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
  for (const [name] of code.matchAll(/(?<![.\w'"]|typeof )[A-Z]\w*\b(?![?]?:)/g)) {
    const from = imported.get(name);
    const found = from === undefined ? local.get(name)?.[0] : exportsOf(from.from).find((other) => other.name === from.name);
    if (found !== undefined && found.origin !== origin) mentions.set(name, found.origin);
  }
  return mentions;
}

/** Of `export { ... }`, with or without `from`, and `export *`. */
function passedOn(
  text: string,
  doc: string,
  file: string,
  local: ReadonlyMap<string, Declaration[]>,
  imported: ReadonlyMap<string, Imported>,
): readonly Declaration[] {
  const all = /^export (?:type )?\* (?:as (\w+) )?from '([^']+)'/.exec(text);
  if (all !== null) {
    const inside = exportsOf(moduleFile(file, all[2]));
    if (all[1] === undefined) return inside;
    return [
      { name: all[1], kind: 'namespace', text: '', doc, members: [], inside, origin: `${file}#${all[1]}`, mentions: () => new Map() },
    ];
  }
  const some = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/.exec(text);
  if (some === null) return [];
  return namesIn(some[1]).flatMap(({ name, as }) => {
    if (some[2] !== undefined) return named(exportsOf(moduleFile(file, some[2])), name, as, file);
    const from = imported.get(name);
    if (from !== undefined) return named(exportsOf(from.from), from.name, as, file);
    return named(local.get(name) ?? [], name, as, file);
  });
}

function named(declarations: readonly Declaration[], name: string, as: string, file: string): readonly Declaration[] {
  const found = declarations.filter((declaration) => declaration.name === name);
  if (found.length === 0) throw new Error(`${file} exports ${name}, and nothing declares it`);
  return found.map((declaration) => ({ ...declaration, name: as }));
}

function namesIn(list: string): readonly { readonly name: string; readonly as: string }[] {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '')
    .map((item) => {
      const [name, as = name] = item.split(' as ');
      return { name, as };
    });
}

function moduleFile(file: string, target: string): string {
  return join(dirname(file), target.replace(/\.[jt]s$/, '.d.ts'));
}

/** The comment a file opens with. */
export function headOf(file: string): string {
  return statementsOf(readFileSync(file, 'utf8'), true)[0]?.doc ?? '';
}

const KINDS = /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(class|interface|function|const|type)\s+([\w$]+)/;

function declarationOf({ doc, text }: Statement, file: string): Read | null {
  const found = KINDS.exec(text);
  if (found === null) return null;
  const kind = found[1] as Declaration['kind'];
  const members = kind === 'class' || kind === 'interface' ? membersOf(text) : [];
  return { name: found[2], kind, text, doc, members, inside: [], origin: `${file}#${found[2]}` };
}

function membersOf(text: string): Member[] {
  const body = text.slice(text.indexOf('{\n') + 1, text.lastIndexOf('}'));
  return statementsOf(body.replace(/^ {4}/gm, ''))
    .filter(({ text: member }) => !/^(#private|private |protected )/.test(member))
    .map(({ doc, text: member }) => ({ name: memberName(member), text: member.replace(/;$/, ''), doc }));
}

function memberName(text: string): string {
  return /^(?:static |readonly |abstract |get |set |declare )*(\[[^\]]*\]|[\w$#]+|\()/.exec(text)?.[1] ?? text;
}

/**
 * The statements of a file, or of the body of a class. `withHead`: the comment of
 * the file counts as a statement.
 */
function statementsOf(source: string, withHead = false): Statement[] {
  const statements: Statement[] = [];
  let doc = '';
  let at = 0;
  const isHead = (): boolean => statements.length === 0 && doc !== '';
  while (at < source.length) {
    if (/\s/.test(source[at])) {
      at++;
    } else if (source.startsWith('/**', at)) {
      // Of two comments in a row the first is the file's own.
      if (isHead() && withHead) statements.push({ doc, text: '' });
      const end = source.indexOf('*/', at) + 2;
      doc = commentText(source.slice(at, end));
      at = end;
    } else if (source.startsWith('//', at)) {
      at = lineEnd(source, at);
    } else {
      const end = statementEnd(source, at);
      const text = source.slice(at, end).trim();
      if (withHead && isHead()) statements.push({ doc, text: '' });
      statements.push({ doc, text });
      doc = '';
      at = end;
    }
  }
  return statements;
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

/** Behind the `;` that ends it, or behind the `}` of a body. */
function statementEnd(source: string, start: number): number {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    const sign = source[at];
    if (sign === "'" || sign === '"' || sign === '`') at = source.indexOf(sign, at + 1);
    else if (source.startsWith('/*', at)) at = source.indexOf('*/', at) + 1;
    else if ('{(['.includes(sign)) depth++;
    else if ('})]'.includes(sign)) depth--;
    if (depth > 0) continue;
    if (sign === ';') return at + 1;
    if (sign === '}' && /^(\n|$)/.test(source.slice(at + 1))) return at + 1;
  }
  return source.length;
}

function commentText(comment: string): string {
  return comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}
