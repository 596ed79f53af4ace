import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useRefusal } from '../../api/session';
import { choiceOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { count } from '../../parts/text';
import { Channels } from './Channels';
import { channelsQuery, deliveriesQuery, notificationRulesQuery } from './data';
import { Deliveries } from './Deliveries';
import { NotificationRules } from './NotificationRules';
import './notifications.css';

const tabs = { channels: 'Channels', rules: 'Rules', deliveries: 'Deliveries' } as const;
type Tab = keyof typeof tabs;

/** Notifications: the channels, the rules that send events to them, and the deliveries of the messages. */
export default function Notifications() {
  const { tab: given } = useParams({ strict: false }) as { tab?: string };
  const tab: Tab = choiceOf(tabs, given, 'channels');
  const refused = useRefusal('admin', 'administration');
  const { change } = useAddress();
  const dead = useQuery(deliveriesQuery('Dead')).data?.totalCount;
  const counts = {
    channels: useQuery(channelsQuery).data?.length,
    rules: useQuery(notificationRulesQuery).data?.length,
    deliveries: undefined,
  };
  const add = () => change({ new: 'yes' }, { push: true });
  const what = tab === 'rules' ? 'New rule' : 'New channel';
  useKeys(tab === 'deliveries' ? [] : [{ keys: 'n', does: what, run: () => !refused && add() }]);
  return (
    <Page
      title="Notifications"
      beside={
        dead ? (
          <Link className="pill error" to="/notifications/deliveries" search={{ state: 'Dead' } as never}>
            {count(dead)} given up
          </Link>
        ) : undefined
      }
      actions={
        tab !== 'deliveries' && (
          <Button look="primary" icon="plus" writes refused={refused} onClick={add}>
            {what}
          </Button>
        )
      }
    >
      <nav className="tabs" aria-label="Notifications">
        {(Object.keys(tabs) as Tab[]).map((t) => (
          <Link key={t} to={`/notifications/${t}`} aria-current={t === tab ? 'true' : undefined}>
            {tabs[t]}
            {counts[t] !== undefined && <span className="n">{count(counts[t])}</span>}
          </Link>
        ))}
      </nav>
      {tab === 'channels' && <Channels onAdd={add} />}
      {tab === 'rules' && <NotificationRules onAdd={add} />}
      {tab === 'deliveries' && <Deliveries />}
    </Page>
  );
}
