/** Rows of RFC 4180 as Go's encoding/csv reads them; empty lines are left out. Throws Error with the line. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let [at, line] = [0, 1];
  while (at < text.length) {
    const row: string[] = [];
    const from = line;
    const fail = (why: string) => new Error(`parse error on line ${from}: ${why}`);
    for (;;) {
      const [field, next] = text[at] === '"' ? quoted(text, at, fail) : bare(text, at, fail);
      line += text.slice(at, next).split('\n').length - 1;
      row.push(field);
      at = next;
      if (text[at] !== ',') break;
      at++;
    }
    if (text.startsWith('\r\n', at)) at += 2;
    else if (text[at] === '\n') at++;
    else if (at < text.length) throw fail('extraneous or missing " in quoted-field');
    line++;
    if (row.length > 1 || row[0] !== '') rows.push(row);
  }
  return rows;
}

type Fail = (why: string) => Error;

function bare(text: string, from: number, fail: Fail): [string, number] {
  const [field = ''] = /[^,\n]*/y.exec(text.slice(from)) ?? [];
  if (field.includes('"')) throw fail('bare " in non-quoted-field');
  const own = field.endsWith('\r') && text[from + field.length] !== ',' ? field.slice(0, -1) : field;
  return [own, from + own.length];
}

/** Two quotes are one. */
function quoted(text: string, from: number, fail: Fail): [string, number] {
  let at = from + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) throw fail('extraneous or missing " in quoted-field');
    if (text[end + 1] !== '"') return [text.slice(from + 1, end).replaceAll('""', '"'), end + 1];
    at = end + 2;
  }
}
