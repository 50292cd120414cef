import type { KindTexts, Texts } from './kind-texts.ts';
import * as physicalClusterTexts from './physical-cluster-texts.ts';
import * as placementTexts from './placement-texts.ts';
import * as shareTexts from './share-texts.ts';
import type { Condition } from './types.ts';

const condition: Texts<Condition> = {
  type: 'What is said to be so or not.',
  status: 'True, False or Unknown.',
  reason: 'Why, in one word for programs.',
  message: 'Why, in a sentence for people.',
  lastTransitionTime: 'When the status last changed.',
  observedGeneration: 'The metadata.generation that this is said of.',
};

const workspace: KindTexts = {
  kind: 'Workspace makes a logical cluster below the one that it is in, and stands for it.',
  spec: 'Which logical cluster it is.',
  status: 'How far it has come.',
};

const logicalCluster: KindTexts = {
  kind: 'LogicalCluster, named cluster, is in every logical cluster: that it exists says that the logical cluster does.',
  spec: 'Who made it.',
  status: 'How far it has come.',
};

const phase = 'Scheduling, Initializing or Ready.';

/** What `kubectl explain` says of our own kinds: every field has its text, or cluster/resources.ts does not compile. */
export const texts = {
  condition,
  ...shareTexts,
  ...placementTexts,
  ...physicalClusterTexts,
  error: { reason: 'In one word for programs.', message: 'In a sentence for people.' },
  workspace,
  logicalCluster,
  workspaceSpec: {
    type: 'What kind of workspace it is.',
    cluster: 'The logical cluster that it stands for.',
    URL: 'Where the logical cluster is served.',
    limits:
      'What the logical cluster may use, with all that are below it. What is absent, the settings of the server bound. Who sets it needs the verb limit on workspaces.',
  },
  limits: {
    objects: 'How many objects may be stored.',
    bytes: 'How many bytes they may have together, as they are stored.',
    customResourceDefinitions: 'How many CustomResourceDefinitions there may be.',
    webhooks: 'How many webhooks there may be, validating and mutating together.',
    requestsPerSecond: 'How many requests a second are answered in the long run.',
    requestBurst: 'How many may come at once after a pause. Default: twice as many as a second.',
    watches: 'How many watches there may be at a time.',
  },
  workspaceType: { name: "The type's name.", path: 'The logical cluster that the type is defined in.' },
  workspaceStatus: {
    phase,
    conditions: 'What keeps it from being Ready.',
    hard: 'What its logical cluster may use; filled in as it is read.',
    used: 'What its logical cluster uses, with all that are below it; filled in as it is read.',
  },
  podMetrics: {
    apiVersion: '',
    kind: 'What a pod uses, as the physical cluster that runs it says. Made as it is asked for.',
    metadata: '',
    timestamp: 'When it was measured.',
    window: 'Over how long before that.',
    containers: 'What each of its containers uses.',
  },
  containerMetrics: {
    name: "The container's name.",
    usage: 'How much it uses, by resource: cpu and memory.',
  },
  logicalClusterSpec: { owner: 'The object that made it: its Workspace.' },
  logicalClusterStatus: {
    phase,
    URL: 'Where it is served.',
    hard: 'What it may use; filled in as it is read.',
    used: 'What it uses, with all that are below it; filled in as it is read.',
  },
};
