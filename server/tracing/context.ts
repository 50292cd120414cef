/** https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  /** 32 and 16 hexadecimal digits. */
  traceId: string;
  spanId: string;
  sampled: boolean;
  /** What others keep in it; passed on as it came. */
  state: string;
}

const parent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const key = '(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})';
const member = new RegExp(
  `^[ \\t]*${key}=[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{0,255}[\\x21-\\x2b\\x2d-\\x3c\\x3e-\\x7e][ \\t]*$`,
);
const mostMembers = 32;
const longestState = 512;

/** Of which trace a request says that it is part, as OpenTelemetry for Go reads it; undefined: of none. */
export function contextIn(headers: Readonly<Record<string, string>>): TraceContext | undefined {
  const text = headers['traceparent'];
  if (text === undefined || text.length > longestState) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = parent.exec(text) ?? [];
  if (version === undefined || version === 'ff' || /^0*$/.test(traceId) || /^0*$/.test(spanId))
    return undefined;
  const bits = Number.parseInt(flags, 16);
  if (version === '00' && (more !== undefined || bits > 2)) return undefined;
  return { traceId, spanId, sampled: (bits & 1) === 1, state: stateIn(headers['tracestate'] ?? '') };
}

/** Nothing where not all of it is as it should be. */
function stateIn(text: string): string {
  if (text.length > longestState) return '';
  const members = text.split(',').filter((one) => one !== '');
  const names = new Set(members.map((one) => one.trimStart().split('=', 1)[0]));
  const good = members.length <= mostMembers && names.size === members.length;
  return good && members.every((one) => member.test(one)) ? members.map((one) => one.trim()).join(',') : '';
}

/** What a request says that is made for this one. */
export function headersOf({ traceId, spanId, sampled, state }: TraceContext): Record<string, string> {
  return {
    traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
    ...(state !== '' && { tracestate: state }),
  };
}

/** Whether a trace that begins here is wanted: by its name, so that all who ask the same share agree. */
export function isSampled(traceId: string, perMillion: number): boolean {
  // 63 bits of the last 16 digits, as OpenTelemetry for Go has it; a number holds the first 53.
  const high = Number.parseInt(traceId.slice(16, 24), 16);
  const low = Number.parseInt(traceId.slice(24), 16);
  return perMillion >= 1_000_000 || (high * 2 ** 32 + low) / 2 < (perMillion / 1_000_000) * 2 ** 63;
}
