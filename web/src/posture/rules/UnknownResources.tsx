import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { posture } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Mark, ProviderMark } from '../../parts/marks';
import { Select } from '../../parts/Segments';
import { Empty, Failure, Skeleton } from '../../parts/states';
import { count, plural, shortType } from '../../parts/text';
import { Time } from '../../parts/time';
import { accountsQuery, useAccountNames, useRules } from '../data';

/** The types of the resources that the rule finds that could not be listed: how many resources they have is not known. */
function NotListed({ rule, account }: { rule: string; account: string | undefined }) {
  const accountName = useAccountNames();
  const filters = { ruleIds: [rule], ...(account ? { cloudAccountIds: [account] } : {}) };
  const unread =
    useQuery({
      queryKey: ['verdicts', 'unread', rule, account],
      queryFn: () => posture.post('/v1/rules/verdicts-query', { body: { filters, includeUnread: true } }),
    }).data?.unread ?? [];
  const findsTypes =
    useQuery({
      queryKey: ['rules', rule, 'reads'],
      queryFn: () => posture.get('/v1/rules/{rule_id}', { path: { rule_id: rule }, query: { include: 'reads' } }),
    }).data?.reads?.findsTypes ?? [];
  const about = unread.filter((u) => findsTypes.includes(u.entityType));
  if (about.length === 0) return null;
  return (
    <section className="region">
      <header>
        <h2>Not listed</h2>
        <span className="end">{plural(about.length, 'type')} by account and region</span>
      </header>
      <ul className="list">
        {about.slice(0, 50).map((u) => (
          <li key={`${u.cloudAccountId}${u.entityType}${u.region}`}>
            <Mark name="unknown" label />
            <span className="grow">
              <b>{accountName(u.cloudAccountId)}</b> <code>{u.entityType}</code> in {u.region || 'every region'}: {u.why}
              {u.lastReadTime && (
                <span className="t3">
                  , last read <Time at={u.lastReadTime} as="date" />
                </span>
              )}
            </span>
            <Link className="link" to={`/accounts/${encodeURIComponent(u.cloudAccountId)}`}>
              Fix access
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The resources for which the verdict of a rule is unknown, and what could not be read of each. */
export default function UnknownResources() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { search, change } = useAddress();
  const rule = useRules().get(id);
  const accounts = useQuery(accountsQuery).data ?? [];
  const accountName = useAccountNames();
  const query = useInfiniteQuery({
    queryKey: ['verdicts', 'unknown', id, search.account],
    queryFn: ({ pageParam }) =>
      posture.post('/v1/rules/{rule_id}/unknown-query', {
        path: { rule_id: id },
        body: {
          ...(search.account ? { filters: { cloudAccountIds: [search.account] } } : {}),
          paginationInfo: { pageSize: 100, continuationToken: pageParam },
        },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.continuationToken ?? null,
  });
  const rows = query.data?.pages.flatMap((p) => p.results) ?? [];
  const total = query.data?.pages[0]?.totalCount;
  return (
    <Page
      title="Unknown"
      crumbs={
        <>
          <Link to="/rules" className="wide">
            Rules
          </Link>
          <span className="wide" aria-hidden="true">
            /
          </span>
          <Link to={`/rules/${encodeURIComponent(id)}`}>{rule?.name ?? id}</Link>
        </>
      }
      beside={total !== undefined && <span className="t3">{count(total)}</span>}
    >
      <div className="toolbar">
        <Select
          label="Account"
          value={search.account ?? ''}
          onChange={(a) => change({ account: a || undefined })}
          options={[
            { value: '', label: 'All accounts' },
            ...accounts
              .filter((a) => !rule || a.provider === rule.provider)
              .map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName })),
          ]}
        />
        <span className="t2">Unknown is not pass: something that the rule asks for could not be read.</span>
      </div>
      {query.data === undefined ? (
        (query.error ?? query.failureReason) ? (
          <Failure
            padded
            error={query.error ?? query.failureReason}
            what="the list of unknown resources"
            onRetry={() => void query.refetch()}
          />
        ) : (
          <div className="region">
            <Skeleton />
          </div>
        )
      ) : rows.length === 0 ? (
        <Empty padded title="No resource is unknown">
          The rule has a verdict for every resource that was listed.
        </Empty>
      ) : (
        <div className="table-scroll">
          <table className="table">
            <thead>
              <tr>
                <th>Resource</th>
                <th>What could not be read</th>
                <th className="wide">Account</th>
                <th className="wide">Region</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ entity: e, reasons }) => (
                <tr key={e.entityId}>
                  <th scope="row">
                    <Link to={`/resource/${encodeURIComponent(e.entityId)}`}>{e.entityName}</Link>{' '}
                    <span className="t3">{shortType(e.entityType)}</span>
                  </th>
                  <td>
                    {reasons.map((r) => (
                      <span key={r} className="row tight">
                        <Mark name="unknown" />
                        {r}
                      </span>
                    ))}
                  </td>
                  <td className="wide">
                    <ProviderMark provider={e.provider} /> {accountName(e.cloudAccountId)}
                  </td>
                  <td className="wide t2">{e.region}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {query.hasNextPage && (
            <div className="region">
              <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                Show more{total ? ` of ${count(total)}` : ''}
              </Button>
            </div>
          )}
        </div>
      )}
      <NotListed rule={id} account={search.account} />
    </Page>
  );
}
