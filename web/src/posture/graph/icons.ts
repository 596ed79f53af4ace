import type { IconName } from '../../parts/Icon';

// Icons by the last part of a type, such as Instance; the first match wins.
const icons: [RegExp, IconName][] = [
  [/^(Instance|VirtualMachine|Machine)$/, 'host'],
  [/InstanceProfile/, 'idcard'],
  [/LoadBalancer|TargetGroup|BackendService/, 'lb'],
  [/Listener|NetworkInterface|Subnet|Vpc|VirtualNetwork|Network$/, 'net'],
  [/SecurityGroup|Firewall|Acl/, 'shield'],
  [/CidrRange|Principal|Internet|Address/, 'globe'],
  [/Key|Secret|Vault/, 'key'],
  [/Policy|Document/, 'doc'],
  [/Role|User|Group|ServiceAccount|Identity/, 'role'],
  [/Volume|Disk/, 'disk'],
  [/Snapshot/, 'camera'],
  [/Image/, 'image'],
  [/Bucket|Database|Table|Cluster|DBInstance|Storage|Sql/, 'db'],
  [/Function/, 'rules'],
];

export const iconOfType = (type: string): IconName => icons.find(([pattern]) => pattern.test(type))?.[1] ?? 'box';
