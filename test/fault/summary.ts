import type { PartSummary } from './runner.ts';

const COLUMNS = ['part', 'runs', 'wanted', 'faults', 'operations', 'seconds', 'failures', 'counts'];

export function table(summaries: readonly PartSummary[]): string {
  const rows = summaries.map((s) => [
    s.bug === undefined ? s.part : `${s.part} --bug ${s.bug}`,
    ...[s.runs, s.wanted, s.faults, s.ops, Math.round(s.seconds), s.failures.length].map(String),
    Object.entries(s.counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', '),
  ]);
  const all = [COLUMNS, ...rows];
  const widths = COLUMNS.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
