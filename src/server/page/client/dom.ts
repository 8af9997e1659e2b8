/**
 * Elements without a framework: `h` makes one, `svg` one of a drawing, `replace` fills one anew, `update`
 * fills it again and keeps what can stay. Text only ever becomes text nodes, so nothing a chain holds can become
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

/** The same for drawings. */
export function svg(tag: string, props: Readonly<Record<string, string | number | null>> = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(props)) if (value !== null) element.setAttribute(name, String(value));
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

/**
 * Makes what an element holds look like this and keeps every element that can stay, so that the focus, a selection
 * and a screen reader keep their place. Listeners stay with their elements: what differs must be in attributes.
 */
export function update(parent: Element, ...children: Child[]): void {
  const next = document.createDocumentFragment();
  append(next, children);
  match(parent, next);
}

function match(have: Node, want: Node): void {
  const [old, wanted] = [[...have.childNodes], [...want.childNodes]];
  wanted.forEach((node, i) => {
    const there = old[i];
    if (there === undefined) have.appendChild(node);
    else if (there.nodeName !== node.nodeName) have.replaceChild(node, there);
    else if (there instanceof Element && node instanceof Element) {
      matchAttributes(there, node);
      match(there, node);
    } else if (there.nodeValue !== node.nodeValue) there.nodeValue = node.nodeValue;
  });
  for (const extra of old.slice(wanted.length)) extra.remove();
}

/** A style is set by itself: the policy of the page forbids it as an attribute. */
function matchAttributes(have: Element, want: Element): void {
  for (const { name } of [...have.attributes]) if (name !== 'style' && !want.hasAttribute(name)) have.removeAttribute(name);
  for (const { name, value } of want.attributes) if (name !== 'style' && have.getAttribute(name) !== value) have.setAttribute(name, value);
  if (have instanceof HTMLElement && want instanceof HTMLElement && have.style.cssText !== want.style.cssText)
    have.style.cssText = want.style.cssText;
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
