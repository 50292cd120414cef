/** Of a target and who scales it. */
export interface Whose {
  /** Which pods are the target's own, as it says; empty: it does not. */
  selector: string;
  /** All autoscalers of the same target, `<namespace>/<name>`. */
  scalers: readonly string[];
}

export interface Unsound {
  said: string;
  why: string;
  reason: string;
  message: string;
}

/** Whether metrics are read at all; if not, why, as it is told and as a condition has it. */
export function unsoundness({ selector, scalers }: Whose): Unsound | undefined {
  if (selector === '') {
    const message = "the HPA target's scale is missing a selector";
    return { said: 'SelectorRequired', why: 'selector is required', reason: 'InvalidSelector', message };
  }
  if (scalers.length < 2) return undefined;
  const why = `pods by selector ${selector} are controlled by multiple HPAs: [${scalers.join(' ')}]`;
  return { said: 'AmbiguousSelector', why, reason: 'AmbiguousSelector', message: why };
}
