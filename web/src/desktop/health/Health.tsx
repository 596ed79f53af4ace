import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Overview } from '../../api/desktop';
import { Page } from '../../frame/Page';
import { walkWithArrows } from '../../parts/arrows';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Answer, Empty, Failure, Skeleton } from '../../parts/states';
import { plural, sentence, words } from '../../parts/text';
import { isWithinDay, Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { Ledger } from '../../posture/overview/Ledger';
import { alertGroupsQuery, changeGroupsQuery, connectionServersQuery, overviewQuery, rdsQuery, setPaused, usePaused } from '../data';
import { shortName, useComponents } from '../components';
import { shownOf } from '../history/shown';
import { healthMark } from '../status';
import { Breaks } from './Breaks';
import { figuresOf } from './figures';
import { HealthMap } from './HealthMap';
import { problemsOf } from './problems';
import '../../posture/overview/overview.css';
import './health.css';

function Changes() {
  const query = useQuery(changeGroupsQuery({ limit: 9 }));
  return (
    <section className="region">
      <header>
        <h2>Changes</h2>
        <Link className="end" to="/history">
          History
        </Link>
      </header>
      <Answer query={query} what="the history">
        {({ groups }) => (
          <>
            {groups.length === 0 && <p className="t3">Nothing has changed yet.</p>}
            <ul className="list">
              {groups.map((g) => {
                const shown = shownOf(g);
                const mark = healthMark(g.health);
                return (
                  <li key={g.id}>
                    <Link className="row" to="/history" search={{ q: g.cause.name } as never}>
                      <span className="t3 small change-time">
                        <Time at={g.last_timestamp} as={isWithinDay(g.last_timestamp) ? 'clock' : 'ago'} />
                      </span>
                      <span className="cut grow">
                        {shortName(g.cause)} <span className="small t3">{g.count > 1 ? `${g.count} changes` : shown?.part}</span>
                      </span>
                      <span className={`word c-${mark}`}>
                        <Mark name={mark} />
                        {words(shown?.to_status ?? g.health)}
                      </span>
                    </Link>
                  </li>
                );
              })}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

function Problems({ query }: { query: UseQueryResult<Overview> }) {
  const total = query.data?.problems.length;
  return (
    <section className="region">
      <header>
        <h2>What is wrong</h2>
        {total !== undefined && <span className="end">{plural(total, 'problem')}, worst first</span>}
      </header>
      <Answer query={query} what="the overview">
        {(overview) =>
          overview.problems.length === 0 ? (
            <Empty title="Nothing is wrong">Every component answers as it should.</Empty>
          ) : (
            <ul className="list problem-list" aria-live="polite">
              {problemsOf(overview.problems).map((p) => (
                <li key={p.key}>
                  <Link className="row" to={p.to}>
                    <Mark name={p.status} label />
                    <span className="grow">
                      <span className="strong">{p.title}</span> <span className="small t3">{p.detail}</span>
                      <span className="small t2 block">{p.reason}</span>
                    </span>
                    {p.since && (
                      <span className="small t3 wide">
                        since <Time at={p.since} as={isWithinDay(p.since) ? 'clock' : 'date'} />
                      </span>
                    )}
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </section>
  );
}

/** Whether people can connect, and if not, which stage of the path to a desktop fails. */
export default function Health() {
  const c = useComponents();
  const overview = useQuery(overviewQuery);
  const figures = figuresOf({
    components: c,
    overview: overview.data,
    servers: useQuery(connectionServersQuery).data,
    rds: useQuery(rdsQuery).data,
    alerts: useQuery(alertGroupsQuery).data,
  });
  const paused = usePaused();
  useEffect(() => () => setPaused(false), []); // a pause ends when the user leaves the screen
  useKeys([
    {
      keys: 'p',
      does: 'Pause or resume',
      run: () => {
        setPaused(!paused);
        showToast(paused ? 'Updated every 15 s again' : 'Paused: the screen is not updated');
      },
    },
  ]);
  const refused = overview.data?.inventory.refused;
  return (
    <Page
      title="Health map"
      className="health"
      actions={
        <Button look="quiet" icon={paused ? 'play' : 'history'} className="wide" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? 'Paused' : 'Pause'}
        </Button>
      }
    >
      {refused && (
        <div className="region">
          <div className="note warn">
            <Mark name="warn" />
            <span>
              <b>The inventory file has errors; the last good one is in use.</b> {sentence(refused.message)}
            </span>
          </div>
        </div>
      )}
      <Ledger figures={figures} />
      {c.loaded ? (
        <div onKeyDown={walkWithArrows}>
          <HealthMap c={c} />
        </div>
      ) : c.error ? (
        <Failure padded error={c.error} what="the map" onRetry={c.retry} />
      ) : (
        <div className="region">
          <Skeleton />
        </div>
      )}
      <div className="cols health-below">
        <Problems query={overview} />
        <Changes />
        <Breaks />
      </div>
    </Page>
  );
}
