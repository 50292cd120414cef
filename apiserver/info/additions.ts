import type { Addition } from '../../kube/openapi/addition.ts';
import { additionOf, type OtherSwagger } from '../../kube/openapi/extension.ts';
import type { OpenApi } from '../../kube/openapi/openapi.ts';
import { Pace } from '../../kube/others-first.ts';

interface Known {
  documents: OpenApi;
  others: readonly OtherSwagger[];
  addition: Promise<Addition>;
}

/** Of so many logical clusters what is added is kept: some megabytes each. */
const mostKnown = 8;

/**
 * What other API servers add to the OpenAPI 2 documents of the logical clusters that were asked about last: to write it anew for each
 * request would take longer than all else of that.
 */
export class Additions {
  /** By logical cluster, the one that was asked about longest ago first. */
  readonly #known = new Map<string, Known>();

  of(cluster: string, documents: OpenApi, others: readonly OtherSwagger[]): Promise<Addition> {
    const there = this.#known.get(cluster);
    const isSame = (one: Known) =>
      one.documents === documents &&
      one.others.length === others.length &&
      one.others.every((other, at) => other === others[at]);
    const pace = new Pace(cluster);
    const make = () => additionOf(others, documents.definitionNames(), (bytes) => pace.after(bytes));
    const known = there && isSame(there) ? there : { documents, others, addition: make() };
    this.#known.delete(cluster);
    this.#known.set(cluster, known);
    known.addition.catch(() => this.#known.get(cluster) === known && this.#known.delete(cluster));
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
    return known.addition;
  }
}
