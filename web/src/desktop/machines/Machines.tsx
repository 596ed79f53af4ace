import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { memo, useState, type FormEvent } from 'react';
import { desktop, type Agent } from '../../api/desktop';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Dialog } from '../../parts/Dialog';
import { SelectField } from '../../parts/Field';
import { Mark } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Answer, Empty } from '../../parts/states';
import { count } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { Secret } from '../../posture/accounts/ScriptBox';
import { kindWords } from '../components';
import { agentsQuery, gatewaysQuery, rdsQuery } from '../data';
import { daysLeft, machineCertificateStatus } from '../status';
import '../../posture/findings/findings.css';

const showFailure = (cause: unknown) => showToast(failureText(cause));

function TokenDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [kind, setKind] = useState<'GATEWAY' | 'RDS_SERVER'>('GATEWAY');
  const [token, setToken] = useState<string>();
  const gateways = useQuery(gatewaysQuery).data ?? [];
  const servers = useQuery(rdsQuery).data ?? [];
  const items = kind === 'GATEWAY' ? gateways : servers;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const component_id = String(new FormData(event.currentTarget).get('component'));
    void desktop.post('/rest/config/v1/enrollment-tokens', { body: { kind, component_id } }).then((made) => {
      setToken(made.token);
      void client.invalidateQueries({ queryKey: ['desktop', 'tokens'] });
    }, showFailure);
  };
  return (
    <Dialog title="Enrol a machine" onClose={onClose}>
      {token ? (
        <Secret label="Enrolment token" value={token} />
      ) : (
        <form className="form" onSubmit={submit}>
          <SelectField
            label="Kind"
            value={kind}
            onChange={(e) => setKind(e.target.value as typeof kind)}
            options={[
              { value: 'GATEWAY', label: 'Gateway' },
              { value: 'RDS_SERVER', label: 'RDS server' },
            ]}
          />
          <SelectField
            key={kind}
            label="Machine"
            name="component"
            options={items.map((i) => ({ value: i.id, label: i.name }))}
            hint="A machine that enrols again gets a new certificate; the old one is revoked."
          />
          <div className="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" look="primary" writes disabled={items.length === 0}>
              Create a token
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

/** At most this many machines are shown. */
const mostMachines = 300;
/** At most this many tokens are shown, the newest. The server keeps used tokens, so there can be many. */
const mostTokens = 100;
const newestFirst = <T extends { created_at: number }>(tokens: T[]) => [...tokens].sort((a, b) => b.created_at - a.created_at);

function Tokens() {
  const client = useQueryClient();
  const query = useQuery({ queryKey: ['desktop', 'tokens'], queryFn: () => desktop.get('/rest/config/v1/enrollment-tokens') });
  const [revoking, setRevoking] = useState<string>();
  const revoke = (id: string) =>
    desktop
      .delete('/rest/config/v1/enrollment-tokens/{id}', { path: { id } })
      .then(() => client.invalidateQueries({ queryKey: ['desktop', 'tokens'] }));
  return (
    <section>
      <div className="region-head region">
        <h2>Enrolment tokens</h2>
      </div>
      <Answer query={query} what="the tokens" padded>
        {(tokens) =>
          tokens.length === 0 ? (
            <p className="region t3">There are no enrolment tokens.</p>
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>Kind</th>
                    <th>Created by</th>
                    <th>Created</th>
                    <th>Expires</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {newestFirst(tokens)
                    .slice(0, mostTokens)
                    .map((t) => (
                      <tr key={t.id} data-token={t.id}>
                        <td>{kindWords[t.kind]}</td>
                        <td>{t.created_by}</td>
                        <td>
                          <Time at={t.created_at} />
                        </td>
                        <td>
                          {t.used_at ? (
                            <>
                              used <Time at={t.used_at} />
                            </>
                          ) : (
                            <Time at={t.expires_at} />
                          )}
                        </td>
                        <td>
                          <Button writes onClick={() => setRevoking(t.id)}>
                            Revoke
                          </Button>
                        </td>
                      </tr>
                    ))}
                </tbody>
              </table>
              {tokens.length > mostTokens && <p className="region t3">and {count(tokens.length - mostTokens)} older ones.</p>}
            </div>
          )
        }
      </Answer>
      {revoking && (
        <Confirm title="Revoke the enrolment token" action="Revoke" onClose={() => setRevoking(undefined)} run={() => revoke(revoking)}>
          A machine that has not enrolled with it yet needs another token.
        </Confirm>
      )}
    </section>
  );
}

/** Orders rds2 before rds10. */
const names = new Intl.Collator('en', { numeric: true });

/** One machine. Memoized: there are hundreds, and rendering all of them would delay a dialog that opens. */
const Machine = memo(function Machine({ of: a, onRevoke }: { of: Agent; onRevoke: (agent: Agent) => void }) {
  const status = a.revoked ? 'off' : machineCertificateStatus(a.certificate_not_after);
  return (
    <tr>
      <th scope="row">{a.name}</th>
      <td className="wide t2">{kindWords[a.kind]}</td>
      <td>
        <span className={`word c-${status}`}>
          <Mark name={status} />
          {a.revoked ? 'revoked' : `${daysLeft(a.certificate_not_after)} d`}
        </span>
      </td>
      <td className="wide t3">
        <Time at={a.last_seen_at} />
      </td>
      <td className="num">
        {!a.revoked && (
          <Button writes aria-label={`Revoke ${a.name}`} onClick={() => onRevoke(a)}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
});

/** The machines whose agents report, and how new ones enrol. */
export default function Machines() {
  const { search, change } = useAddress();
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const query = useQuery(agentsQuery);
  const [revoking, setRevoking] = useState<Agent>();
  const revoke = (a: Agent) =>
    desktop
      .delete('/rest/config/v1/agents/{kind}/{id}', { path: { kind: a.kind === 'GATEWAY' ? 'gateways' : 'rds-servers', id: a.id } })
      .then(() => client.invalidateQueries({ queryKey: agentsQuery.queryKey }));
  return (
    <Page
      title="Machines"
      beside={<span className="t3">{count(query.data?.length ?? 0)}</span>}
      actions={
        <Button look="primary" icon="plus" writes onClick={() => setAdding(true)}>
          Enrol
        </Button>
      }
    >
      <div className="toolbar">
        <SearchInput label="Search machines" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
      </div>
      <Answer query={query} what="the machines" padded>
        {(agents) => {
          const shown = agents
            .filter((a) => a.name.toLowerCase().includes((search.q ?? '').toLowerCase()))
            .sort((a, b) => names.compare(a.name, b.name));
          if (shown.length === 0) return <Empty padded title={agents.length ? 'No machine matches' : 'No machine is enrolled'} />;
          return (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>Machine</th>
                    <th className="wide">Kind</th>
                    <th>Certificate</th>
                    <th className="wide">Last seen</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {shown.slice(0, mostMachines).map((a) => (
                    <Machine key={a.id} of={a} onRevoke={setRevoking} />
                  ))}
                </tbody>
              </table>
              {shown.length > mostMachines && <p className="region t3">and {count(shown.length - mostMachines)} more: search for one.</p>}
            </div>
          );
        }}
      </Answer>
      <Tokens />
      {revoking && (
        <Confirm title={`Revoke ${revoking.name}`} action="Revoke" onClose={() => setRevoking(undefined)} run={() => revoke(revoking)}>
          The server rejects its certificate at once. The machine does not report until it enrols again.
        </Confirm>
      )}
      {adding && <TokenDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}
