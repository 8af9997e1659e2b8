/**
 * The reference at /docs: the OpenAPI document as a page a person can read. Made
 * on the server, once; no script, nothing from elsewhere, light and dark.
 */
import type { FastifyInstance } from 'fastify';
import { ERROR_CODES } from '../../util/errors.ts';
import { anchorOf, UNFORESEEN } from '../http/problem.ts';
import { API } from './openapi.ts';
import { REFERENCE_STYLE } from './reference-style.ts';

/** As much of OpenAPI as our own document uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** In the order a reader meets them. */
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function registerReference(app: FastifyInstance): void {
  const options = { schema: { hide: true }, config: { withoutToken: true } };
  let page: string | undefined;
  app.get('/docs', options, (_request, reply) => {
    page ??= referencePage(app.swagger() as unknown as Document);
    reply.header('content-type', 'text/html; charset=utf-8').header('cache-control', 'no-cache').send(page);
  });
  app.get('/docs/style.css', options, (_request, reply) => {
    reply.header('content-type', 'text/css; charset=utf-8').header('cache-control', 'no-cache').send(REFERENCE_STYLE);
  });
}

function referencePage({ info, tags, paths, components }: Document): string {
  const found = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const places = new Map(tags.map(({ name }, place) => [name, place]));
  const placeOf = ({ operation }: Route): number => places.get(operation.tags?.[0] ?? '') ?? tags.length;
  const routes = found.toSorted((a, b) => placeOf(a) - placeOf(b));
  const byTag = Map.groupBy(routes, ({ operation }) => operation.tags?.[0] ?? 'More');
  const sections = [...byTag].map(([tag, own]) => `<section><h2>${html(tag)}</h2>${own.map(routePart).join('')}</section>`);
  const names = Object.entries(components.schemas);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${html(info.title)} HTTP reference</title><link rel="stylesheet" href="/docs/style.css"></head>
<body><header><h1>${html(info.title)} <small>${html(info.version)}</small></h1>
<p>${prose(info.description)}</p><p><a href="${API}/openapi.json">openapi.json</a></p></header>
<nav aria-label="Routes"><ul>${routes.map(linkTo).join('')}</ul></nav>
<main>${sections.join('')}
<section><h2>Documents</h2>${names.map(([name, schema]) => schemaPart(name, schema)).join('')}</section>
<section><h2>Problems</h2><p>A failure is a problem document with one of these codes.</p>${problemTable()}</section></main>
</body></html>`;
}

function linkTo(route: Route): string {
  return `<li><a href="#${idOf(route)}"><b>${route.method}</b> ${html(route.path)}</a></li>`;
}

function idOf({ method, path }: Route): string {
  return `${method}${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function routePart(route: Route): string {
  const { method, path, operation } = route;
  const { summary = '', description, parameters = [], requestBody, responses } = operation;
  const inOrder = parameters.toSorted((a, b) => Number(b.in === 'path') - Number(a.in === 'path'));
  const rows = inOrder.map(({ name, in: place, required, description: text, schema }) => [
    `<code>${html(name)}</code>`,
    `${place}${required === true ? ', needed' : ''}`,
    typeOf(schema),
    prose(text ?? schema.description ?? ''),
  ]);
  const body = Object.values(requestBody?.content ?? {}).map(({ schema }) => [
    'body',
    'needed',
    typeOf(schema),
    prose(schema.description ?? ''),
  ]);
  const answers = Object.entries(responses).map(([status, { description: text, content = {} }]) => {
    const kinds = Object.entries(content).map(([type, { schema }]) => `<code>${html(type)}</code> ${typeOf(schema)}`);
    return [status, prose(text), kinds.join('<br>')];
  });
  return `<article id="${idOf(route)}"><h3><b>${method}</b> <code>${html(path)}</code></h3><p>${prose(summary)}.${
    description === undefined ? '' : ` ${prose(description)}`
  }</p>${table(['Parameter', 'Where', 'Type', ''], [...rows, ...body])}${table(['Status', 'Answer', 'As'], answers)}</article>`;
}

function schemaPart(name: string, { description, properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([field, schema]) => [
    `<code>${html(field)}</code>`,
    required.includes(field) ? 'always' : 'may be absent',
    typeOf(schema),
    prose(schema.description ?? ''),
  ]);
  const about = description === undefined ? '' : `<p>${prose(description)}</p>`;
  return `<article id="schema-${html(name)}"><h3>${html(name)}</h3>${about}${table(['Field', '', 'Type', ''], rows)}</article>`;
}

function problemTable(): string {
  const known = Object.entries(ERROR_CODES).map(([code, { status, meaning, advice }]) => ({ code, status, meaning, advice }));
  const all = [...known, { code: UNFORESEEN.code, status: UNFORESEEN.status, meaning: UNFORESEEN.title, advice: UNFORESEEN.advice }];
  const rows = all.map(({ code, status, meaning, advice }) => [
    `<code id="${anchorOf(code)}">${code}</code>`,
    `${status}`,
    prose(meaning),
    prose(advice),
  ]);
  return table(['Code', 'Status', 'Meaning', 'What to do'], rows);
}

/** A schema in a word or two. */
function typeOf(schema: Schema): string {
  const { $ref, anyOf, items, type, minimum, maximum } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return `<a href="#schema-${html(name)}">${html(name)}</a>`;
  }
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (schema.const !== undefined) return `<code>${html(String(schema.const))}</code>`;
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const bounds = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` ${minimum ?? ''} to ${maximum}`;
  return `${html(type ?? 'anything')}${bounds}`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('');
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

/** Text with `code` in it. */
function prose(text: string): string {
  return html(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
