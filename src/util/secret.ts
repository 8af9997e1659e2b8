/**
 * What must not be shown. Sources are URLs, and a URL may carry a password: in
 * messages, in the status, and in a mistyped one. So may what others say of
 * them, and a link to the page carries the token of the wallets.
 */
export function withoutSecret(text: string): string {
  return (
    text
      // Up to the last @: a password that nobody has escaped may have one, and rather too much is left out than too little.
      .replace(/\/\/\S*@/g, '//')
      .replace(/([?&#](?:ssl)?(?:password|token|wallet-token)=)[^&\s]*/gi, '$1***')
      .replace(/\b(Bearer|Basic) +[^\s"',;]+/gi, '$1 ***')
  );
}
