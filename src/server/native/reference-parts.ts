/**
 * The parts of the reference: a route with its parameters, answers and a form to
 * try it with, a document with its fields, the codes of problems. As text, with
 * everything that came from elsewhere escaped.
 */
import { ERROR_CODES } from '../../util/errors.ts';
import { escapeHtml } from '../http/escape-html.ts';
import { anchorOf, UNFORESEEN } from '../http/problem.ts';

/** As much of OpenAPI as our own document uses. */
export interface Schema {
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
  /** It has a body, and changes nothing (`ONLY_READS`). */
  readonly 'x-reads'?: boolean;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** In the order a reader meets them. */
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** In the list at the side: its words are what the search looks through. */
export function linkTo(route: Route): string {
  const { method, path, operation } = route;
  const name = escapeHtml(operation.summary ?? path);
  return `<li data-words="${escapeHtml(wordsOf(route))}"><a href="#${idOf(route)}"><span>${name}</span><code><b>${method}</b> ${shortPath(path)}</code></a></li>`;
}

/** Without what all have in common. */
function shortPath(path: string): string {
  return escapeHtml(path.replace(/^\/api\/v1/, ''));
}

function wordsOf({ method, path, operation }: Route): string {
  const names = (operation.parameters ?? []).map(({ name }) => name).join(' ');
  return `${method} ${path} ${operation.summary ?? ''} ${operation.description ?? ''} ${names}`.toLowerCase();
}

export function idOf({ method, path }: Route): string {
  return `${method}${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** `isTried`: with a form for those that only read. */
export function routePart(route: Route, isTried: boolean): string {
  const { method, path, operation } = route;
  const { summary = '', description, parameters = [], requestBody, responses } = operation;
  const rows = inPathFirst(parameters).map(({ name, in: place, required, description: text, schema }) => [
    `<code>${escapeHtml(name)}</code>`,
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
    const kinds = Object.entries(content).map(([type, { schema }]) => `<code>${escapeHtml(type)}</code> ${typeOf(schema)}`);
    return [status, prose(text), kinds.join('<br>')];
  });
  const id = idOf(route);
  const about = description === undefined ? '' : `<p>${prose(description)}</p>`;
  return `<article id="${id}" class="card route" data-words="${escapeHtml(wordsOf(route))}">
<h3><a href="#${id}">${prose(summary)}</a></h3><p class="call"><b data-method="${method}">${method}</b> <code>${escapeHtml(path)}</code></p>${about}
${table(`Parameters of ${summary}`, ['Parameter', 'Where', 'Type', 'Meaning'], [...rows, ...body])}${table(`Answers of ${summary}`, ['Status', 'Answer', 'As'], answers)}${isTried ? form(route) : ''}</article>`;
}

function inPathFirst(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.toSorted((a, b) => Number(b.in === 'path') - Number(a.in === 'path'));
}

/** Shown by the script of the page, which also fills in values that the store has. Requests that change something are not tried from here. */
function form({ method, path, operation }: Route): string {
  const isStream = Object.keys(operation.responses['200']?.content ?? {}).includes('text/event-stream');
  const hasBody = operation['x-reads'] === true;
  if ((method !== 'GET' && !hasBody) || isStream) return '';
  const asked = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path' || parameter.in === 'query');
  const fields = inPathFirst(asked);
  const id = (name: string): string => `try-${idOf({ method, path, operation })}-${escapeHtml(name)}`;
  const inputs = fields.map(({ name, in: place, required }) => {
    const needed = required === true ? ' required' : '';
    return `<label for="${id(name)}"><code>${escapeHtml(name)}</code><input id="${id(name)}" name="${escapeHtml(name)}" data-in="${place}"${needed} autocomplete="off" spellcheck="false"></label>`;
  });
  const body = `<label class="body" for="${id('body')}"><code>body</code><textarea id="${id('body')}" name="body" data-in="body" rows="3" required spellcheck="false"></textarea></label>`;
  return `<form class="try" data-path="${escapeHtml(path)}" data-method="${method}" hidden><div class="fields">${inputs.join('')}${hasBody ? body : ''}</div><button class="button" type="submit">Run</button><div class="result" aria-live="polite"></div></form>`;
}

export function schemaPart(name: string, { description, properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([field, schema]) => [
    `<code>${escapeHtml(field)}</code>`,
    required.includes(field) ? 'always' : 'may be absent',
    typeOf(schema),
    prose(schema.description ?? ''),
  ]);
  const about = description === undefined ? '' : `<p>${prose(description)}</p>`;
  const heading = `<h3><a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a></h3>`;
  const fields = table(`Fields of ${name}`, ['Field', 'There', 'Type', 'Meaning'], rows);
  return `<article id="schema-${escapeHtml(name)}" class="card" data-words="${escapeHtml(name.toLowerCase())}">${heading}${about}${fields}</article>`;
}

export function problemTable(): string {
  const known = Object.entries(ERROR_CODES).map(([code, { status, meaning, advice }]) => ({ code, status, meaning, advice }));
  const all = [...known, { code: UNFORESEEN.code, status: UNFORESEEN.status, meaning: UNFORESEEN.title, advice: UNFORESEEN.advice }];
  const rows = all.map(({ code, status, meaning, advice }) => [
    `<code id="${anchorOf(code)}">${code}</code>`,
    `${status}`,
    prose(meaning),
    prose(advice),
  ]);
  return table('Codes of problems', ['Code', 'Status', 'Meaning', 'What to do'], rows);
}

/** A schema in a word or two. */
function typeOf(schema: Schema): string {
  const { $ref, anyOf, items, type, minimum, maximum } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return `<a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
  }
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`;
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const bounds = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` ${minimum ?? ''} to ${maximum}`;
  return `${escapeHtml(type ?? 'anything')}${bounds}`;
}

/** `of`: what it is a table of, for those who do not see where it stands. */
function table(of: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('');
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<div class="wide" tabindex="0" role="group" aria-label="${escapeHtml(of)}"><table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

/** Text with `code` in it. */
export function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
