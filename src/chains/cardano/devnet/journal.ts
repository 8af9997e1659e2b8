/**
 * What was done to a devnet, line by line. The same calls on the same seed give
 * the same chain, so this is all a devnet needs to come back as it was: `m 3`
 * three blocks, `r 2` two blocks less, `s <hex>` a transaction for the next
 * block. Written before anybody is told, so nobody knows more than the file.
 */
import { appendFileSync, existsSync, mkdirSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { readRegular } from '../../../files/regular.ts';
import { fromHex, isHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { DEVNET_JOURNAL_BYTES_MAX } from '../../../util/limits.ts';

export type JournalEntry =
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'rollback'; readonly blocks: number }
  | { readonly kind: 'submit'; readonly tx: Uint8Array };

/** Counted up when the same calls make other blocks than before. */
const TITLE = 'unspent devnet 2';

export class Journal {
  private readonly path: string;

  /** `about`: what the chain is made from; a journal of another is refused. */
  constructor(path: string, about: string) {
    this.path = path;
    const head = `${TITLE} ${about}`;
    if (!existsSync(path)) {
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(path, `${head}\n`);
      return;
    }
    const found = firstLine(readText(path));
    if (found === head) return;
    throw new UnspentError('CONFIG', `${path} is of another devnet (${found.slice(0, 200)}); this one is ${head}`, { path });
  }

  /** All there is. A last line without its end was not finished when the process died: it is cut off. */
  read(): JournalEntry[] {
    const text = readText(this.path);
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(this.path, Buffer.byteLength(whole));
    return whole
      .split('\n')
      .slice(1, -1)
      .map((line, i) => this.parse(line, i + 2));
  }

  append(deeds: readonly JournalEntry[]): void {
    if (!existsSync(this.path)) throw new UnspentError('STORE_GONE', `${this.path} is not there any more`, { path: this.path });
    appendFileSync(this.path, deeds.map((deed) => `${lineOf(deed)}\n`).join(''));
  }

  private parse(line: string, number: number): JournalEntry {
    const [kind, value = '', ...more] = line.split(' ');
    if (more.length === 0 && kind === 's' && value !== '' && isHex(value)) return { kind: 'submit', tx: fromHex(value) };
    if (more.length === 0 && (kind === 'm' || kind === 'r') && /^\d{1,9}$/.test(value)) {
      return { kind: kind === 'm' ? 'mine' : 'rollback', blocks: Number(value) };
    }
    throw new UnspentError('SOURCE_DAMAGED', `${this.path}, line ${number}: not a line of a devnet's journal`, { path: this.path, number });
  }
}

function readText(path: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(readRegular(path, { bytesMax: DEVNET_JOURNAL_BYTES_MAX, links: 'follow' }));
}

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end);
}

function lineOf(deed: JournalEntry): string {
  if (deed.kind === 'submit') return `s ${toHex(deed.tx)}`;
  return `${deed.kind === 'mine' ? 'm' : 'r'} ${deed.blocks}`;
}
