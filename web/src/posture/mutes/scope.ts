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

/** Tags as the API takes them: the values by name. */
export function tagsOf(texts: string[]): Record<string, string[]> {
  const tags: Record<string, string[]> = {};
  for (const tag of texts) {
    const [name = '', ...value] = tag.split('=');
    tags[name] = [...(tags[name] ?? []), value.join('=')];
  }
  return tags;
}

/** Tags as they are typed. */
export const tagTexts = (tags: Record<string, string[]> | undefined): string[] =>
  Object.entries(tags ?? {}).flatMap(([name, values]) => values.map((v) => `${name}=${v}`));

/** The scope as the API takes it; parts without a value are left out. */
export function scopeOf(draft: ScopeDraft): MuteScope {
  return {
    ...(draft.rules.length ? { ruleIds: draft.rules } : {}),
    ...(draft.accounts.length ? { cloudAccountIds: draft.accounts } : {}),
    ...(draft.tags.length ? { cloudTags: tagsOf(draft.tags) } : {}),
    ...(draft.resources.length ? { resourcePatterns: draft.resources } : {}),
  };
}

export const draftOfScope = (scope: MuteScope): ScopeDraft => ({
  rules: scope.ruleIds ?? [],
  accounts: scope.cloudAccountIds ?? [],
  tags: tagTexts(scope.cloudTags),
  resources: scope.resourcePatterns ?? [],
});

/** The scope that an address asks for: /mute-rules?new=yes&rule=R&account=A&resource=PATTERN */
export const draftOfAddress = (search: Search): ScopeDraft => ({
  rules: listOf(search.rule),
  accounts: listOf(search.account),
  tags: listOf(search.tag),
  resources: listOf(search.resource),
});
