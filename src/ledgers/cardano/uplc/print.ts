/**
 * A Plutus program as text, in the concrete syntax of UPLC. Variables, which are
 * numbers in a compiled program, are named by the binder that they belong to.
 * What fits stands on one line.
 */
import { toHex } from '../../../util/bytes.ts';
import type { PlutusData } from '../plutus-data.ts';
import { builtinName } from './builtins.ts';
import type { ConstantType, ConstantValue, Program, Term } from './program.ts';

const WIDTH = 100;
/** Deeper lines begin no further to the right: a program of a thousand levels would be all space. */
const INDENT_MAX = 48;

/** Words, or parts between brackets; `width` is what it takes on one line. */
type Piece = string | { readonly open: string; readonly parts: readonly Piece[]; readonly close: string; readonly width: number };

export function printProgram({ version, term }: Program): string {
  return write(bracket('(', ['program', version.join('.'), termPiece(term, 0)], ')')).join('\n');
}

function widthOf(piece: Piece): number {
  return typeof piece === 'string' ? piece.length : piece.width;
}

function bracket(open: string, parts: readonly Piece[], close: string): Piece {
  return { open, parts, close, width: open.length + close.length + parts.reduce((sum, part) => sum + widthOf(part) + 1, -1) };
}

/** `binders`: of those around it. */
function termPiece(term: Term, binders: number): Piece {
  switch (term.kind) {
    case 'variable':
      return term.index < 1n || term.index > BigInt(binders) ? `free${term.index}` : nameOf(binders - Number(term.index));
    case 'lambda':
      return bracket('(', ['lam', nameOf(binders), termPiece(term.body, binders + 1)], ')');
    case 'delay':
    case 'force':
      return bracket('(', [term.kind, termPiece(term.body, binders)], ')');
    case 'apply':
      return bracket('[', appliedPieces(term, binders), ']');
    case 'constant':
      return bracket('(', ['con', typeText(term.type), valueText(term.type, term.value)], ')');
    case 'error':
      return '(error)';
    case 'builtin':
      return `(builtin ${builtinName(term.tag)})`;
    case 'constr':
      return bracket('(', ['constr', term.tag.toString(), ...term.fields.map((field) => termPiece(field, binders))], ')');
    case 'case':
      return bracket('(', ['case', ...[term.of, ...term.branches].map((each) => termPiece(each, binders))], ')');
  }
}

/** `[[f a] b]` is written `[f a b]`. */
function appliedPieces(term: Term, binders: number): Piece[] {
  const pieces: Piece[] = [];
  let fn = term;
  for (; fn.kind === 'apply'; fn = fn.fn) pieces.push(termPiece(fn.argument, binders));
  pieces.push(termPiece(fn, binders));
  return pieces.reverse();
}

/** `a` to `z`, then `a1` and so on: of the outermost binder `a`. */
function nameOf(level: number): string {
  const round = Math.floor(level / 26);
  return String.fromCharCode(97 + (level % 26)) + (round === 0 ? '' : round);
}

function typeText(type: ConstantType): string {
  if (typeof type === 'string') return type;
  return 'list' in type ? `(list ${typeText(type.list)})` : `(pair ${typeText(type.pair[0])} ${typeText(type.pair[1])})`;
}

function valueText(type: ConstantType, value: ConstantValue): string {
  if (typeof type === 'object') {
    const values = value as readonly ConstantValue[];
    if ('list' in type) return `[${values.map((each) => valueText(type.list, each)).join(', ')}]`;
    return `(${valueText(type.pair[0], values[0])}, ${valueText(type.pair[1], values[1])})`;
  }
  if (value === null) return '()';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `#${toHex(value)}`;
  return typeof value === 'bigint' ? value.toString() : `(${dataText(value as PlutusData)})`;
}

function dataText(data: PlutusData): string {
  switch (data.kind) {
    case 'constructor':
      return `Constr ${data.number} [${data.fields.map(dataText).join(', ')}]`;
    case 'map':
      return `Map [${data.entries.map(([key, value]) => `(${dataText(key)}, ${dataText(value)})`).join(', ')}]`;
    case 'list':
      return `List [${data.items.map(dataText).join(', ')}]`;
    case 'int':
      return `I ${data.value}`;
    case 'bytes':
      return `B #${toHex(data.value)}`;
  }
}

interface Job {
  readonly piece: Piece;
  readonly indent: number;
  /** Brackets that stand in front of it, and behind it. */
  readonly before: string;
  readonly after: string;
}

/** A piece is on one line where it fits; else the words it begins with are, and each part behind them has lines of its own. */
function write(whole: Piece): string[] {
  const lines: string[] = [];
  const jobs: Job[] = [{ piece: whole, indent: 0, before: '', after: '' }];
  for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
    const { piece, indent, before, after } = job;
    const space = ' '.repeat(Math.min(indent, INDENT_MAX));
    if (typeof piece === 'string' || space.length + before.length + piece.width + after.length <= WIDTH) {
      lines.push(space + before + flatText(piece) + after);
      continue;
    }
    const first = piece.parts.findIndex((part) => typeof part !== 'string');
    const words = first === -1 ? piece.parts : piece.parts.slice(0, first);
    const others = piece.parts.slice(words.length);
    const head = before + piece.open + words.join(' ');
    if (words.length > 0) lines.push(space + head + (others.length === 0 ? piece.close + after : ''));
    const behind = others.map((part, i): Job => {
      // An application begins with what is applied, on the line of its bracket.
      const isOnLine = words.length === 0 && i === 0;
      const end = i === others.length - 1 ? piece.close + after : '';
      return { piece: part, indent: indent + (isOnLine ? 0 : 2), before: isOnLine ? head : '', after: end };
    });
    jobs.push(...behind.reverse());
  }
  return lines;
}

function flatText(piece: Piece): string {
  return typeof piece === 'string' ? piece : `${piece.open}${piece.parts.map(flatText).join(' ')}${piece.close}`;
}
