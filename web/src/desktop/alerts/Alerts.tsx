import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError } from '../../api/error';
import { desktop, type Alert, type AlertRule } from '../../api/desktop';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Mark, type MarkName } from '../../parts/marks';
import { Answer, Empty } from '../../parts/states';
import { plural, sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { say } from '../../parts/toast';
import { alertRulesQuery, alertsQuery } from '../data';
import { conditionText } from './condition';

const marks: Record<Alert['state'], MarkName> = { FIRING: 'error', PENDING: 'warn', RESOLVED: 'ok' };

/** Alerts of the same rule with the same summary are one. */
function groups(alerts: Alert[]): Alert[][] {
  const by = new Map<string, Alert[]>();
  for (const a of alerts) by.set(`${a.state} ${a.rule_id} ${a.kind} ${a.summary.replace(a.name, '')}`, [...(by.get(`${a.state} ${a.rule_id} ${a.kind} ${a.summary.replace(a.name, '')}`) ?? []), a]);
  return [...by.values()].sort((a, b) => 'FIRING PENDING RESOLVED'.indexOf(a[0]?.state ?? '') - 'FIRING PENDING RESOLVED'.indexOf(b[0]?.state ?? ''));
}

function Rules() {
  const client = useQueryClient();
  const query = useQuery(alertRulesQuery);
  const tell = (cause: unknown) => say(cause instanceof ApiError ? sentence(cause.message) : 'That failed.');
  const renew = () => client.invalidateQueries({ queryKey: alertRulesQuery.queryKey });
  const test = (r: AlertRule) => desktop.post('/rest/config/v1/alert-rules/{id}/test', { path: { id: r.id } }).then((results) => say(results.map((x) => (x.delivered ? 'delivered' : `not delivered: ${x.error ?? ''}`)).join('; ')), tell);
  const flip = (r: AlertRule) => desktop.put('/rest/config/v1/alert-rules/{id}', { path: { id: r.id }, body: { name: r.name, enabled: !r.enabled, condition: r.condition, for_seconds: r.for_seconds, repeat_seconds: r.repeat_seconds, channels: r.channels } }).then(renew, tell);
  const remove = (r: AlertRule) => window.confirm(`Delete the rule ${r.name}?`) && desktop.delete('/rest/config/v1/alert-rules/{id}', { path: { id: r.id } }).then(renew, tell);
  return (
    <section>
      <div className="region-head region"><h2>Rules</h2><Link className="btn end" to="/alert-rules/new">New rule</Link></div>
      <Answer query={query} what="the rules" padded>
        {(rules) => rules.length === 0 ? <Empty padded title="There is no alert rule" action={<Link className="btn primary" to="/alert-rules/new">New rule</Link>}>A rule tells by webhook or mail when something is wrong.</Empty> : (
          <table className="table">
            <thead><tr><th>On</th><th>Rule</th><th>Alerts when</th><th className="wide">Tells</th><th><span className="hide">Actions</span></th></tr></thead>
            <tbody>{rules.map((r) => <tr key={r.id}><td><button type="button" role="switch" className="toggle" aria-checked={r.enabled} aria-label={`${r.name} is on`} onClick={() => void flip(r)} /></td><th scope="row"><Link to={`/alert-rules/${r.id}`}>{r.name}</Link></th><td>{conditionText(r)}</td><td className="wide t2">{r.channels.map((c) => (c.type === 'MAIL' ? (c.to ?? []).join(', ') : c.url)).join(', ')}</td><td><span className="row tight"><Button changes onClick={() => void test(r)}>Test</Button><Button changes icon="trash" aria-label={`Delete ${r.name}`} onClick={() => void remove(r)} /></span></td></tr>)}</tbody>
          </table>
        )}
      </Answer>
    </section>
  );
}

/** What fires, what is about to, and what ended. */
export default function Alerts() {
  const query = useQuery(alertsQuery);
  return (
    <Page title="Alerts">
      <Answer query={query} what="the alerts" padded>
        {(alerts) => alerts.length === 0 ? <Empty padded title="Nothing fires">No alert is raised, and none ended within a day.</Empty> : (
          <table className="table">
            <thead><tr><th>State</th><th>What</th><th className="wide">Why</th><th>Since</th></tr></thead>
            <tbody>{groups(alerts).map((g) => { const a = g[0] as Alert; return <tr key={`${a.rule_id}${a.component_id}${a.part ?? ''}${a.state}`}><td><span className={`word c-${marks[a.state]}`}><Mark name={marks[a.state]} />{sentence(a.state.toLowerCase())}</span></td><th scope="row">{a.name.split('.')[0]} <span className="small t3">{g.length > 1 ? plural(g.length, 'alert') : a.part}</span></th><td className="wide t2">{sentence(a.summary)}</td><td className="t3"><Time at={a.since} /></td></tr>; })}</tbody>
          </table>
        )}
      </Answer>
      <Rules />
    </Page>
  );
}
