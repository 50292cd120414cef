import type { SubresourceCheck } from '../kind.ts';
import { addressStatuses } from './addresses.ts';
import { budgetStatuses } from './budget.ts';
import { claimStatuses } from './claim.ts';
import { flowStatuses } from './conditions.ts';
import { countStatuses } from './counts.ts';
import { jobStatuses } from './job.ts';
import { nodeStatuses } from './node.ts';
import { podStatuses } from './pod.ts';
import { policyStatuses } from './policy.ts';
import { resourceClaimStatuses } from './resource-claim.ts';

/** What users may tell of kinds whose status is ours as a rule. By `<group>/<kind>/status`. */
export const statusChecks: Readonly<Record<string, SubresourceCheck>> = {
  ...addressStatuses,
  ...budgetStatuses,
  ...claimStatuses,
  ...countStatuses,
  ...flowStatuses,
  ...jobStatuses,
  ...nodeStatuses,
  ...podStatuses,
  ...policyStatuses,
  ...resourceClaimStatuses,
};
