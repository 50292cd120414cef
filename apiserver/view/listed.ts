import type { Fed } from './index.ts';
import type { Viewer } from './join.ts';
import type { Shares } from './shares.ts';

/** What a cluster was listed, as of when. */
interface Made {
  viewer: Viewer;
  index: Fed;
  revision: number;
  state: Shares;
}

/** Whoever lists watches from there next, once it has read all. */
const keptMs = 30_000;

/**
 * The shares of clusters as they were listed last: a watch that begins there goes on with them. They would be made anew to the same, each
 * with its object and what is said of it, which is most of what a syncer costs that starts.
 */
export class Listed {
  readonly #made = new Map<string, Made & { timer: NodeJS.Timeout }>();

  /** Of each cluster one, whoever lists how often. */
  keep(made: Made): void {
    const { cluster } = made.viewer;
    this.#forget(cluster);
    const timer = setTimeout(() => this.#forget(cluster), keptMs).unref();
    this.#made.set(cluster, { ...made, timer });
  }

  /** For one watch alone, which changes them. */
  take({ viewer: { cluster, uid }, index, revision }: Omit<Made, 'state'>): Shares | undefined {
    const made = this.#made.get(cluster);
    if (made?.viewer.uid !== uid || made.index !== index || made.revision !== revision) return undefined;
    this.#forget(cluster);
    return made.state;
  }

  /** Its timer as well, which would keep it. */
  #forget(cluster: string): void {
    clearTimeout(this.#made.get(cluster)?.timer);
    this.#made.delete(cluster);
  }
}
