/** The name of a person or program: the end of an ARN, “alice as admin” for a session of a role, otherwise as it is. */
export function actorName(actor: string): string {
  if (!actor.startsWith('arn:')) return actor;
  const resource = actor.split(':').slice(5).join(':');
  const [kind, ...names] = resource.split('/');
  return names.length === 0 ? (kind ?? actor) : kind === 'assumed-role' ? names.slice(-2).reverse().join(' as ') : (names.at(-1) ?? actor);
}

/** What caused a change, with the call and who made it, if an event said so, such as “event, RunInstances by alice”. */
export const causeText = (cause: string, { actor, operation }: { actor?: string; operation?: string }) =>
  cause + (operation ? `, ${operation}` : '') + (actor ? ` by ${actorName(actor)}` : '');
