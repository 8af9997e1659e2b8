/**
 * The documentation as a site of static files: a page for each file of the
 * contents, a style, a script for the search and the index that it searches.
 * Links are relative, and scripts are plain ones, so that the site works at any
 * address, and from a folder without a server. Pages are made when they are
 * asked for.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join, normalize, relative } from 'node:path';
import { nextTurn } from '../../util/time-slice.ts';
import { ICON } from '../page/icon.ts';
import { ROOT, readSections, type Section } from './contents.ts';
import { pageDocument, type SitePage } from './layout.ts';
import { type RenderedPage, renderMarkdown } from './markdown.ts';
import { SITE_STYLE } from './style.ts';

export interface SiteFile {
  readonly type: string;
  readonly body: string | Buffer;
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const PICTURES = 'docs/images';
/** Of the pictures, by how their names end. */
const PICTURE_TYPES: Readonly<Record<string, string>> = { '.png': 'image/png', '.svg': 'image/svg+xml' };
/** Of the page with every route, and behind which other it is listed. */
const ROUTES = 'api.html';
const ROUTES_BEHIND = 'docs/reference/http.md';

export class DocsSite {
  private readonly sections: readonly Section[] = readSections();
  /** By the file that the page is made of, in the order of the contents. */
  private readonly addresses: ReadonlyMap<string, string>;
  private readonly files: ReadonlyMap<string, string>;
  private readonly rendered = new Map<string, RenderedPage>();
  private readonly pictures: readonly string[];
  private readonly routes: string | null;

  /** `routes`: the reference of the HTTP API as a page, where no server has one. */
  constructor(routes: string | null = null) {
    this.routes = routes;
    const pages = this.sections.flatMap(({ files }) => files);
    this.addresses = new Map(pages.map((file) => [file, addressOf(file)]));
    this.files = new Map(pages.map((file) => [addressOf(file), file]));
    this.pictures = readdirSync(join(ROOT, PICTURES)).filter((name) => extname(name) in PICTURE_TYPES);
  }

  /** Every address of the site, relative to where it begins. */
  get everyAddress(): readonly string[] {
    const routes = this.routes === null ? [] : [ROUTES];
    return [
      ...this.files.keys(),
      ...routes,
      'docs.css',
      'docs.js',
      'search-index.js',
      'icon.svg',
      ...this.pictures.map((name) => `images/${name}`),
    ];
  }

  /** Null: the site has nothing at this address. */
  async read(address: string): Promise<SiteFile | null> {
    const file = this.files.get(address);
    if (file !== undefined) return { type: HTML, body: await this.page(file, address) };
    if (address === ROUTES && this.routes !== null) return { type: HTML, body: this.routes };
    if (address === 'docs.css') return { type: 'text/css; charset=utf-8', body: SITE_STYLE };
    if (address === 'icon.svg') return { type: 'image/svg+xml', body: ICON };
    if (address === 'docs.js') return { type: SCRIPT, body: searchScript() };
    if (address === 'search-index.js') return { type: SCRIPT, body: await this.searchIndex() };
    const picture = this.pictures.find((name) => address === `images/${name}`);
    return picture === undefined ? null : { type: PICTURE_TYPES[extname(picture)], body: readFileSync(join(ROOT, PICTURES, picture)) };
  }

  private async page(file: string, address: string): Promise<string> {
    const sections = await Promise.all(
      this.sections.map(async ({ title, files, folded }) => ({
        title,
        isOpen: folded === undefined || files.includes(file),
        pages: (await Promise.all(files.map((each) => this.sitePages(each, address)))).flat(),
      })),
    );
    return pageDocument({ page: await this.render(file), address: await this.sitePage(file, address), sections, up: upwards(address) });
  }

  private async sitePages(file: string, from: string): Promise<SitePage[]> {
    const own = await this.sitePage(file, from);
    const hasRoutes = file === ROUTES_BEHIND && this.routes !== null;
    return hasRoutes ? [own, { title: 'Every route', link: relativeLink(from, ROUTES) }] : [own];
  }

  private async sitePage(file: string, from: string): Promise<SitePage> {
    const { title } = await this.render(file);
    return { title, link: relativeLink(from, this.addresses.get(file) ?? '') };
  }

  private async render(file: string): Promise<RenderedPage> {
    const known = this.rendered.get(file);
    if (known !== undefined) return known;
    await nextTurn();
    const page = renderMarkdown(readFileSync(join(ROOT, file), 'utf8'), (target) => this.resolve(file, target));
    this.rendered.set(file, page);
    return page;
  }

  private resolve(file: string, target: string): string | null {
    const [path, anchor] = target.split('#');
    const hash = anchor === undefined ? '' : `#${anchor}`;
    if (path === '') return hash;
    const wanted = normalize(join(dirname(file), path)).replace(/\/$/, '/README.md');
    const address = this.addresses.get(wanted) ?? (wanted.startsWith(`${PICTURES}/`) ? wanted.slice('docs/'.length) : null);
    return address === null ? null : `${relativeLink(addressOf(file), address)}${hash}`;
  }

  /** A script, not a document: a page that was opened as a file may load scripts and nothing else. */
  private async searchIndex(): Promise<string> {
    const pages = [];
    for (const [file, address] of this.addresses) {
      const { title, parts } = await this.render(file);
      pages.push([address, title, parts.map(({ heading, text }) => [heading.anchor, heading.text, text])]);
    }
    return `globalThis.unspentDocs(${JSON.stringify(pages)});\n`;
  }
}

/** `docs/reference/api/README.md` is at `reference/api/index.html`, `SECURITY.md` at `security.html`. */
function addressOf(file: string): string {
  const path = file.startsWith('docs/') ? file.slice('docs/'.length) : file.toLowerCase();
  return path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

function relativeLink(from: string, to: string): string {
  return relative(dirname(from), to);
}

/** What leads from a page to where the site begins. */
function upwards(address: string): string {
  return '../'.repeat(address.split('/').length - 1);
}

function searchScript(): string {
  const built = join(import.meta.dirname, 'client', 'search.js');
  if (existsSync(built)) return readFileSync(built, 'utf8');
  return stripTypeScriptTypes(readFileSync(built.replace(/\.js$/, '.ts'), 'utf8'));
}
