/**
 * The line of every key in a TOML text, which the parser does not tell. Reads
 * only what it needs to find keys: headers, dotted and quoted keys, inline
 * tables. The text must have been parsed before: what is valid is decided there.
 */
import { parse } from 'smol-toml';
import { assert } from '../util/errors.ts';

const BLANK = /(?:\s|#[^\n]*)*/y;
const BARE_KEY = /[^\s.=\]"']+/y;
const QUOTED_KEY = /"(?:\\.|[^"\\])*"|'[^']*'/y;
// A multi-line string may end in up to two quotes of its own before the closing three.
const STRING = /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'/y;
// Up to the end of the line, because a date may hold a space.
const SCALAR = /[^,\]}#\n]+/y;

type Path = readonly string[];

export class TomlLines {
  readonly #text: string;
  readonly #lines = new Map<string, number>();
  #at = 0;
  #line = 1;
  #counted = 0;

  constructor(text: string) {
    this.#text = text;
    let table: Path = [];
    for (this.#skip(BLANK); this.#at < text.length; this.#skip(BLANK)) {
      if (this.#peek() === '[') table = this.#header();
      else this.#pair(table);
    }
  }

  /** Where a key, or a table on the way to it, is first named. */
  lineOf(path: Path): number | undefined {
    return this.#lines.get(JSON.stringify(path));
  }

  #header(): Path {
    const brackets = this.#text.startsWith('[[', this.#at) ? 2 : 1;
    this.#at += brackets;
    const path = this.#key([]);
    this.#at += brackets;
    return path;
  }

  #pair(table: Path): void {
    const path = this.#key(table);
    assert(this.#peek() === '=', 'a key is followed by =');
    this.#at++;
    this.#value(path);
  }

  #key(table: Path): Path {
    let path = table;
    for (;;) {
      this.#skip(BLANK);
      const line = this.#lineHere();
      path = [...path, this.#keyPart()];
      const id = JSON.stringify(path);
      if (!this.#lines.has(id)) this.#lines.set(id, line);
      this.#skip(BLANK);
      if (this.#peek() !== '.') return path;
      this.#at++;
    }
  }

  #keyPart(): string {
    const quoted = this.#take(QUOTED_KEY);
    if (quoted !== undefined) {
      // The parser undoes the escapes: a second reading of them could differ.
      const { key } = parse(`key = ${quoted}`);
      return String(key);
    }
    const bare = this.#take(BARE_KEY);
    assert(bare !== undefined, 'a key is bare or quoted');
    return bare;
  }

  #value(path: Path): void {
    this.#skip(BLANK);
    if (this.#peek() === '{') this.#list('}', () => this.#pair(path));
    else if (this.#peek() === '[') this.#list(']', () => this.#value(path));
    else assert(this.#take(STRING) ?? this.#take(SCALAR), 'a key has a value');
  }

  #list(close: string, item: () => void): void {
    this.#at++;
    for (;;) {
      this.#skip(BLANK);
      const next = this.#peek();
      if (next === close || next === ',') this.#at++;
      else item();
      if (next === close) return;
    }
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  #skip(pattern: RegExp): void {
    this.#take(pattern);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #lineHere(): number {
    for (; this.#counted < this.#at; this.#counted++) if (this.#text[this.#counted] === '\n') this.#line++;
    return this.#line;
  }
}
