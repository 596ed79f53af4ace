import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Kind } from '../../api/desktop';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { sentence, words } from '../../parts/text';
import { isWithinDay, Time } from '../../parts/time';
import type { Component } from '../components';
import { changesQuery } from '../data';
import { partName } from '../partName';
import { healthMark, markOf, rank } from '../status';
import { Measures } from './Measures';
import { StatusStrip } from './StatusStrip';

/** A part of a component as the panel lists it. */
export interface PartRow {
  /** The name of the part in the API: "host h1", "cs1.corp.example". */
  part: string;
  /** The name that is shown. */
  name: string;
  status: string;
  detail?: string;
}

/** The parts of a component with their statuses. `lastChanges` says since when each part has its status. */
export function Parts({ title, rows, lastChanges }: { title: string; rows: PartRow[]; lastChanges?: Component['parts'] }) {
  if (rows.length === 0) return null;
  const changed = (row: PartRow) => lastChanges?.find((p) => p.name === row.part)?.since;
  return (
    <section>
      <div className="region-head">
        <h3>{title}</h3>
        <span className="end">
          {rows.filter((r) => markOf(r.status) === 'ok').length} of {rows.length}
        </span>
      </div>
      <ul className="list">
        {[...rows]
          .sort((a, b) => rank(markOf(a.status)) - rank(markOf(b.status)))
          .map((r) => (
            <li key={`${r.detail} ${r.name}`}>
              <span className="cut grow">
                {r.name} <span className="small t3">{r.detail}</span>
              </span>
              <span className={`word c-${markOf(r.status)}`}>
                <Mark name={markOf(r.status)} />
                {words(r.status)}
              </span>
              {markOf(r.status) !== 'ok' && changed(r) && (
                <span className="small t3">
                  since <Time at={changed(r)} />
                </span>
              )}
            </li>
          ))}
      </ul>
    </section>
  );
}

/** The history of one component: a strip and its changes. */
export function ComponentHistory({ kind, id, status }: { kind: Kind; id: string; status: Component['status'] }) {
  const query = useQuery(changesQuery({ kind, id, limit: 50 }));
  return (
    <section>
      <div className="region-head">
        <h3>Status</h3>
        <Link className="end" to="/history" search={{ kind, id } as never}>
          History
        </Link>
      </div>
      <Answer query={query} what="the history" rows={2}>
        {({ changes }) => (
          <>
            <StatusStrip changes={changes.filter((c) => !c.part)} now={status} />
            <ul className="list">
              {changes.slice(0, 6).map((c, i) => (
                <li key={i}>
                  <span className="small t3">
                    <Time at={c.timestamp} as="date" />
                  </span>
                  <span className="cut grow small">{partName(c.part)}</span>
                  <span className={`word c-${healthMark(c.to_health)}`}>
                    <Mark name={healthMark(c.to_health)} />
                    {words(c.to_status)}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

/** A component beside its list: why, since when, its parts, and what to do next. */
export function ComponentPanel({ component: c, children, actions }: { component: Component; children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className="panel-body">
      <div className="panel-head">
        <Mark name={c.status} />
        <h2 className="panel-title">{c.name}</h2>
        <span className={`c-${c.status}`}>{c.word}</span>
        {c.since && (
          <span className="small t3">
            since <Time at={c.since} as={isWithinDay(c.since) ? 'clock' : 'date'} />
          </span>
        )}
      </div>
      {c.reasons.map((r) => (
        <div key={r} className={`note ${c.status}`}>
          <Mark name={c.status} />
          <span>{sentence(r)}</span>
        </div>
      ))}
      {children}
      <Measures kind={c.kind} id={c.id} />
      <ComponentHistory kind={c.kind} id={c.id} status={c.status} />
      <div className="row wrap">
        {actions}
        <Link className="btn" to="/alert-rules/new" search={{ kind: c.kind, component: c.id, name: c.name } as never}>
          Alert on this
        </Link>
      </div>
    </div>
  );
}
