import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { desktop, type AlertRule } from '../../api/desktop';
import { useRefusal } from '../../api/session';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Answer, Empty } from '../../parts/states';
import { showToast } from '../../parts/toast';
import { alertGroupsQuery, alertRulesQuery } from '../data';
import { AlertGroups } from './AlertGroups';
import { conditionText } from './condition';

function Rules() {
  const client = useQueryClient();
  const query = useQuery(alertRulesQuery);
  const refused = useRefusal('admin');
  const showFailure = (cause: unknown) => showToast(failureText(cause));
  const renew = () => client.invalidateQueries({ queryKey: alertRulesQuery.queryKey });
  const test = (r: AlertRule) =>
    desktop
      .post('/rest/config/v1/alert-rules/{id}/test', { path: { id: r.id } })
      .then(
        (results) => showToast(results.map((x) => (x.delivered ? 'delivered' : `not delivered: ${x.error ?? ''}`)).join('; ')),
        showFailure,
      );
  const flip = (r: AlertRule) =>
    desktop
      .put('/rest/config/v1/alert-rules/{id}', {
        path: { id: r.id },
        body: {
          name: r.name,
          enabled: !r.enabled,
          condition: r.condition,
          for_seconds: r.for_seconds,
          repeat_seconds: r.repeat_seconds,
          channels: r.channels,
        },
      })
      .then(renew, showFailure);
  const [removing, setRemoving] = useState<AlertRule>();
  return (
    <section aria-labelledby="alert-rules">
      <div className="region-head region">
        <h2 id="alert-rules">Rules</h2>
        <Link className="btn end" to="/alert-rules/new">
          New rule
        </Link>
      </div>
      <Answer query={query} what="the rules" padded>
        {(rules) =>
          rules.length === 0 ? (
            <Empty
              padded
              title="No alert rules yet"
              action={
                <Link className="btn primary" to="/alert-rules/new">
                  New rule
                </Link>
              }
            >
              A rule tells by webhook or mail when something is wrong.
            </Empty>
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>On</th>
                    <th>Rule</th>
                    <th className="wide">Alerts when</th>
                    <th className="wide roomy">Tells</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rules.map((r) => (
                    <tr key={r.id}>
                      <td>
                        <button
                          type="button"
                          role="switch"
                          className="toggle"
                          aria-checked={r.enabled}
                          aria-label={`${r.name} is on`}
                          disabled={!!refused}
                          title={refused}
                          onClick={() => void flip(r)}
                        />
                      </td>
                      <th scope="row">
                        <Link to={`/alert-rules/${r.id}`}>{r.name}</Link>
                        <span className="small t3 narrow block">{conditionText(r)}</span>
                      </th>
                      <td className="wide">{conditionText(r)}</td>
                      <td className="wide roomy t2">
                        {r.channels.map((c) => (c.type === 'MAIL' ? (c.to ?? []).join(', ') : c.url)).join(', ')}
                      </td>
                      <td>
                        <span className="row tight">
                          <Button writes onClick={() => void test(r)}>
                            Test
                          </Button>
                          <Button writes icon="trash" aria-label={`Delete ${r.name}`} onClick={() => setRemoving(r)} />
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
      {removing && (
        <Confirm
          title={`Delete ${removing.name}`}
          action="Delete"
          onClose={() => setRemoving(undefined)}
          run={() => desktop.delete('/rest/config/v1/alert-rules/{id}', { path: { id: removing.id } }).then(renew)}
        >
          Its alerts end, and no more messages are sent for it.
        </Confirm>
      )}
    </section>
  );
}

/** The alerts, and the rules that raise them. */
export default function Alerts() {
  const groups = useQuery(alertGroupsQuery);
  useQuery(alertRulesQuery); // requests the rules at once, although Rules is not rendered yet
  const loading = groups.isPending && !groups.failureReason;
  return (
    <Page title="Alerts">
      <AlertGroups />
      {!loading && <Rules /> /* not earlier: alerts that arrive later would push the rules down */}
    </Page>
  );
}
