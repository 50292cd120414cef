interface Stopping {
  /** See Handover. */
  blind: readonly string[];
  /** See Handover. */
  refusing: readonly string[];
  /** Where it is to stop. */
  givers: readonly string[];
}

/** Of what may not run twice: what it waits for before it stops where it is. Empty: it stops nowhere. */
export function onceWords({ blind, refusing, givers }: Stopping): string {
  if (blind.length > 0)
    return `; it may not run twice, and stays on ${blind.join(', ')} while its pods there cannot be read (see Readable of the PhysicalCluster)`;
  if (refusing.length > 0)
    return `; it may not run twice, and stays on ${refusing.join(', ')} while its autoscaler takes no other bounds there (see the Placement of that)`;
  if (givers.length === 0) return '';
  return `; it may not run twice, so each replica stops on ${givers.join(', ')} before it starts elsewhere`;
}
