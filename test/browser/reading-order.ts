/**
 * A page as a screen reader has it: Chromium's own accessibility tree. Whatever
 * can be operated has a name, there is one heading of the first level, and none
 * below skips a level.
 */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

const OPERATED: readonly string[] = ['link', 'button', 'slider', 'textbox', 'searchbox', 'checkbox', 'combobox'];

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
}

export async function assertReadable(page: Page, what: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: readonly AxNode[] };
  await session.detach();
  const seen = nodes.filter(({ ignored }) => !ignored);
  const roleOf = ({ role }: AxNode): string => String(role?.value ?? '');
  const nameOf = ({ name }: AxNode): string => String(name?.value ?? '').trim();
  const operated = seen.filter((node) => OPERATED.includes(roleOf(node)));
  assert.ok(operated.length > 3, `${what}: ${operated.length} things to operate`);
  for (const node of operated) assert.notEqual(nameOf(node), '', `${what}: a ${roleOf(node)} has no name`);
  const levels = seen
    .filter((node) => roleOf(node) === 'heading')
    .map(({ properties = [] }) => Number(properties.find(({ name }) => name === 'level')?.value.value));
  assert.equal(levels.filter((level) => level === 1).length, 1, `${what}: headings ${levels}`);
  for (const [i, level] of levels.entries()) assert.ok(level <= (levels[i - 1] ?? level) + 1, `${what}: headings ${levels}`);
  for (const role of ['main', 'banner'])
    assert.ok(
      seen.some((node) => roleOf(node) === role),
      `${what}: no ${role}`,
    );
}
