import type { PartSummary } from './runner.ts';

const COLUMNS = ['part', 'runs', 'faults', 'operations', 'seconds', 'failures'];
const WIDTH = 118;

/** A line for each part, and below it what its faults were and how they ended. */
export function table(summaries: readonly PartSummary[]): string {
  const rows = summaries.map((s) => [
    s.bug === undefined ? s.part : `${s.part} --bug ${s.bug}`,
    ...[s.runs, s.faults, s.ops, Math.round(s.seconds), s.failures.length].map(String),
  ]);
  const widths = COLUMNS.map((_, i) => Math.max(...[COLUMNS, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ');
  return [line(COLUMNS), ...rows.flatMap((row, i) => [line(row), ...counts(summaries[i])])].join('\n');
}

function counts(summary: PartSummary | undefined): string[] {
  if (summary === undefined || summary.bug !== undefined) return [];
  const lines: string[] = [];
  for (const [name, count] of Object.entries(summary.counts).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const text = `${count} ${name}`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length + 2 <= WIDTH)
      lines[lines.length - 1] = `${last}, ${text}`;
    else lines.push(`  ${text}`);
  }
  return lines;
}
