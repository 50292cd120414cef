/** What the process of physical clusters is told, once. */
export interface Order {
  /** `<prefix>-<i>`, from 0. */
  prefix: string;
  count: number;
  /**
   * Absent: an API and nothing more, in which a Deployment is ready as soon as it is there. Else nodes, the controllers
   * of workloads, and pods that take so long.
   */
  pods?: { nodes: number; startMs: number; stopMs: number };
}

export interface Made {
  name: string;
  kubeconfig: string;
}

/** What it answers, once. */
export type Answer = { clusters: Made[] } | { failed: string };
