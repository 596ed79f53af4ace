import type { components, paths } from './posture.gen';
import { client } from './typed';

/** The posture server. */
export const posture = client<paths>();

type Schemas = components['schemas'];
export type Provider = Schemas['Provider'];
export type Account = Schemas['CloudAccount'];
export type AccountPage = Schemas['CloudAccountPage'];
export type Credential = Schemas['Credential'];
export type Run = Schemas['Collection'];
export type EventStream = Schemas['EventStream'];
export type Entity = Schemas['Entity'];
export type EntityFilters = Schemas['EntityFilters'];
export type Property = Schemas['Property'];
export type ChangeLog = Schemas['ChangeLog'];
export type ValueChange = Schemas['ValueChange'];
export type Schema = Schemas['EntitySchema'];
export type GraphAnswer = Schemas['GraphAnswer'];
export type QueryPlan = Schemas['QueryPlan'];
export type Rule = Schemas['Rule'];
export type RuleSpec = Schemas['RuleSpec'];
export type RuleTestAnswer = Schemas['RuleTestAnswer'];
export type Framework = Schemas['Framework'];
export type ControlPosture = Schemas['Posture']['results'][number];
export type Finding = Schemas['Finding'];
export type FindingFilters = NonNullable<Schemas['FindingFilters']>;
export type FindingQuery = Schemas['FindingQuery'];
export type FindingPage = Schemas['FindingPage'];
export type FindingHistory = Schemas['FindingHistory'];
export type Buckets = Schemas['FindingBuckets'];
export type Trends = Schemas['Trends'];
export type User = Schemas['User'];
export type ApiToken = Schemas['ApiToken'];
export type AuditRecord = Schemas['AuditPage']['results'][number];
export type Role = Schemas['Role'];
