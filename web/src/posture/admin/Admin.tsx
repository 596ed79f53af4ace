import { Link, useParams } from '@tanstack/react-router';
import { choiceOf } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Audit } from './Audit';
import { Sessions } from './Sessions';
import { Tokens } from './Tokens';
import { Users } from './Users';

const tabs = { users: 'Users', tokens: 'Tokens', sessions: 'Sessions', audit: 'Audit' } as const;
type Tab = keyof typeof tabs;

/** Who may do what, and who did. */
export default function Admin() {
  const { tab: given } = useParams({ strict: false }) as { tab?: string };
  const tab: Tab = choiceOf(tabs, given, 'users');
  return (
    <Page title="Admin">
      <nav className="tabs" aria-label="Admin">
        {(Object.keys(tabs) as Tab[]).map((t) => (
          <Link key={t} to={`/admin/${t}`} aria-current={t === tab ? 'true' : undefined}>
            {tabs[t]}
          </Link>
        ))}
      </nav>
      {tab === 'users' && <Users />}
      {tab === 'tokens' && <Tokens />}
      {tab === 'sessions' && <Sessions />}
      {tab === 'audit' && <Audit />}
    </Page>
  );
}
