/** Without the `last` characters at its end; not by a regular expression, which of many elsewhere would try each as the first. */
export function withoutLast(text: string, last: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === last) end--;
  return text.slice(0, end);
}
