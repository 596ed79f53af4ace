import { Fragment, type ReactNode } from 'react';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { choiceOf, useAddress } from '../frame/address';
import { Button } from './Button';
import { Icon } from './Icon';
import { Mark, type MarkName } from './marks';
import { SearchInput } from './SearchInput';
import { Segments } from './Segments';
import { Answer, Empty } from './states';
import { plural, targetName } from './text';
import { Time } from './time';

export type Outcome = 'success' | 'denied' | 'failure';

/** A record of the audit log of either server. */
export interface AuditLine {
  id: string | number;
  time: string | number;
  who: string | undefined;
  operation: string;
  targets: Record<string, string>;
  /** Names of the members that changed; values are never in a record. */
  changed?: string[];
  outcome: Outcome;
  cause?: string | undefined;
  source?: string | undefined;
}

const marks: Record<Outcome, MarkName> = { success: 'ok', denied: 'warn', failure: 'error' };

/** The outcome that the address selects; undefined for all. */
export const outcomeOf = (text: string | undefined) => choiceOf(marks, text, undefined);

const words = (r: AuditLine) => `${r.operation} ${r.who ?? ''} ${Object.values(r.targets).join(' ')}`.toLowerCase();

interface Props {
  query: UseInfiniteQueryResult;
  records: AuditLine[];
  /** More controls of the toolbar. */
  children?: ReactNode;
}

/** Who did what, newest first. */
export function AuditList({ query, records, children }: Props) {
  const { search, change } = useAddress();
  const shown = records.filter((r) => words(r).includes((search.operation ?? '').toLowerCase()));
  const older = query.hasNextPage && (
    <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
      Older
    </Button>
  );
  return (
    <>
      <div className="toolbar">
        <SearchInput
          label="Search the audit"
          placeholder="Operation, person, target"
          value={search.operation ?? ''}
          onChange={(operation) => change({ operation: operation || undefined })}
        />
        <Segments<Outcome | 'all'>
          label="Outcome"
          value={outcomeOf(search.outcome) ?? 'all'}
          onChange={(o) => change({ outcome: o === 'all' ? undefined : o })}
          options={[
            { value: 'all', label: 'All' },
            { value: 'success', label: 'Success' },
            { value: 'denied', label: 'Denied' },
            { value: 'failure', label: 'Failure' },
          ]}
        />
        {search.target && (
          <span className="chip">
            <span className="k">On</span>
            <span className="v cut">{search.target}</span>
            <button type="button" aria-label="Remove target" onClick={() => change({ target: undefined })}>
              <Icon name="x" small />
            </button>
          </span>
        )}
        {children}
      </div>
      <Answer query={query} what="the audit" padded>
        {() =>
          shown.length === 0 ? (
            <Empty padded title="No record matches" action={older}>
              {older && `Only the newest ${plural(records.length, 'record')} were searched.`}
            </Empty>
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>When</th>
                    <th className="wide">Who</th>
                    <th>Operation</th>
                    <th className="wide">On</th>
                    <th>Outcome</th>
                    <th className="wide roomy">From</th>
                  </tr>
                </thead>
                <tbody>
                  {shown.map((r) => (
                    <tr key={r.id}>
                      <td className="t3">
                        <Time at={r.time} as="date" />
                      </td>
                      <td className="wide">{r.who ?? '–'}</td>
                      <th scope="row">
                        {r.operation}
                        <span className="small t3 narrow block">{r.who}</span>
                      </th>
                      <td className="wide t2 audit-target">
                        {Object.entries(r.targets).map(([k, v], i) => (
                          <Fragment key={k}>
                            {i > 0 && ', '}
                            {targetName(k)}{' '}
                            <button type="button" className="link" title="Records of this target" onClick={() => change({ target: v })}>
                              {v}
                            </button>
                          </Fragment>
                        ))}
                        {!!r.changed?.length && <span className="small t3"> changed {r.changed.join(', ')}</span>}
                      </td>
                      <td>
                        <span className={`word c-${marks[r.outcome]}`} title={r.cause}>
                          <Mark name={marks[r.outcome]} />
                          <span className="wide">{r.outcome}</span>
                          <span className="hide narrow">{r.outcome}</span>
                        </span>
                      </td>
                      <td className="wide roomy t3">{r.source}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {older && <div className="region">{older}</div>}
            </div>
          )
        }
      </Answer>
    </>
  );
}
