/**
 * What must not be shown. Sources are URLs, and a URL may carry a password: in
 * messages, in the status, and in a mistyped one.
 */
export function withoutSecret(text: string): string {
  // Up to the last @: a password that nobody has escaped may have one, and rather too much is left out than too little.
  return text.replace(/\/\/\S*@/g, '//').replace(/([?&](?:ssl)?password=)[^&\s]*/gi, '$1***');
}
