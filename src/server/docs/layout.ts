/**
 * A page of the documentation around its text: the list of all pages on one
 * side, what is on this page on the other, the search above, the neighbours
 * below. It is whole without a script; the script adds the search.
 */
import { VERSION } from '../../util/version.ts';
import { escapeHtml } from '../http/escape-html.ts';
import type { Heading, RenderedPage } from './markdown.ts';

/** As the page that is shown links to it. */
export interface SitePage {
  readonly title: string;
  readonly link: string;
}

export interface SiteSection {
  readonly title: string;
  readonly isOpen: boolean;
  readonly pages: readonly SitePage[];
}

export interface PageParts {
  readonly page: RenderedPage;
  readonly address: SitePage;
  readonly sections: readonly SiteSection[];
  /** What leads to where the site begins. */
  readonly up: string;
}

const CONTENTS_DEPTH = 2;
/** Below this many headings a list of them says nothing. */
const CONTENTS_MIN = 3;

export function pageDocument({ page, address, sections, up }: PageParts): string {
  const all = sections.flatMap(({ pages }) => pages);
  const place = all.findIndex(({ link }) => link === address.link);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${page.title === 'Unspent' ? 'Unspent, the documentation' : `${escapeHtml(page.title)} · Unspent`}</title><link rel="icon" href="${up}icon.svg" type="image/svg+xml"><link rel="stylesheet" href="${up}docs.css"><script src="${up}docs.js" data-up="${up}" defer></script></head>
<body><a class="skip" href="#text">To the text</a>
<header class="top"><a class="brand" href="${up}index.html">Unspent <small>${VERSION}</small></a>
<form class="search" role="search"><input type="search" id="search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off" hidden><ol id="found" aria-live="polite" hidden></ol></form></header>
<div class="frame"><nav class="pages" aria-label="Pages"><details id="pages" open><summary>Pages</summary>${sections.map((section) => sectionList(section, address)).join('')}</details></nav>
<main id="text" tabindex="-1">${page.html}${neighbours(all[place - 1], all[place + 1])}</main>
${contents(page.headings)}</div>
</body></html>
`;
}

function sectionList({ title, isOpen, pages }: SiteSection, here: SitePage): string {
  const items = pages.map((page) => {
    const current = page.link === here.link ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(page.link)}"${current}>${escapeHtml(shortTitle(page.title))}</a></li>`;
  });
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`;
}

/** Without what the section says already: `Quick start: a dApp` is `A dApp`. Others keep their names as they are. */
function shortTitle(title: string): string {
  return title.replace(/^Quick start: (.)/, (_, first: string) => first.toUpperCase());
}

function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === CONTENTS_DEPTH);
  if (shown.length < CONTENTS_MIN) return '';
  const items = shown.map(({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`);
  return `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>`;
}

function neighbours(before: SitePage | undefined, after: SitePage | undefined): string {
  const link = (page: SitePage | undefined, rel: string): string =>
    page === undefined ? '<span></span>' : `<a rel="${rel}" href="${escapeHtml(page.link)}">${escapeHtml(page.title)}</a>`;
  return `<nav class="neighbours" aria-label="Before and after">${link(before, 'prev')}${link(after, 'next')}</nav>`;
}
