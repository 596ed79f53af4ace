import { Link, useParams } from '@tanstack/react-router';
import { choiceOf } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Audit } from './Audit';
import { Keys } from './Keys';
import { Sessions } from './Sessions';

const tabs = { keys: 'Monitoring keys', sessions: 'My sessions', audit: 'Audit' } as const;
type Tab = keyof typeof tabs;

/** Keys for monitoring, one's own sessions, and who changed what. */
export default function Admin() {
  const { tab: given } = useParams({ strict: false }) as { tab?: string };
  const tab: Tab = choiceOf(tabs, given, 'keys');
  return (
    <Page title="Admin">
      <nav className="tabs" aria-label="Admin">
        {(Object.keys(tabs) as Tab[]).map((t) => (
          <Link key={t} to={`/admin/${t}`} aria-current={t === tab ? 'true' : undefined}>
            {tabs[t]}
          </Link>
        ))}
      </nav>
      {tab === 'keys' && <Keys />}
      {tab === 'sessions' && <Sessions />}
      {tab === 'audit' && <Audit />}
    </Page>
  );
}
