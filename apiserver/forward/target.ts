/** A port of a pod of a logical cluster, which is another one once it is made anew under its name. */
export interface PodPort {
  cluster: string;
  namespace: string;
  pod: string;
  uid: string;
  port: number;
}
