/**
 * The beginning of what a server answers, as text: one that goes on and on is
 * left when that much has come.
 */
export async function beginningOf(response: Response, charsMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > charsMax) break;
  }
  return text;
}
