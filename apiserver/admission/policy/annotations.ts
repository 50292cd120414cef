import type { Denial } from './evaluate.ts';
import type { Binding } from './policy.ts';

const longestValue = 10 * 1024;
/** Of one request, in bytes: an event takes no more of them. */
const mostValues = 64 * 1024;

/** What policies have an audit event say, by keys: each value once, of all bindings and parameters. */
export class AuditAnnotations {
  readonly #values = new Map<string, Set<string>>();
  readonly #annotate: (key: string, value: string) => void;
  #size = 0;
  #isTold = false;

  constructor(annotate: (key: string, value: string) => void) {
    this.#annotate = annotate;
  }

  add(key: string, value: string): void {
    const bytes = Buffer.from(value);
    const short = bytes.length > longestValue ? bytes.subarray(0, longestValue).toString() : value;
    if (this.#values.get(key)?.has(short)) return;
    this.#size += Math.min(bytes.length, longestValue);
    if (this.#size > mostValues) return;
    this.#values.set(key, (this.#values.get(key) ?? new Set()).add(short));
  }

  /** What the action Audit says of a validation. Of several it says the first. */
  failed({ message, index }: Denial, binding: Binding): void {
    if (this.#isTold || !binding.actions.includes('Audit')) return;
    this.#isTold = true;
    const { name, policy, actions } = binding;
    const failure = { message, policy, binding: name, expressionIndex: index, validationActions: actions };
    this.#annotate('validation.policy.admission.k8s.io/validation_failure', goJson([failure]));
  }

  /** When all have been asked. */
  write(): void {
    for (const [key, values] of this.#values) this.#annotate(key, [...values].join(', '));
  }
}

/** As Go writes JSON, which HTML may hold. */
function goJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped);
}
