import { failureText } from '../../parts/failure';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type Entity, type FindingPage } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { CopyButton } from '../../parts/Copy';
import { Icon } from '../../parts/Icon';
import { Mark, ProviderMark } from '../../parts/marks';
import { Failure, Skeleton } from '../../parts/states';
import { nameInId, shortType, typeInId, typeName } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { useRun } from '../accounts/useRun';
import { entityQuery, findingsQuery, useAccountNames } from '../data';
import { iconOfType } from '../graph/icons';
import { quoted } from '../graph/model';
import { ChangesColumn } from './ChangesColumn';
import { FindingsColumn, FindingsPill, OtherVerdicts, PropertiesColumn } from './columns';
import { GraphBand } from './GraphBand';
import '../findings/findings.css';
import '../graph/graph.css';
import './resource.css';

const vendors: Record<string, string> = { aws: 'AWS', azure: 'Azure', gcp: 'Google Cloud' };

function Head({ entity, findings }: { entity: Entity; findings: UseQueryResult<FindingPage> }) {
  const accountName = useAccountNames();
  return (
    <div className="resource-head">
      <div className="row wrap">
        <span className="resource-icon">
          <Icon name={iconOfType(typeName(entity.entityType))} />
        </span>
        <h2 className="drawer-title">{entity.entityName}</h2>
        <span className="t3">{shortType(entity.entityType)}</span>
        <FindingsPill query={findings} />
      </div>
      <dl className="meta">
        <div>
          <dt>Account</dt>
          <dd>
            <ProviderMark provider={entity.provider} />
            <Link to={`/accounts/${encodeURIComponent(entity.cloudAccountId)}`}>{accountName(entity.cloudAccountId)}</Link>
          </dd>
        </div>
        <div>
          <dt>Region</dt>
          <dd>{entity.region}</dd>
        </div>
        <div className="meta-id">
          <dt>Id in {vendors[entity.provider] ?? 'the cloud'}</dt>
          <dd>
            <code title={entity.xid}>{entity.xid}</code>
            <CopyButton text={entity.xid} label="Copy id in the cloud" />
          </dd>
        </div>
        {Object.keys(entity.tags).length > 0 && (
          <div className="meta-tags">
            <dt>Tags</dt>
            <dd>
              {Object.entries(entity.tags).map(([k, v]) => (
                <span key={k} className="tag">
                  <b>{k}</b> {v}
                </span>
              ))}
            </dd>
          </div>
        )}
        <div>
          <dt>Read</dt>
          <dd>
            <Time at={entity.lastUpdateTime} as="date" />
          </dd>
        </div>
      </dl>
    </div>
  );
}

/** What is left of a resource that was deleted: its findings and changes. */
function Gone({ id, findings }: { id: string; findings: UseQueryResult<FindingPage> }) {
  return (
    <>
      <div className="region">
        <div className="note unknown">
          <Mark name="unknown" />
          <span>
            <b>{nameInId(id)} is gone, or was never read.</b> What is left of it is below.
          </span>
        </div>
      </div>
      <div className="cols resource-columns">
        <FindingsColumn query={findings} />
        <ChangesColumn id={id} findings={findings.data?.results ?? []} />
      </div>
    </>
  );
}

/** One resource: its graph, findings, other verdicts, properties and changes. */
export default function Resource() {
  const { id } = useParams({ strict: false }) as { id: string };
  const refused = useRefusal('analyst', 'accounts');
  const query = useQuery(entityQuery(id));
  const findingsResult = useQuery({
    ...findingsQuery({
      filters: { objectIds: [id] },
      sorts: [
        { fieldName: 'status', order: 'asc' },
        { fieldName: 'riskScore', order: 'desc' },
      ],
      paginationInfo: { pageSize: 100 },
    }),
    placeholderData: undefined, // otherwise the findings of the last resource would be shown until those of this one arrive
  });
  const findings = findingsResult.data?.results ?? [];
  const entity = query.data;
  const [run, setRun] = useState<{ account: string; id: string }>(); // the last run of "Read again"
  useRun(run?.account ?? '', run?.id);
  const readAgain = async () => {
    if (!entity) return;
    try {
      const started = await posture.post('/v1/cloud-accounts/{cloud_account_id}/collections', {
        path: { cloud_account_id: entity.cloudAccountId },
        body: { types: [entity.entityType], regions: [entity.region] },
      });
      showToast('Reading it again');
      setRun({ account: entity.cloudAccountId, id: started.collectionId });
    } catch (cause) {
      showToast(failureText(cause));
    }
  };
  const type = entity?.entityType;
  return (
    <Page
      title={entity?.entityName ?? nameInId(id)}
      crumbs={
        <>
          <Link to="/inventory" className="wide roomy">
            Inventory
          </Link>
          <span className="wide roomy" aria-hidden="true">
            /
          </span>
          <Link className="wide" to="/inventory" search={{ type } as never}>
            {type ? shortType(type) : typeInId(id)}
          </Link>
        </>
      }
      actions={
        entity && (
          <>
            <Link className="btn wide" to="/explore" search={{ account: entity.cloudAccountId, q: `g.V().hasId(${quoted(id)})` } as never}>
              <Icon name="explore" small />
              Query from here
            </Link>
            <Button icon="history" writes refused={refused} onClick={() => void readAgain()}>
              Read again
            </Button>
          </>
        )
      }
    >
      {query.isPending && (
        <div className="region">
          <Skeleton />
        </div>
      )}
      {query.isError && <Failure padded error={query.error} what="the resource" onRetry={() => void query.refetch()} />}
      {entity === null && <Gone id={id} findings={findingsResult} />}
      {entity && (
        <>
          <Head entity={entity} findings={findingsResult} />
          <GraphBand key={id} entity={entity} findings={findings} />
          <div className="cols resource-columns">
            <FindingsColumn query={findingsResult}>
              <OtherVerdicts id={id} provider={entity.provider} />
            </FindingsColumn>
            <PropertiesColumn entity={entity} findings={findings} />
            <ChangesColumn id={id} account={entity.cloudAccountId} findings={findings} />
          </div>
        </>
      )}
    </Page>
  );
}
