/**
 * What must not be shown. Sources are URLs, and a URL may carry a password: in
 * messages, in the status, and in a mistyped one.
 */
export function withoutSecret(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/g, '//');
}
