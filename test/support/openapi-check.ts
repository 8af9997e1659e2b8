/**
 * Answers held against the OpenAPI document: the route is in it, the status is,
 * the media type is, the body is what its schema says, and the headers that
 * every answer has are there. ajv in its 2020 dialect, which is that of OpenAPI
 * 3.1, as a second opinion on schemas that another validator uses to let
 * requests in.
 */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Checked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** On every answer, whatever it says. */
const ALWAYS: Readonly<Record<string, RegExp>> = {
  'content-security-policy': /default-src 'self'.*frame-ancestors 'none'/,
  'x-content-type-options': /^nosniff$/,
  'referrer-policy': /^no-referrer$/,
};

const DOCUMENT = 'unspent:openapi';

export class OpenApiCheck {
  private readonly document: Document;
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly patterns: readonly { readonly path: string; readonly matches: RegExp }[];
  private readonly compiled = new Map<string, ValidateFunction>();
  /** Routes that were asked, as `GET /path`, with how often. */
  readonly asked = new Map<string, number>();

  constructor(document: Document) {
    assert.equal(document.openapi, '3.1.0');
    this.document = document;
    this.ajv.addSchema({ ...document, $id: DOCUMENT });
    // Paths without parameters first: /blocks/latest is not a block of that name.
    const paths = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length);
    this.patterns = paths.map((path) => ({ path, matches: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`) }));
  }

  answer(method: string, url: string, answer: Checked): void {
    for (const [name, wanted] of Object.entries(ALWAYS)) assert.match(answer.headers[name] ?? '', wanted, `${name} of ${url}`);
    assert.equal(answer.headers['access-control-allow-origin'], undefined, 'no other origin may read');
    const pathname = url.split('?')[0];
    const path = this.patterns.find(({ matches }) => matches.test(pathname))?.path;
    const operation = path === undefined ? undefined : this.document.paths[path][method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (path === undefined || operation === undefined) {
      // A page, or no route: then at least the problem is one. Blockfrost has another form for what fails (`blockfrost-check.ts`).
      if (answer.status >= 400 && !pathname.startsWith('/blockfrost')) this.body('components/schemas/Problem', answer, url);
      return;
    }
    const route = `${method} ${path}`;
    this.asked.set(route, (this.asked.get(route) ?? 0) + 1);
    const status = String(answer.status) in operation.responses ? String(answer.status) : 'default';
    assert.ok(status !== 'default' || answer.status >= 400, `${route} answers ${answer.status}, which the document does not have`);
    const content = operation.responses[status].content;
    if (content === undefined) {
      assert.equal(answer.text, '', `${route} ${status} has no body`);
      return;
    }
    const type = (answer.headers['content-type'] ?? '').split(';')[0];
    assert.ok(type in content, `${route} ${status} is ${type}, the document has ${Object.keys(content)}`);
    if (method === 'HEAD' || !type.includes('json')) return;
    const verb = method.toLowerCase();
    this.body(`paths/${escaped(path)}/${verb}/responses/${status}/content/${escaped(type)}/schema`, answer, url);
  }

  private body(pointer: string, { text, status }: Checked, url: string): void {
    const validate = this.compiled.get(pointer) ?? this.ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` });
    this.compiled.set(pointer, validate);
    // Of lines each is a document of its own.
    for (const part of pointer.endsWith('application~1jsonl/schema') ? text.trimEnd().split('\n') : [text]) {
      const body: unknown = JSON.parse(part);
      if (validate(body)) continue;
      assert.fail(`${status} of ${url} is not what the document says: ${this.ajv.errorsText(validate.errors)}\n${part.slice(0, 600)}`);
    }
  }
}

/** A part of a JSON pointer in a URI. */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
