import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { desktop, type AlertGroup } from '../../api/desktop';
import { useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { TextField } from '../../parts/Field';
import { Icon } from '../../parts/Icon';
import { Mark, type MarkName } from '../../parts/marks';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { plural, sentence } from '../../parts/text';
import { dateTime, Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { useSubmit } from '../../parts/useSubmit';
import { addressOf, shortName } from '../components';
import { alertGroupsQuery } from '../data';
import { partName } from '../partName';

const marks: Record<AlertGroup['state'], MarkName> = { FIRING: 'error', PENDING: 'warn', RESOLVED: 'ok' };
const states = ['FIRING', 'PENDING', 'RESOLVED'] as const;
const stateWords: Record<AlertGroup['state'], string> = { FIRING: 'Firing', PENDING: 'Pending', RESOLVED: 'Ended' };
const hour = 3_600_000;

/** Sends a change of a group and reloads the list of groups. The buttons of the group are disabled while `busy`. */
function useGroupChange() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const change = async (request: () => Promise<unknown>, done: string, undo?: () => void): Promise<boolean> => {
    setBusy(true);
    try {
      await request();
      await client.invalidateQueries({ queryKey: alertGroupsQuery.queryKey });
      showToast(done, undo);
      return true;
    } catch (cause) {
      showToast(failureText(cause));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { change, busy };
}

type Doing = { what: 'acknowledge' | 'silence'; group: AlertGroup };

function DoDialog({ doing: { what, group }, onClose }: { doing: Doing; onClose: () => void }) {
  const { change } = useGroupChange();
  const [hours, setHours] = useState('4');
  const path = { id: group.id };
  const { submit, busy } = useSubmit(async (form) => {
    const text = String(new FormData(form).get('text') ?? '').trim();
    const succeeded =
      what === 'acknowledge'
        ? await change(
            () => desktop.put('/rest/monitor/alert-groups/{id}/acknowledgement', { path, body: { comment: text } }),
            'Acknowledged',
            () => void change(() => desktop.delete('/rest/monitor/alert-groups/{id}/acknowledgement', { path }), 'Taken back'),
          )
        : await change(
            () =>
              desktop.put('/rest/monitor/alert-groups/{id}/silence', {
                path,
                body: { until: Date.now() + Number(hours) * hour, reason: text },
              }),
            'Silenced',
            () => void change(() => desktop.delete('/rest/monitor/alert-groups/{id}/silence', { path }), 'The silence ended'),
          );
    if (succeeded) onClose();
  });
  const name = shortName(group.cause);
  return (
    <Dialog title={what === 'acknowledge' ? `Acknowledge ${name}` : `Silence ${name}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="t2">
          {what === 'acknowledge'
            ? 'Shows others that you are working on it. No reminders are sent; its end is announced.'
            : 'No messages are sent during this time, even if it ends and starts again.'}
        </p>
        {what === 'silence' && (
          <div className="field">
            <span className="label">For</span>
            <Segments
              label="For"
              value={hours}
              onChange={setHours}
              options={[
                { value: '1', label: '1 hour' },
                { value: '4', label: '4 hours' },
                { value: '24', label: '1 day' },
                { value: '168', label: '7 days' },
              ]}
            />
          </div>
        )}
        <TextField label={what === 'acknowledge' ? 'Comment' : 'Reason'} name="text" autoFocus maxLength={500} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy}>
            {what === 'acknowledge' ? 'Acknowledge' : 'Silence'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Group({ group: g, onDo }: { group: AlertGroup; onDo: (doing: Doing) => void }) {
  const [open, setOpen] = useState(false);
  const { change, busy } = useGroupChange();
  const path = { id: g.id };
  const ended = g.state === 'RESOLVED';
  return (
    <>
      <tr>
        <td>
          <span className={`word c-${marks[g.state]}`}>
            <Mark name={marks[g.state]} />
            {stateWords[g.state]}
          </span>
        </td>
        <th scope="row">
          <span className="row tight">
            {g.count > 1 && (
              <Button
                look="quiet"
                icon={open ? 'down' : 'right'}
                className="xs"
                aria-expanded={open}
                aria-label={`${open ? 'Hide' : 'Show'} the ${g.count} alerts of ${shortName(g.cause)}`}
                onClick={() => setOpen(!open)}
              />
            )}
            <Link to={addressOf(g.cause.kind, g.cause.id)}>{shortName(g.cause)}</Link>
            {g.count > 1 && <span className="small t3 nowrap">{plural(g.count, 'alert')}</span>}
          </span>
          <span className="narrow block small t3">
            {sentence(g.summary)} · <Time at={ended ? g.resolved_at : g.since} />
          </span>
        </th>
        <td className="wide t2">
          {sentence(g.summary)}
          {g.acknowledgement && (
            <span className="small t3 block">
              <Icon name="check" small /> {g.acknowledgement.by} looks after it
              {g.acknowledgement.comment && `: ${g.acknowledgement.comment}`}
            </span>
          )}
          {g.silence && (
            <span className="small t3 block">
              Silent until {dateTime(g.silence.until)}
              {g.silence.reason && `: ${g.silence.reason}`}
            </span>
          )}
        </td>
        <td className="wide roomy nowrap">
          <Link className="t2" to={`/alert-rules/${g.rule_id}`}>
            {g.rule_name}
          </Link>
        </td>
        <td className="wide t3">
          <Time at={ended ? g.resolved_at : g.since} />
        </td>
        <td className="num">
          <span className="row tight alert-actions">
            {ended ? null : g.acknowledgement ? (
              <Button
                className="end"
                writes
                disabled={busy}
                onClick={() => void change(() => desktop.delete('/rest/monitor/alert-groups/{id}/acknowledgement', { path }), 'Taken back')}
              >
                Take back
              </Button>
            ) : (
              <Button className="end" writes disabled={busy} onClick={() => onDo({ what: 'acknowledge', group: g })}>
                Acknowledge
              </Button>
            )}
            {g.silence ? (
              <Button
                writes
                disabled={busy}
                className={ended ? 'end' : ''}
                onClick={() => void change(() => desktop.delete('/rest/monitor/alert-groups/{id}/silence', { path }), 'The silence ended')}
              >
                End silence
              </Button>
            ) : (
              <Button writes disabled={busy} className={ended ? 'end' : ''} onClick={() => onDo({ what: 'silence', group: g })}>
                Silence
              </Button>
            )}
          </span>
        </td>
      </tr>
      {open &&
        g.alerts.map((a) => (
          <tr key={`${a.kind}${a.component_id}${a.part ?? ''}`} className="alert-member">
            <td />
            <td colSpan={2}>
              <Link to={addressOf(a.kind, a.component_id)}>{shortName(a)}</Link> <span className="small t3">{partName(a.part)}</span>{' '}
              <span className="small t2">{sentence(a.summary)}</span>
            </td>
            <td className="wide roomy" />
            <td className="wide t3">
              <Time at={a.since} />
            </td>
            <td />
          </tr>
        ))}
    </>
  );
}

/** Alerts grouped by rule and cause: those that fire, that will fire if they last, and that have ended. */
export function AlertGroups() {
  const { search, change } = useAddress();
  const query = useQuery(alertGroupsQuery);
  const [doing, setDoing] = useState<Doing>();
  const state = states.find((s) => s.toLowerCase() === search.state);
  return (
    <>
      <Answer query={query} what="the alerts" padded>
        {(groups) => {
          const shown = groups
            .filter((g) => !state || g.state === state)
            .sort((a, b) => states.indexOf(a.state) - states.indexOf(b.state) || b.since - a.since);
          return (
            <>
              <div className="toolbar">
                <Segments
                  label="State"
                  value={state ?? 'all'}
                  onChange={(s) => change({ state: s === 'all' ? undefined : s.toLowerCase() })}
                  options={[
                    { value: 'all', label: 'All', count: groups.length },
                    ...states.map((s) => ({
                      value: s as string,
                      label: (
                        <>
                          <Mark name={marks[s]} />
                          {stateWords[s]}
                        </>
                      ),
                      count: groups.filter((g) => g.state === s).length,
                    })),
                  ]}
                />
              </div>
              {shown.length === 0 ? (
                <Empty padded title={state && groups.length ? 'No alert is in this state' : 'Nothing fires'}>
                  {state ? '' : 'No alert is raised, and none ended within a day.'}
                </Empty>
              ) : (
                <div className="table-scroll">
                  <table className="table">
                    <thead>
                      <tr>
                        <th>State</th>
                        <th>What</th>
                        <th className="wide">Why</th>
                        <th className="wide roomy">Rule</th>
                        <th className="wide">Since</th>
                        <th>
                          <span className="hide">Actions</span>
                        </th>
                      </tr>
                    </thead>
                    <tbody>
                      {/* An id can occur twice: a group that ended and one that began again have the same. */}
                      {shown.map((g) => (
                        <Group key={`${g.id}${g.state}${g.since}`} group={g} onDo={setDoing} />
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
            </>
          );
        }}
      </Answer>
      {doing && <DoDialog doing={doing} onClose={() => setDoing(undefined)} />}
    </>
  );
}
