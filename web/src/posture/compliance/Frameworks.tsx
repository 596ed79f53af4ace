import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { posture, type Framework } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { StackBar } from '../../parts/Bars';
import { Mark } from '../../parts/marks';
import { shortName, shortVersion } from '../frameworks';
import { countVerdicts, verdicts, verdictWords } from './verdicts';

/** The verdicts of a framework's controls. */
export const postureQuery = (id: string, account = '', details = false) => ({
  queryKey: ['posture', id, account, details],
  queryFn: async () =>
    (
      await posture.post('/v1/compliance-frameworks/{framework_id}/posture', {
        path: { framework_id: id },
        body: { ...(account ? { cloudAccountIds: [account] } : {}), details },
      })
    ).results,
  staleTime: 60_000,
});

/** The frameworks with their verdicts. */
export function Frameworks({ frameworks, chosen, onNew }: { frameworks: Framework[]; chosen: string; onNew: () => void }) {
  const refused = useRefusal('analyst', 'rules', 'organisation');
  const answers = useQueries({ queries: frameworks.map((f) => postureQuery(f.id)) });
  return (
    <nav className="frameworks" aria-label="Frameworks">
      <div className="row">
        <h2>Frameworks</h2>
        <button type="button" className="link end" disabled={!!refused} title={refused} onClick={onNew}>
          New
        </button>
      </div>
      <ul>
        {frameworks.map((f, i) => {
          const n = answers[i]?.data && countVerdicts(answers[i].data);
          return (
            <li key={f.id}>
              <Link to={`/compliance/${encodeURIComponent(f.id)}`} aria-current={f.id === chosen ? 'true' : undefined}>
                <span className="row tight">
                  <span className="cut strong" title={`${f.name} ${f.version}`}>
                    {shortName(f.name)}
                  </span>
                  <span className="small t3">{shortVersion(f.version)}</span>
                  {n && (
                    <span className="end small">
                      <b>{n.pass}</b> <span className="t3">/ {n.violation + n.unknown + n.pass}</span>
                    </span>
                  )}
                </span>
                {n && (
                  <StackBar
                    parts={verdicts.map((v) => ({ name: v, value: n[v] }))}
                    label={verdicts.map((v) => `${n[v]} ${verdictWords[v].toLowerCase()}`).join(', ')}
                  />
                )}
              </Link>
            </li>
          );
        })}
      </ul>
      <div className="framework-legend" aria-hidden="true">
        {verdicts.map((v) => (
          <span key={v} className="row tight">
            <Mark name={v} />
            {verdictWords[v].toLowerCase()}
          </span>
        ))}
      </div>
    </nav>
  );
}
