import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { posture, type Account } from '../../api/posture';
import { Answer, Empty } from '../../parts/states';
import { Time } from '../../parts/time';
import { propertyText } from '../resource/property';

/** The identity that the account is read with. Secrets are never shown. */
export function CredentialTab({ account }: { account: Account }) {
  const query = useQuery({
    queryKey: ['accounts', account.cloudAccountId, 'credential'],
    queryFn: async () => {
      const page = await posture.post('/v1/cloud-accounts/query', {
        body: { filters: { cloudAccountIds: [account.cloudAccountId] }, getCredentials: true },
      });
      const ids = page.relationships?.filter((r) => r.cloudAccountId === account.cloudAccountId).map((r) => r.credentialId) ?? [];
      return page.credentials?.filter((c) => ids.includes(c.credentialId)) ?? [];
    },
  });
  return (
    <section className="region">
      <Answer query={query} what="the credential">
        {(credentials) =>
          credentials.length === 0 ? (
            <Empty
              title="No credential is linked"
              action={
                <Link className="btn" to={`/accounts/link/${account.provider}/access`}>
                  Link one
                </Link>
              }
            >
              Without one the account stays a draft and nothing is read.
            </Empty>
          ) : (
            credentials.map((c) => (
              <dl key={c.credentialId} className="kv narrow-kv">
                {c.properties.map((p) => (
                  <div key={p.name}>
                    <dt>{p.name}</dt>
                    <dd>
                      <code>{propertyText(p)}</code>
                    </dd>
                  </div>
                ))}
                <div>
                  <dt>Credential</dt>
                  <dd>
                    <code>{c.credentialId}</code>
                  </dd>
                </div>
                <div>
                  <dt>Changed</dt>
                  <dd>
                    <Time at={c.lastUpdateTime} as="date" />
                  </dd>
                </div>
              </dl>
            ))
          )
        }
      </Answer>
    </section>
  );
}
