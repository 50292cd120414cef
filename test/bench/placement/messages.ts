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
  /** Not even a Deployment becomes ready there: for what they cost while nothing happens. */
  still?: boolean;
  /** Takes Namespaces and Deployments, and nothing else: for what comes to many in a short time. */
  takes?: boolean;
  /** Takes them and runs a pod of each, which starts and stops in this time, and does nothing else. */
  runs?: { startMs: number; stopMs: number };
}

export interface Made {
  name: string;
  kubeconfig: string;
}

/** What it answers, once. */
export type Answer = { clusters: Made[] } | { failed: string };

/** What still clusters were asked so far, by what; it answers each later message with this. */
export interface Asked {
  requests: Record<string, number>;
  /** Open now. */
  connections: number;
}
