/**
 * Looks inside a page: what its canvases show, whether its text can be read on
 * its background, whether anything is wider than the screen. Written as text
 * because it runs over there, where other globals are.
 */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Pixels of each chart, by title, that have one of the colours (#rrggbb, of the stylesheet) its lines are drawn in. */
export async function chartPixels(page: Page): Promise<Record<string, number>> {
  return page.evaluate(`(() => {
    const probe = document.body.appendChild(document.createElement('span'));
    const inkOf = (name) => { probe.style.color = name; return getComputedStyle(probe).color.match(/\\d+/g).map(Number); };
    const result = {};
    for (const figure of document.querySelectorAll('.chart')) {
      const canvas = figure.querySelector('canvas');
      const marks = [...figure.querySelectorAll('.reading i')].map((mark) => getComputedStyle(mark).getPropertyValue('--ink'));
      const inks = (marks.length > 0 ? marks : ['var(--warn)', 'var(--accent)']).map(inkOf);
      let pixels = 0;
      if (canvas !== null && canvas.width > 0) {
        // A copy: reading from the original would slow down its drawing, and the browser says so.
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] > 200 && inks.some((ink) => ink.every((part, i) => Math.abs(part - data[at + i]) < 12))) pixels++;
      }
      result[figure.querySelector('h2').textContent] = pixels;
    }
    probe.remove();
    return result;
  })()`);
}

/** Texts that stand out from their background less than WCAG AA asks for. */
export async function faintTexts(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = (part) => { const c = part / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
    const groundOf = (element) => {
      for (let at = element; at !== null; at = at.parentElement) {
        const ground = getComputedStyle(at).backgroundColor;
        const parts = ground.startsWith('color(') ? parse(ground).map((part, i) => (i < 3 ? 255 * part : part)) : parse(ground);
        if (parts.length > 0 && (parts[3] ?? 1) > 0.5) return parts;
      }
      return [255, 255, 255];
    };
    const faint = [];
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()).join('');
      if (own === '' || !element.checkVisibility() || element.closest('noscript, .unseen, .skip')) continue;
      const style = getComputedStyle(element);
      const [one, two] = [luminance(parse(style.color)), luminance(groundOf(element))].sort((a, b) => b - a);
      const ratio = (one + 0.05) / (two + 0.05);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) faint.push(own.slice(0, 30) + ' ' + ratio.toFixed(2));
    }
    return faint;
  })()`);
}

/** Fails when the page can be moved sideways, and names what sticks out. */
export async function assertNarrow(page: Page): Promise<void> {
  const [content, screen, out] = (await page.evaluate(`[
    document.documentElement.scrollWidth,
    innerWidth,
    [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.strip, .blob, thead')).map((e) => e.outerHTML.slice(0, 120)),
  ]`)) as [number, number, string[]];
  assert.ok(content <= screen, `${page.url()} is ${content} wide on a screen of ${screen}: ${out.join('\n')}`);
  assert.deepEqual(out, [], `${page.url()} has parts outside of the screen`);
}

const SHIFT_MAX = 0.02;
/** To be there before the page is: adds up how far things moved that were already there. */
export const SHIFT_OBSERVER = `window.shifted = 0; window.moved = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      window.shifted += entry.value;
      window.moved.push(...entry.sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? node?.textContent));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Fails when what is drawn has moved since the last question, and names what did. */
export async function assertStill(page: Page): Promise<void> {
  const [shifted, moved] = (await page.evaluate('[window.shifted, window.moved]')) as [number, string[]];
  await page.evaluate('window.shifted = 0; window.moved = []');
  assert.ok(shifted <= SHIFT_MAX, `things on ${page.url()} moved by ${shifted}: ${moved.join('\n')}`);
}
