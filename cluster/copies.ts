/**
 * Of a workload: the claims whose data comes along. `data-db-*`: those that it makes from the template `data`, for the set `db`, but
 * for some.
 */
export interface Copies {
  claims: string[];
  except?: string[];
}
