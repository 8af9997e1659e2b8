/**
 * Small files of ours as JSON with a checksum, so that a flipped bit in a number
 * or a name is found and not believed.
 */
import { crc32c } from './crc32c.ts';

export function checkedText(content: object): string {
  return `${JSON.stringify({ ...content, checksum: checksumOf(content) }, null, 2)}\n`;
}

/** Without the checksum; null: the text is no JSON object, or not the one that was written. */
export function parseChecked(text: string): Record<string, unknown> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { checksum, ...content } = value as Record<string, unknown>;
  return checksum === checksumOf(content) ? content : null;
}

function checksumOf(content: object): string {
  return crc32c(new TextEncoder().encode(JSON.stringify(content)))
    .toString(16)
    .padStart(8, '0');
}
