/**
 * Dark or light: what the system prefers, until a person chooses. It runs
 * before the first paint, so that a chosen theme never flashes in the other.
 */

const KEY = 'unspent.theme';
const order = ['auto', 'light', 'dark'] as const;
type Theme = (typeof order)[number];

let chosen: Theme = order.find((name) => name === stored()) ?? 'auto';

/** Where pages may not keep anything, a choice lasts as long as the page. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function systemTheme(): Theme {
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** To the other of dark and light; where that is what the system prefers, it may choose again. */
export function toggle(): void {
  const system = systemTheme();
  const other: Theme = (chosen === 'auto' ? system : chosen) === 'dark' ? 'light' : 'dark';
  chosen = other === system ? 'auto' : other;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Not kept, then.
  }
  show();
}

function show(): void {
  document.documentElement.dataset['theme'] = chosen;
}

show();
