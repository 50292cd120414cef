import { parseLabelSelector } from '../../kube/selector.ts';

/** It goes into paths and words, each time anew. */
const mostSelector = 16 << 10;
const mostSaid = 1000;

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
  const wrong = wrongness(selector);
  if (wrong !== undefined) {
    const why = `couldn't convert selector into a corresponding internal selector object: ${wrong}`;
    return { said: 'InvalidSelector', why, reason: 'InvalidSelector', message: why };
  }
  if (scalers.length < 2) return undefined;
  const why = `pods by selector ${selector} are controlled by multiple HPAs: [${scalers.join(' ')}]`;
  return { said: 'AmbiguousSelector', why, reason: 'AmbiguousSelector', message: why };
}

/** A custom resource's is what its user or its operator wrote there. */
function wrongness(selector: string): string | undefined {
  if (selector.length > mostSelector) return `it is longer than ${mostSelector} characters`;
  try {
    parseLabelSelector(selector);
    return undefined;
  } catch (error) {
    return (error as Error).message.slice(0, mostSaid);
  }
}
