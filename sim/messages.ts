/** One that is simulated in another process. */
export interface DistantCluster {
  name: string;
  url: string;
  /** The text of an administrator's kubeconfig. */
  kubeconfig: string;
}

/** What the process is told: once which clusters, at last to stop. */
export type Order =
  | { order: 'start'; clusters: readonly { name: string; nodes: number; seed: number }[] }
  | { order: 'stop' };

/** What it says: when all of them are up, and when one of them failed. */
export type Answer = { clusters: DistantCluster[] } | { failed: string; cluster: string; error: string };
