import { posture, type Provider } from '../../api/posture';
import { keyAsBase64, specs } from './fields';

export interface LinkRequest {
  provider: Provider;
  name: string;
  accountId: string;
  credential: Record<string, string>;
}

const property = (name: string, value: string) => ({
  name,
  type: 'string' as const,
  stringV: name === 'ServiceAccountKey' ? keyAsBase64(value) : value.trim(),
});
const properties = (values: Record<string, string>) =>
  Object.entries(values)
    .filter(([, v]) => v.trim() !== '')
    .map(([k, v]) => property(k, v));

/** Adds an account and its credential and links them: all or nothing. */
export const linkAccount = ({ provider, name, accountId, credential }: LinkRequest) =>
  linkMany(provider, [{ id: accountId, name }], () => credential);

interface Member {
  id: string;
  name: string;
}

/** Links up to 100 accounts in one call. Accounts with equal credentials share one. */
export function linkMany(provider: Provider, members: Member[], credentialOf: (m: Member) => Record<string, string>) {
  const refs = new Map<string, string>();
  const credentials: { ref: string; values: Record<string, string> }[] = [];
  const refOf = (m: Member) => {
    const values = credentialOf(m);
    const key = JSON.stringify(values);
    const known = refs.get(key);
    if (known !== undefined) return known;
    const ref = `c${refs.size}`;
    refs.set(key, ref);
    credentials.push({ ref, values });
    return ref;
  };
  const relationshipUpdates = members.map((m) => ({ action: 'post' as const, cloudAccountId: m.id, credentialRef: refOf(m) }));
  return posture.post('/v1/cloud-accounts/bulk-update', {
    body: {
      provider,
      cloudAccountUpdates: members.map((m) => ({
        action: 'post' as const,
        cloudAccountName: m.name || m.id,
        properties: [property(specs[provider].account.name, m.id)],
      })),
      credentialUpdates: credentials.map((c) => ({
        action: 'post' as const,
        ref: c.ref,
        credentialType: 'collection' as const,
        properties: properties(c.values),
      })),
      relationshipUpdates,
    },
  });
}

/** The accounts of an organisation, as the identity given sees them. */
export async function discover(provider: Provider, credential: Record<string, string>): Promise<(Member & { state: string })[]> {
  if (provider === 'aws') {
    const { accounts } = await posture.post('/v1/cloud-accounts/aws-discovery-task', {
      body: { roleArn: credential.RoleArn ?? '', ...(credential.ExternalId ? { externalId: credential.ExternalId } : {}) },
    });
    return accounts.map((a) => ({ id: a.accountId, name: a.name, state: a.state }));
  }
  if (provider === 'azure') {
    const { subscriptions } = await posture.post('/v1/cloud-accounts/azure-discovery-task', {
      body: {
        applicationId: credential.ApplicationId ?? '',
        applicationKey: credential.ApplicationKey ?? '',
        directoryId: credential.DirectoryId ?? '',
      },
    });
    return subscriptions.map((s) => ({ id: s.subscriptionId, name: s.name, state: s.state }));
  }
  const { projects } = await posture.post('/v1/cloud-accounts/gcp-discovery-task', {
    body: { serviceAccountKey: keyAsBase64(credential.ServiceAccountKey ?? '') },
  });
  return projects.map((p) => ({ id: p.projectId, name: p.name, state: p.lifecycleState }));
}

/** The credential of a member account: in AWS the role of the same name in that account. */
export const memberCredential = (provider: Provider, credential: Record<string, string>, id: string) =>
  provider === 'aws' ? { ...credential, RoleArn: (credential.RoleArn ?? '').replace(/:\d{12}:/, `:${id}:`) } : credential;
