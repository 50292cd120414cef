/** The value of locatorAnnotation: which logical object a physical one stands for. */
export interface Locator {
  /** The PhysicalCluster's uid: a cluster registered anew owns nothing of its former self. */
  syncer: string;
  cluster: string;
  namespace: string;
  /** Absent on the Namespace itself, whose uid it then is: empty on those made before that counted. */
  resource?: string;
  name?: string;
  uid: string;
}
