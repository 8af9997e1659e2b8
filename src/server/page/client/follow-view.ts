/**
 * A page of now stays one of now: with each newest block it is read again, and
 * the parts that came out differently take the place of those that are there.
 * A part that somebody has opened, selected from, or has the focus in is left
 * as it is; the page then says so, with a button that shows it all anew.
 */
import { problem } from './api.ts';
import { h, update } from './dom.ts';
import type { View } from './subject.ts';

/** While the store runs ahead faster than anybody could read. */
const ANEW_MS = 1500;
/** How long ago something was is kept true by itself. */
const AGO = /(<time[^>]*>)[^<]*/g;

interface Part {
  element: Element;
  /** As it was made, before it was drawn or opened. */
  readonly made: string;
}

/** `read` makes the same page as of the newest block. */
export function followingView(view: View, read: () => Promise<View>): View {
  let [parts, at, isClosed] = [partsOf(view.element), Date.now(), false];
  const opened = new WeakSet<Element>();
  const open = ({ target }: Event): void => {
    const control = target instanceof Element ? target.closest('button, summary') : null;
    const part = parts.find(({ element }) => element.contains(control));
    if (part !== undefined && control?.classList.contains('copy') === false) opened.add(part.element);
  };
  view.element.addEventListener('click', open);
  const stale = h(
    'p',
    { class: 'notice stale', role: 'status', hidden: true },
    'Parts that you are in or have opened are as of an earlier block.',
  );
  const renew = async (isAll: boolean): Promise<void> => {
    const next = await read();
    if (isClosed || !view.element.isConnected) return;
    const there = partsOf(next.element);
    const isHeld = ({ element }: Part): boolean => !isAll && (opened.has(element) || isInUse(element));
    // Other parts than before: what stood where says nothing then.
    const isAnother = there.length !== parts.length;
    const held = parts.filter((part, i) => isHeld(part) && (isAnother || part.made !== there[i].made));
    stale.hidden = held.length === 0;
    if (isAnother && held.length > 0) return;
    parts = isAnother
      ? exchanged(view.element, parts, there)
      : parts.map((part, i) => (held.includes(part) ? part : renewed(part, there[i])));
    if (view.element.lastElementChild !== stale) view.element.append(stale);
  };
  stale.append(
    ' ',
    h('button', { class: 'button', type: 'button', click: () => void renew(true).catch(() => undefined) }, 'Show it as of now'),
  );
  return {
    ...view,
    async refresh() {
      await new Promise((resolve) => setTimeout(resolve, at + ANEW_MS - Date.now()));
      if (isClosed) return;
      at = Date.now();
      try {
        await renew(false);
      } catch (error) {
        // It is gone; whatever else fails is asked for again with the next block.
        if (problem(error).status === 404) throw error;
      }
    },
    close() {
      isClosed = true;
      view.close?.();
    },
  };
}

function partsOf(frame: HTMLElement): Part[] {
  return [...frame.children].map((element) => ({ element, made: element.outerHTML.replaceAll(AGO, '$1') }));
}

function isInUse(element: Element): boolean {
  const selection = getSelection();
  const isSelected = selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  return isSelected || element.contains(document.activeElement);
}

/** Facts are written into what is there: nothing in them remembers what it was made for. */
function renewed(part: Part, next: Part): Part {
  if (part.made === next.made) return part;
  if (!part.element.classList.contains('subject')) {
    part.element.replaceWith(next.element);
    return next;
  }
  update(part.element, [...next.element.childNodes]);
  return { element: part.element, made: next.made };
}

function exchanged(frame: HTMLElement, parts: readonly Part[], next: Part[]): Part[] {
  frame.append(...next.map(({ element }) => element));
  for (const { element } of parts) element.remove();
  return next;
}
