import type { Provider } from '../../api/posture';

/** What a person enters to link an account by hand, by provider. */
export interface FieldSpec {
  name: string;
  label: string;
  hint?: string;
  secret?: boolean;
  file?: boolean;
  optional?: boolean;
}

interface ProviderSpec {
  label: string;
  account: FieldSpec;
  credential: FieldSpec[];
  /** The identity that is created in the cloud. */
  makes: string;
}

export const specs: Record<Provider, ProviderSpec> = {
  aws: {
    label: 'Amazon Web Services',
    account: { name: 'accountId', label: 'Account id', hint: '12 digits' },
    credential: [
      { name: 'RoleArn', label: 'ARN of the role', hint: 'arn:aws:iam::123456789012:role/vigil-reader' },
      { name: 'ExternalId', label: 'External id', optional: true, hint: 'As in the trust policy of the role, which must ask for it' },
    ],
    makes: 'A role that may only read, and that only this server can assume.',
  },
  azure: {
    label: 'Microsoft Azure',
    account: { name: 'subscriptionId', label: 'Subscription id', hint: 'A UUID' },
    credential: [
      { name: 'DirectoryId', label: 'Directory (tenant) id' },
      { name: 'ApplicationId', label: 'Application (client) id' },
      {
        name: 'ApplicationKey',
        label: 'Client secret',
        secret: true,
        hint: 'The value of the secret, not its id. It is stored encrypted and never shown again.',
      },
    ],
    makes: 'An application with a custom role that may only read.',
  },
  gcp: {
    label: 'Google Cloud',
    account: { name: 'projectId', label: 'Project id' },
    credential: [
      { name: 'ServiceAccountEmail', label: 'E-mail of the service account' },
      {
        name: 'ServiceAccountKey',
        label: 'Key of the service account',
        secret: true,
        file: true,
        hint: 'The JSON key file, or its base64. It is stored encrypted and never shown again.',
      },
    ],
    makes: 'A service account with a custom role that may only read.',
  },
};

/** The API takes the key file as base64; people paste either. */
export const keyAsBase64 = (text: string) => (text.trim().startsWith('{') ? btoa(text.trim()) : text.trim());
