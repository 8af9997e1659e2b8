/**
 * The search of the documentation, in the browser. The index is loaded with the
 * first letter, as a script, so that it works in a folder without a server.
 * Every word of a question must begin a word of the part that is found; parts
 * whose heading has them come first.
 */
(() => {
  type Part = readonly [anchor: string, heading: string, text: string];
  type Page = readonly [address: string, title: string, parts: readonly Part[]];
  interface Found {
    readonly link: string;
    readonly title: string;
    readonly heading: string;
    readonly excerpt: string;
    readonly score: number;
  }

  const SHOWN_MAX = 12;
  const EXCERPT_CHARS = 150;
  const EXCERPT_BEFORE_CHARS = 40;
  const up = (document.currentScript as HTMLScriptElement).dataset['up'] ?? '';
  const input = document.querySelector<HTMLInputElement>('#search')!;
  const list = document.querySelector<HTMLOListElement>('#found')!;
  let pages: readonly Page[] | null = null;
  let isAsked = false;

  (globalThis as unknown as { unspentDocs: (given: readonly Page[]) => void }).unspentDocs = (given) => {
    pages = given;
    show();
  };

  function load(): void {
    if (isAsked) return;
    isAsked = true;
    const script = document.createElement('script');
    script.src = `${up}search-index.js`;
    document.head.append(script);
  }

  /** Where in the text a word begins with this one; -1: nowhere. */
  function wordAt(text: string, word: string): number {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
    }
    return -1;
  }

  function scoreOf(words: readonly string[], title: string, heading: string, text: string): number {
    let score = 0;
    for (const word of words) {
      if (wordAt(heading, word) >= 0) score += 8;
      else if (wordAt(title, word) >= 0) score += 3;
      else if (wordAt(text, word) >= 0) score += 1;
      else return 0;
    }
    return score;
  }

  function excerptOf(text: string, word: string): string {
    const near = Math.max(0, wordAt(text.toLowerCase(), word) - EXCERPT_BEFORE_CHARS);
    const at = near === 0 ? 0 : text.indexOf(' ', near) + 1;
    const cut = text.slice(at, at + EXCERPT_CHARS);
    return `${at > 0 ? '… ' : ''}${cut}${at + EXCERPT_CHARS < text.length ? ' …' : ''}`;
  }

  function find(words: readonly string[]): readonly Found[] {
    const found: Found[] = [];
    for (const [address, title, parts] of pages ?? []) {
      for (const [anchor, heading, text] of parts) {
        const score = scoreOf(words, title.toLowerCase(), heading.toLowerCase(), text.toLowerCase());
        if (score > 0) found.push({ link: `${up}${address}#${anchor}`, title, heading, excerpt: excerptOf(text, words[0]), score });
      }
    }
    return found.toSorted((a, b) => b.score - a.score).slice(0, SHOWN_MAX);
  }

  function row({ link, title, heading, excerpt }: Found): HTMLLIElement {
    const item = document.createElement('li');
    const anchor = document.createElement('a');
    anchor.href = link;
    anchor.append(heading === title ? title : `${title}: ${heading}`);
    const small = document.createElement('small');
    small.append(excerpt);
    anchor.append(small);
    item.append(anchor);
    return item;
  }

  function show(): void {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.hidden = words.length === 0 || pages === null;
    if (list.hidden) return;
    const found = find(words);
    const nothing = document.createElement('li');
    nothing.innerHTML = '<p>Nothing has all of these words.</p>';
    list.replaceChildren(...(found.length === 0 ? [nothing] : found.map(row)));
  }

  /** Up and down through what was found; from the first back to the question. */
  function move(step: 1 | -1): void {
    const links = [...list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement) + step;
    if (at < 0) input.focus();
    else links[Math.min(at, links.length - 1)]?.focus();
  }

  function clear(): void {
    input.value = '';
    show();
  }

  input.hidden = false;
  input.addEventListener('focus', load);
  input.addEventListener('input', show);
  input.form?.addEventListener('submit', (event) => {
    event.preventDefault();
    list.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    const isInSearch = input.form?.contains(document.activeElement) === true;
    if (event.key === '/' && !isInSearch) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape' && isInSearch) clear();
    else if (isInSearch && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    }
  });
  document.addEventListener('click', (event) => {
    if (input.form?.contains(event.target as Node) === false) list.hidden = true;
  });
  // On narrow screens the list of pages begins closed.
  if (matchMedia('(max-width: 52rem)').matches) document.querySelector('#pages')?.removeAttribute('open');
})();
