import { listAt } from '../../kube/untyped.ts';
import { type Fold, latest, union } from './part.ts';

export const foldCronJob: Fold = ({ parts }) => {
  const active = union(parts.map((part) => listAt(part.status, 'active')));
  return {
    ...(active.length > 0 && { active }),
    ...latest(parts, 'lastScheduleTime'),
    ...latest(parts, 'lastSuccessfulTime'),
  };
};
