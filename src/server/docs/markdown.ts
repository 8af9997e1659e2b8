/**
 * A page of Markdown as HTML, with headings that can be linked to, and as parts
 * of plain text for the search. Links to other pages of the site lead to where
 * the site has them; links to files that it does not have become plain text.
 */
import { Marked, type RendererThis, type Token, type Tokens } from 'marked';
import { escapeHtml } from '../http/escape-html.ts';

export interface Heading {
  readonly depth: number;
  readonly text: string;
  /** What a link to it ends with, without `#`. */
  readonly anchor: string;
}

export interface RenderedPage {
  readonly html: string;
  readonly title: string;
  readonly headings: readonly Heading[];
  /** The text below each heading. The first belongs to the title. */
  readonly parts: readonly { readonly heading: Heading; readonly text: string }[];
}

/** Where a link of this page leads in the site; null: to nothing that the site has. */
export type LinkResolver = (target: string) => string | null;

/** As the usual renderers make it: lower case, words joined by hyphens, other signs left out. */
export function headingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

export function renderMarkdown(source: string, resolve: LinkResolver): RenderedPage {
  const marked = new Marked({ gfm: true, renderer: rendererFor(resolve) });
  const tokens = marked.lexer(source);
  const parts = partsOf(tokens);
  const headings = parts.map(({ heading }) => heading);
  return { html: marked.parser(tokens), title: headings[0]?.text ?? '', headings, parts };
}

function rendererFor(resolve: LinkResolver) {
  return {
    heading(this: RendererThis, { tokens, depth }: Tokens.Heading): string {
      const text = plainText(tokens);
      const anchor = headingAnchor(text);
      const link = depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(text)}">#</a>`;
      return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
    },
    code({ text, lang = '' }: Tokens.Code): string {
      const [language] = lang.split(' ');
      // Wide code scrolls by itself, so it must be reachable by keyboard.
      return `<pre tabindex="0"><code${language === '' ? '' : ` class="language-${escapeHtml(language)}"`}>${escapeHtml(text)}\n</code></pre>\n`;
    },
    table(this: RendererThis, { header, rows, align }: Tokens.Table): string {
      const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
        row
          .map(({ tokens }, i) => {
            const text = this.parser.parseInline(tokens);
            // A header without words would be read out as one.
            const name = text === '' ? 'td' : tag;
            return `<${name}${align[i] === null ? '' : ` class="${align[i]}"`}>${text}</${name}>`;
          })
          .join('');
      const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
      return `<div class="wide" tabindex="0"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`;
    },
    link(this: RendererThis, { href, tokens }: Tokens.Link): string {
      const text = this.parser.parseInline(tokens);
      if (/^[a-z]+:/i.test(href)) return `<a href="${escapeHtml(href)}" rel="noreferrer">${text}</a>`;
      const target = resolve(href);
      return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
    },
    image({ href, text }: Tokens.Image): string {
      const target = resolve(href);
      return target === null ? escapeHtml(text) : `<img src="${escapeHtml(target)}" alt="${escapeHtml(text)}" loading="lazy">`;
    },
    /** Only what pages need of HTML: comments and pictures for the dark are for other renderers. */
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      const [, source, alt = ''] = /<img src="([^"]+)"(?: alt="([^"]*)")?/.exec(text) ?? [];
      const target = source === undefined ? null : resolve(source);
      return target === null ? '' : `<img src="${escapeHtml(target)}" alt="${escapeHtml(alt)}" loading="lazy">`;
    },
  };
}

function partsOf(tokens: readonly Token[]): { heading: Heading; text: string }[] {
  const parts: { heading: Heading; text: string }[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { depth, tokens: inner } = token as Tokens.Heading;
      const text = plainText(inner);
      parts.push({ heading: { depth, text, anchor: headingAnchor(text) }, text: '' });
    } else if (parts.length > 0) {
      const last = parts[parts.length - 1];
      last.text = `${last.text} ${plainText([token])}`.trim();
    }
  }
  return parts;
}

/** What a reader sees of tokens, without marks. */
function plainText(tokens: readonly Token[]): string {
  const pieces = tokens.map((token) => {
    if (token.type === 'html' || token.type === 'space') return '';
    if (token.type === 'table') {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].map((row) => row.map((cell) => plainText(cell.tokens)).join(' ')).join(' ');
    }
    if (token.type === 'list') return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(' ');
    if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
    return 'text' in token && typeof token.text === 'string' ? token.text : '';
  });
  return pieces.join('').replaceAll(/\s+/g, ' ');
}
