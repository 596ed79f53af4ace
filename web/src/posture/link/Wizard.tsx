import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Provider } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { choiceOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { ProviderMark } from '../../parts/marks';
import { Segments } from '../../parts/Segments';
import { Empty } from '../../parts/states';
import { ByHand } from './ByHand';
import { specs } from './fields';
import { Organisation } from './Organisation';
import { ByScript, RunStep, StatusStep, StreamStep } from './steps';
import '../accounts/accounts.css';
import '../findings/findings.css';

const steps = { access: 'Give access', status: 'Check', stream: 'Events', run: 'First read' } as const;
type Step = keyof typeof steps;
const providers = Object.keys(specs) as Provider[];
type Way = 'script' | 'hand' | 'organisation';

function ChooseProvider() {
  return (
    <>
      <h2>Which cloud?</h2>
      <div className="choices">
        {providers.map((p) => (
          <Link key={p} to={`/accounts/link/${p}/access`}>
            <span className="row">
              <ProviderMark provider={p} />
              <b>{specs[p].label}</b>
            </span>
            <span className="t2">{specs[p].makes}</span>
          </Link>
        ))}
      </div>
    </>
  );
}

function AccessStep({ provider, onLinked }: { provider: Provider; onLinked: (id: string) => void }) {
  const { search, change } = useAddress();
  const way = (search.way ?? 'script') as Way;
  return (
    <>
      <h2>Give Vigil an identity in {specs[provider].label}</h2>
      <p className="t2">{specs[provider].makes}</p>
      <Segments<Way>
        label="Method"
        value={way}
        onChange={(w) => change({ way: w === 'script' ? undefined : w })}
        options={[
          { value: 'script', label: 'By script' },
          { value: 'hand', label: 'By hand' },
          { value: 'organisation', label: 'Whole organisation' },
        ]}
      />
      {way === 'script' && <ByScript provider={provider} onChosen={onLinked} />}
      {way === 'hand' && <ByHand provider={provider} onLinked={onLinked} />}
      {way === 'organisation' && <Organisation provider={provider} onLinked={onLinked} />}
    </>
  );
}

/** Links an account: access, check, events, first read. */
export default function Wizard() {
  const params = useParams({ strict: false }) as { provider?: string; step?: string };
  const { search } = useAddress();
  const navigate = useNavigate();
  const refused = useRefusal('admin', 'accounts');
  const provider = providers.find((p) => p === params.provider);
  const step: Step = choiceOf(steps, params.step, 'access');
  const id = search.account ?? '';
  const go = (next: Step, account = id) => void navigate({ to: `/accounts/link/${provider}/${next}`, search: { account } } as never);
  const content: Record<Step, () => ReactNode> = {
    access: () => provider && <AccessStep provider={provider} onLinked={(account) => go('status', account)} />,
    status: () => provider && <StatusStep id={id} provider={provider} onNext={() => go('stream')} />,
    stream: () => provider && <StreamStep id={id} provider={provider} onNext={() => go('run')} />,
    run: () => <RunStep id={id} />,
  };
  return (
    <Page title="Link an account" crumbs={<Link to="/accounts">Accounts</Link>}>
      {refused ? (
        <Empty padded title="Linking requires the role admin">
          You can see accounts, their runs and findings. An admin of this organisation can link one.
        </Empty>
      ) : (
        <div className="wizard">
          <nav className="wizard-steps" aria-label="Steps">
            <ol>
              <li aria-current={provider ? undefined : 'step'}>1. Cloud</li>
              {(Object.keys(steps) as Step[]).map((s, i) => (
                <li key={s} aria-current={provider && s === step ? 'step' : undefined}>
                  {i + 2}. {steps[s]}
                </li>
              ))}
            </ol>
          </nav>
          <div className="wizard-body">{provider ? content[step]() : <ChooseProvider />}</div>
        </div>
      )}
    </Page>
  );
}
