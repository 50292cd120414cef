const plain = /^[\w.:/*-]*$/;

/** As JSON.stringify, which takes longer for what is short and plain, as most names are. */
export function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}
