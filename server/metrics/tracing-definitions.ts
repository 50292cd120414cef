import { counter } from './define.ts';

export const tracing = {
  exported: counter('atoll_tracing_spans_exported_total', 'Spans that the receiver took.', []),
  lost: counter(
    'atoll_tracing_spans_lost_total',
    'Spans that are lost: there was no room for them (buffered), or the receiver did not take them (receiver).',
    ['reason'],
  ),
} as const;
