import type { MuteScope } from '../../api/posture';
import { listOf, type Search } from '../../frame/address';

/** A scope as the form holds it: every part is a list of texts, tags are "name=value". */
export interface ScopeDraft {
  rules: string[];
  accounts: string[];
  tags: string[];
  resources: string[];
}

/** A tag as it is typed. */
export function parseTag(text: string): { value: string } | { error: string } {
  const at = text.indexOf('=');
  return at > 0 && at < text.length - 1 ? { value: text } : { error: 'A tag is written name=value.' };
}

/** The scope as the API takes it; parts without a value are left out. */
export function scopeOf(draft: ScopeDraft): MuteScope {
  const tags: Record<string, string[]> = {};
  for (const tag of draft.tags) {
    const [name = '', ...value] = tag.split('=');
    tags[name] = [...(tags[name] ?? []), value.join('=')];
  }
  return {
    ...(draft.rules.length ? { ruleIds: draft.rules } : {}),
    ...(draft.accounts.length ? { cloudAccountIds: draft.accounts } : {}),
    ...(draft.tags.length ? { cloudTags: tags } : {}),
    ...(draft.resources.length ? { resourcePatterns: draft.resources } : {}),
  };
}

export const draftOfScope = (scope: MuteScope): ScopeDraft => ({
  rules: scope.ruleIds ?? [],
  accounts: scope.cloudAccountIds ?? [],
  tags: Object.entries(scope.cloudTags ?? {}).flatMap(([name, values]) => values.map((v) => `${name}=${v}`)),
  resources: scope.resourcePatterns ?? [],
});

/** The scope that an address asks for: /mute-rules?new=yes&rule=R&account=A&resource=PATTERN */
export const draftOfAddress = (search: Search): ScopeDraft => ({ rules: listOf(search.rule), accounts: listOf(search.account), tags: listOf(search.tag), resources: listOf(search.resource) });
