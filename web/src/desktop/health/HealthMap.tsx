import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { count, sentence } from '../../parts/text';
import { connectionServersQuery, rdsQuery } from '../data';
import { countText } from '../counts';
import { addressOf, byStatus, type Component, type Components } from '../components';
import { stageText, statusOfStage } from '../status';
import { ServerTiles } from './ServerTiles';

const to = (c: Component) => addressOf(c.kind, c.id);

/** A name that may break after its dots, so that the name of a domain does not break within a word. */
const Breakable = ({ name }: { name: string }) =>
  name.split(/(?<=\.)/).map((part, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ));

/** Components as rows, the worst first, with their measure and, unless they are OK, the reason. */
function Rows({ of }: { of: Component[] }) {
  return (
    <ul className="health-rows">
      {[...of].sort(byStatus).map((c) => {
        const reason = c.status === 'ok' ? undefined : c.reasons[0];
        const hidesDetail = c.status === 'unknown' && reason; // the reason is enough
        return (
          <li key={c.id} className={c.status}>
            <Link to={to(c)}>
              <Mark name={c.status} label />
              <span className="grow">
                <span className="row tight health-line">
                  <span className="health-names grow">
                    <span className="strong" title={c.name}>
                      <Breakable name={c.name} />
                    </span>
                    {!hidesDetail && <span className="small t3">{c.detail}</span>}
                  </span>
                  <span className="nowrap">{c.measure}</span>
                </span>
                {reason && <span className="small why-line">{sentence(reason)}</span>}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/** Many components as numbered tiles. Below them, the three worst with a problem as rows with names. */
function Tiles({ of, dense, children }: { of: Component[]; dense?: boolean; children?: ReactNode }) {
  const withProblem = of.filter((c) => c.status === 'error' || c.status === 'warn').sort(byStatus);
  return (
    <>
      <div className={`tiles ${dense ? 'dense' : ''}`}>
        {of.map((c, i) => (
          <Link key={c.id} to={to(c)} className={`tile ${c.status}`} title={`${c.name}: ${c.word}`} aria-label={`${c.name}: ${c.word}`}>
            {c.status === 'ok' ? (/\d+$/.exec(c.name)?.[0] ?? String(i + 1)) : <Mark name={c.status} />}
          </Link>
        ))}
      </div>
      {children}
      {withProblem.length > 0 && <Rows of={withProblem.slice(0, 3)} />}
      {withProblem[3] && (
        <Link to={`/${withProblem[3].path}`} className="link small block">
          and {count(withProblem.length - 3)} more with a problem
        </Link>
      )}
    </>
  );
}

/** Facts about the connection servers as a whole: replication, services, and how busy the busiest server is. */
function ServerFacts() {
  const all = useQuery(connectionServersQuery).data ?? [];
  const pairs = all.flatMap((s) => s.cs_replications ?? []);
  const services = all.flatMap((s) => s.services ?? []);
  const busiest = [...all].sort((a, b) => (b.connection_count ?? -1) - (a.connection_count ?? -1))[0];
  if (!busiest) return null;
  const facts: [string, string][] = [
    ...(pairs.length
      ? [['Replication', `${count(pairs.filter((p) => p.status === 'OK').length)} of ${count(pairs.length)} pairs`] as [string, string]]
      : []),
    ...(services.length
      ? [['Services', `${count(services.filter((s) => s.status === 'UP').length)} of ${count(services.length)} up`] as [string, string]]
      : []),
    [
      'Busiest',
      `${countText(busiest.connection_count)}${busiest.session_threshold ? ` of ${count(busiest.session_threshold)}` : ' connections'}`,
    ],
  ];
  return (
    <dl className="kv small">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface StageProps {
  title: string;
  of: Component[];
  /** The lists that the stage shows. Until all are read, it is not known to be OK. */
  lists: UseQueryResult[];
  children: ReactNode;
}

function Stage({ title, of, lists, children }: StageProps) {
  const statuses = of.map((c) => c.status);
  const status = statusOfStage(
    statuses,
    lists.every((l) => l.data !== undefined),
  );
  return (
    <section className="stage">
      <header className="stage-head">
        <span className={`stage-node ${status}`}>
          <Mark name={status} label />
        </span>
        <div>
          <h2>{title}</h2>
          <p className="small t3">{stageText(statuses, lists)}</p>
        </div>
      </header>
      {children}
    </section>
  );
}

interface ListRowsProps {
  lists: [what: string, query: UseQueryResult][];
  of: Component[];
}

/** The components of some lists as rows, below an error for each list that could not be read. */
const ListRows = ({ lists, of }: ListRowsProps) => (
  <>
    {lists.map(([what, query]) => (
      <Answer key={what} query={query} what={what} rows={2}>
        {() => null}
      </Answer>
    ))}
    <Rows of={of} />
  </>
);

/** The five stages of a connection. A stage with a list that was not read is unknown, unless a component in it has a problem. */
export function HealthMap({ c }: { c: Components }) {
  const rds = useQuery(rdsQuery);
  const { lists } = c;
  return (
    <div className="health-map">
      <Stage title="Gateways" of={c.gateways} lists={[lists.gateways]}>
        <ListRows lists={[['the list of gateways', lists.gateways]]} of={c.gateways} />
      </Stage>
      <Stage title="Connection servers" of={c.servers} lists={[lists.servers]}>
        <Answer query={lists.servers} what="the list of connection servers" rows={2}>
          {() => <Tiles of={c.servers} />}
        </Answer>
        <ServerFacts />
      </Stage>
      <Stage title="Identity" of={[...c.domains, ...c.saml, ...c.sso]} lists={[lists.domains, lists.saml, lists.sso]}>
        <ListRows lists={[['the list of domains', lists.domains]]} of={c.domains} />
        <hr />
        <ListRows
          lists={[
            ['the list of SAML authenticators', lists.saml],
            ['the list of single sign-on connectors', lists.sso],
          ]}
          of={[...c.saml, ...c.sso]}
        />
      </Stage>
      <Stage title="Farms and RDS servers" of={c.farms} lists={[lists.farms, rds]}>
        <Answer query={lists.farms} what="the list of farms" rows={2}>
          {() => (
            <Tiles of={c.farms} dense>
              <Answer query={rds} what="the list of RDS servers" rows={2}>
                {(servers) => <ServerTiles servers={servers} farms={c.farms} />}
              </Answer>
            </Tiles>
          )}
        </Answer>
      </Stage>
      <Stage title="Virtual centers" of={[...c.centers, ...c.composers]} lists={[lists.centers, lists.composers]}>
        <ListRows
          lists={[
            ['the list of virtual centers', lists.centers],
            ['the list of composers', lists.composers],
          ]}
          of={[...c.centers, ...c.composers]}
        />
        <h3 className="label beside-path">Not on the path of a connection</h3>
        <ListRows
          lists={[
            ['the event database', lists.database],
            ['the list of pods', lists.pods],
          ]}
          of={[...c.database, ...c.pods]}
        />
      </Stage>
    </div>
  );
}
