/**
 * Elements without a framework: `h` makes one, `replace` fills one, and that is
 * all. Text only ever becomes text nodes, so nothing a chain holds can become
 * markup.
 */

export type Child = Node | string | number | null | undefined | false | readonly Child[];
type Listener = (event: Event) => void;
type Props = Readonly<Record<string, string | number | boolean | null | undefined | Listener>>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (typeof child === 'string' || typeof child === 'number') parent.appendChild(document.createTextNode(String(child)));
    else if (child instanceof Node) parent.appendChild(child);
    else append(parent, child);
  }
}

export function replace(parent: Element, ...children: Child[]): void {
  const next = document.createDocumentFragment();
  append(next, children);
  parent.replaceChildren(next);
}

/** Sets the text only where it differs: what did not change is not announced or drawn again. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** The element of the document with this id; the page is ours, so it is there. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
