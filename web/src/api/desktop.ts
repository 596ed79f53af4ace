import type { components, paths } from './desktop.gen';
import { client } from './typed';

/** The desktop server. */
export const desktop = client<paths>();

type Schemas = components['schemas'];
export type Kind = Schemas['Kind'];
export type ConnectionServer = Schemas['ConnectionServerMonitorInfo'];
export type Gateway = Schemas['GatewayMonitorInfo'];
export type ADDomain = Schemas['ADDomainMonitorInfo'];
export type Farm = Schemas['FarmMonitorInfo'];
export type RDSServer = Schemas['RDSServerMonitorInfo'];
export type Pod = Schemas['PodMonitorInfo'];
export type SAMLAuthenticator = Schemas['SAMLAuthenticatorMonitorInfo'];
export type TrueSSO = Schemas['TrueSSOMonitorInfo'];
export type Composer = Schemas['ComposerMonitorInfo'];
export type VirtualCenter = Schemas['VirtualCenterMonitorInfo'];
export type EventDatabase = Schemas['EventDatabaseMonitorInfo'];
export type Pulse = Schemas['Pulse'];
export type StatusChange = Schemas['StatusChange'];
export type Alert = Schemas['Alert'];
export type AlertRule = Schemas['AlertRule'];
export type AlertRuleSpec = Schemas['AlertRuleSpec'];
export type DomainAccount = Schemas['InstantCloneDomainAccountInfo'];
export type MonitoringKey = Schemas['MonitoringKey'];
export type EnrollmentToken = Schemas['EnrollmentToken'];
export type Agent = Schemas['EnrolledAgent'];
export type Overview = Schemas['Overview'];
export type AlertGroup = Schemas['AlertGroup'];
export type ChangeGroup = Schemas['StatusChangeGroupPage']['groups'][number];
export type Incident = Schemas['Incident'];
export type Samples = Schemas['Samples'];
export type OwnSession = Schemas['OwnSession'];
export type AuditRecord = Schemas['AuditPage']['records'][number];
