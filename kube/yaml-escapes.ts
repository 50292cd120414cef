import { EVENT_ID, parseEvents, SCALAR_STYLE } from 'js-yaml';

/** What may be an escape that the reader takes and Kubernetes' does not, wherever it stands. */
const suspicious = /\\(?:\/|u[dD][89a-fA-F]|U)/;
const escapes = /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|[\s\S])/g;

export interface EscapeProblem {
  reason: string;
  /** From 0. */
  line: number;
}

/** Of the first document of a text that is known to be valid: its first escape in double quotes that is no character to Kubernetes. */
export function escapeProblem(text: string, maxDepth: number): EscapeProblem | undefined {
  if (!suspicious.test(text)) return undefined;
  let open = 0;
  for (const event of parseEvents(text, { maxDepth })) {
    if (event.type === EVENT_ID.POP) {
      open--;
      if (open === 0) break;
    } else if (event.type === EVENT_ID.SCALAR) {
      if (event.style !== SCALAR_STYLE.DOUBLE_QUOTED) continue;
      const problem = problemIn(text.slice(event.valueStart, event.valueEnd));
      if (problem === undefined) continue;
      const line = text.slice(0, event.valueStart + problem.at).split('\n').length - 1;
      return { reason: problem.reason, line };
    } else if (isOpened(event.type)) open++;
  }
  return undefined;
}

const isOpened = (type: number) =>
  type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE || type === EVENT_ID.DOCUMENT;

function problemIn(written: string): { reason: string; at: number } | undefined {
  for (const { 0: all, 1: short, 2: long, index } of written.matchAll(escapes)) {
    if (all === '\\/') return { reason: 'found unknown escape character', at: index };
    const code = short ?? long;
    const value = code === undefined ? 0 : Number.parseInt(code, 16);
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
      return { reason: 'found invalid Unicode character escape code', at: index };
  }
  return undefined;
}

const quoted = /(?:\\[\s\S]|[^"\\])*/y;

/**
 * The text with a single quote for `\'` in the scalar in double quotes whose first one has its quote at `at`: Kubernetes' reader takes
 * that, which is no escape of YAML's. Undefined where there is none.
 */
export function withoutQuoteEscapes(text: string, at: number): string | undefined {
  if (text[at] !== "'" || text[at - 1] !== '\\') return undefined;
  const begin = at - 1;
  quoted.lastIndex = begin;
  const rest = quoted.exec(text)?.[0] ?? '';
  const plain = rest.replace(/\\([\s\S])/g, (written, character) => (character === "'" ? "'" : written));
  return text.slice(0, begin) + plain + text.slice(begin + rest.length);
}
