import type { JsonObject } from '../../../kube/object.ts';
import type { Case, Names, Step } from '../case.ts';
import { collectionPath, type Fixture, fixtures, richFixtures } from '../fixtures.ts';
import type { Golden } from '../golden.ts';
import { type Mutation, mutations } from '../mutate.ts';

/** Requests to a case: what differs is found again by the case's id. */
const perCase = 12;

/** What is stored of these decides about others' pods. */
const apart = new Set(['limitranges', 'resourcequotas']);

/** Every fixture and golden object, broken in one place: as a create and as an update, neither of them stored. */
export function validationCases(golden: readonly Golden[]): Case[] {
  return [
    ...fixtures.flatMap((fixture) => ofFixture(fixture, 'validation')),
    ...richFixtures.flatMap((fixture, i) => ofFixture(fixture, `validation/rich-${i}`)),
    ...golden.flatMap(ofGolden),
  ];
}

function ofFixture(fixture: Fixture, prefix: string): Case[] {
  const names = { ns: 'NS-OF-CASE', name: 'name-of-case' };
  const { group, version, resource } = fixture.info;
  const id = `${prefix}/${group || 'core'}.${version}.${resource}`;
  const all = mutations(fixture.object(names));
  const creates = chunks(all).map(
    (some, i): Case => ({
      id: `${id}/create/${i}`,
      area: 'validation',
      steps: (real) => some.map((mutation) => create(fixture.path(real), mutation, real)),
    }),
  );
  const updates = chunks(all).map(
    (some, i): Case => ({
      id: `${id}/update/${i}`,
      area: 'validation',
      ownNamespace: apart.has(resource),
      steps: (real) => {
        const body = fixture.object(real);
        const path = `${fixture.path(real)}/${body.metadata.name}`;
        return [
          { method: 'POST', path: fixture.path(real), body, silent: true },
          ...some.map(
            (mutation): Step => ({
              method: 'PUT',
              path: `${path}?dryRun=All`,
              body: renamed(mutation.object(), real),
            }),
          ),
          { method: 'DELETE', path: `${path}?gracePeriodSeconds=0`, silent: true },
        ];
      },
    }),
  );
  return [...creates, ...updates];
}

function create(path: string, mutation: Mutation, names: Names): Step {
  return { method: 'POST', path: `${path}?dryRun=All`, body: renamed(mutation.object(), names) };
}

function renamed(object: JsonObject, names: Names): JsonObject {
  const text = JSON.stringify(object);
  return JSON.parse(
    text.replaceAll('name-of-case', names.name).replaceAll('NS-OF-CASE', names.ns),
  ) as JsonObject;
}

function ofGolden({ info, json, protobuf }: Golden): Case[] {
  const id = `validation/golden/${info.group || 'core'}.${info.version}.${info.resource}`;
  const mine = (object: JsonObject, names: Names): JsonObject => ({
    ...object,
    metadata: {
      name: names.name,
      ...(info.namespaced && { namespace: names.ns }),
    },
  });
  const whole: Case = {
    id,
    area: 'validation',
    steps: (names) => {
      const path = `${collectionPath(info, names.ns)}?dryRun=All`;
      return [
        { method: 'POST', path, body: json },
        { method: 'POST', path, body: mine(json, names) },
        { method: 'POST', path, body: protobuf, contentType: 'application/vnd.kubernetes.protobuf' },
        {
          method: 'PUT',
          path: `${collectionPath(info, names.ns)}/${names.name}?dryRun=All`,
          body: mine(json, names),
        },
      ];
    },
  };
  const broken = mutations(json).filter(({ what }) => /unknown$|text$|number$|object$|list$/.test(what));
  return [
    whole,
    ...chunks(broken).map(
      (some, i): Case => ({
        id: `${id}/${i}`,
        area: 'validation',
        steps: (names) =>
          some.map((mutation) => ({
            method: 'POST',
            path: `${collectionPath(info, names.ns)}?dryRun=All&fieldValidation=Strict`,
            body: mine(mutation.object(), names),
          })),
      }),
    ),
  ];
}

function chunks<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / perCase);
  return Array.from({ length: count }, (_, i) => items.slice(i * perCase, (i + 1) * perCase));
}
