import type { NotificationRule, NotificationRuleSpec } from '../../api/posture';
import { tagsOf, tagTexts } from '../mutes/scope';

export type Event = NotificationRule['events'][number];
export type Level = NotificationRule['levels'][number];

/** Events in the order of the form. The first three are about findings. */
export const events: Record<Event, { label: string; finding: boolean }> = {
  FindingRaised: { label: 'A finding is raised', finding: true },
  FindingResolved: { label: 'A finding is resolved', finding: true },
  SuppressionEnded: { label: 'A suppression ends and the finding is still open', finding: true },
  CollectionFailed: { label: 'A collection fails', finding: false },
  StreamSilent: { label: 'An event stream falls silent', finding: false },
};
export const eventNames = Object.keys(events) as Event[];
export const levelNames: Level[] = ['High', 'Medium', 'Low'];

/** A rule as the form holds it. In the API an empty list of events or levels means all of them: in the form all are ticked. */
export interface RuleDraft {
  name: string;
  enabled: boolean;
  events: Event[];
  levels: Level[];
  minRisk: string;
  rules: string[];
  accounts: string[];
  tags: string[];
  channels: string[];
}

const allIfNone = <T>(chosen: T[], all: T[]) => (chosen.length === 0 ? all : chosen);
const noneIfAll = <T>(chosen: T[], all: T[]) => (all.every((one) => chosen.includes(one)) ? [] : all.filter((one) => chosen.includes(one)));

export const draftOfRule = (rule?: NotificationRuleSpec): RuleDraft => ({
  name: rule?.name ?? '',
  enabled: rule?.enabled ?? true,
  events: allIfNone(rule?.events ?? (rule ? [] : ['FindingRaised']), eventNames),
  levels: allIfNone(rule?.levels ?? [], levelNames),
  minRisk: rule?.minRiskScore ? String(rule.minRiskScore) : '',
  rules: rule?.ruleIds ?? [],
  accounts: rule?.cloudAccountIds ?? [],
  tags: tagTexts(rule?.cloudTags),
  channels: rule?.channelIds ?? [],
});

/** Whether a draft sends events about findings. If not, the filters of findings do not apply. */
export const aboutFindings = (draft: Pick<RuleDraft, 'events'>) => draft.events.some((e) => events[e].finding);

/** The rule as the API takes it. */
export function specOfRule(draft: RuleDraft): NotificationRuleSpec {
  const findings = aboutFindings(draft);
  return {
    name: draft.name.trim(),
    enabled: draft.enabled,
    events: noneIfAll(draft.events, eventNames),
    levels: findings ? noneIfAll(draft.levels, levelNames) : [],
    minRiskScore: findings ? Number(draft.minRisk || 0) : 0,
    ruleIds: findings ? draft.rules : [],
    cloudAccountIds: draft.accounts,
    cloudTags: tagsOf(draft.tags),
    channelIds: draft.channels,
  };
}

/** Why a draft cannot be saved, by field. The server checks the rest. */
export function problemsOf(draft: RuleDraft): Partial<Record<'events' | 'levels' | 'channels', string>> {
  return {
    ...(draft.events.length === 0 ? { events: 'Choose an event.' } : {}),
    ...(aboutFindings(draft) && draft.levels.length === 0 ? { levels: 'Choose a level.' } : {}),
    ...(draft.channels.length === 0 ? { channels: 'Choose a channel.' } : {}),
  };
}

const short: Record<Event, string> = {
  FindingRaised: 'raised',
  FindingResolved: 'resolved',
  SuppressionEnded: 'suppression ended',
  CollectionFailed: 'collection failed',
  StreamSilent: 'stream silent',
};

/** The filters of a rule that have values, with their labels. A rule without any sends every event. */
export function choices(
  rule: NotificationRule,
  names: { rule: (id: string) => string; account: (id: string) => string },
): { label: string; values: string[] }[] {
  return [
    { label: 'event', values: rule.events.map((e) => short[e]) },
    { label: 'level', values: rule.levels },
    { label: 'risk', values: rule.minRiskScore > 0 ? [`${rule.minRiskScore} and more`] : [] },
    { label: 'rule', values: rule.ruleIds.map(names.rule) },
    { label: 'account', values: rule.cloudAccountIds.map(names.account) },
    { label: 'tag', values: tagTexts(rule.cloudTags) },
  ].filter((part) => part.values.length > 0);
}
