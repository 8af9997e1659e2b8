/**
 * The reference of the package as pages: one for each door, and one that lists
 * them. Made from the declarations and their doc comments alone, so it says what
 * an editor shows.
 */
import type { Declaration, Member } from './declarations.ts';
import type { Door } from './doors.ts';

const NOTE = '<!-- Made from the doc comments by `npm run docs:api`; change those. -->';

/** Pages by their file name. */
export function apiPages(doors: readonly Door[]): ReadonlyMap<string, string> {
  const pages = new Map([['README.md', overview(doors)]]);
  for (const door of doors) pages.set(fileOf(door), doorPage(door));
  return pages;
}

function fileOf({ name }: Door): string {
  return `${name.replace('/', '-')}.md`;
}

function overview(doors: readonly Door[]): string {
  const rows = doors.map((door) => `| [\`${door.name}\`](${fileOf(door)}) | ${firstSentence(aboutDoor(door))} |`);
  return `${[
    '# The library, door by door',
    NOTE,
    'Everything that the package exports. What is not here is not public and may change without notice. [examples/](../../../examples/) has programs to begin with.',
    ['| import from | what it is for |', '| --- | --- |', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

function doorPage(door: Door): string {
  const sections = door.declarations.filter(({ kind }) => kind !== 'namespace').sort(inOrder);
  const namespaces = door.declarations.filter(({ kind }) => kind === 'namespace');
  return `${[
    `# \`${door.name}\``,
    NOTE,
    upper(aboutDoor(door)),
    ...sectionsOf(sections, '##'),
    ...namespaces.flatMap(({ name, doc, inside }) => [`## \`${name}\``, doc, ...sectionsOf([...inside].sort(inOrder), '###', `${name}.`)]),
  ].join('\n\n')}\n`;
}

/** The comment of a door begins with its name. */
function aboutDoor({ doc }: Door): string {
  return oneLine(doc.replace(/^`unspent[^`]*`: /, ''));
}

function sectionsOf(declarations: readonly Declaration[], heading: string, prefix = ''): string[] {
  const written = new Set<string>();
  return declarations.flatMap((declaration) => {
    const { name, doc, members } = declaration;
    const isFirst = !written.has(name);
    written.add(name);
    return [
      ...(isFirst ? [`${heading} ${prefix}${name}`] : []),
      ...(doc === '' ? [] : [oneLine(doc)]),
      `\`\`\`ts\n${signature(declaration)}\n\`\`\``,
      ...(members.length === 0 ? [] : [members.map(memberLine).join('\n')]),
    ];
  });
}

/** Without bodies, which the list of members shows. */
function signature({ name, kind, text, members }: Declaration): string {
  // Under the name by which programs know it.
  const bare = withoutComments(text)
    .replace(/^export (declare )?/, '')
    .replace(/^((?:abstract )?(?:class|interface|function|const|type)) [\w$]+/, `$1 ${name}`);
  if (kind !== 'class' && kind !== 'interface') return bare;
  return members.length === 0 ? bare : `${bare.slice(0, bare.indexOf('{')).trim()} { ... }`;
}

function memberLine({ text, doc }: Member): string {
  return `- \`${oneLine(withoutComments(text))}\`: ${oneLine(doc)}`;
}

function withoutComments(text: string): string {
  return text.replace(/\n? *\/\*\*[\s\S]*?\*\//g, '').trim();
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function firstSentence(text: string): string {
  return upper(/^.*?[.](?= |$)/.exec(text)?.[0] ?? text);
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const KINDS: readonly Declaration['kind'][][] = [['function'], ['class'], ['const'], ['interface', 'type']];

/** What is called first, then what it takes and gives; by name, whatever the machine's language: the pages are compared byte for byte. */
function inOrder(a: Declaration, b: Declaration): number {
  const rank = ({ kind }: Declaration): number => KINDS.findIndex((kinds) => kinds.includes(kind));
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : a.name < b.name ? -1 : 1;
}
