import { useQuery } from '@tanstack/react-query';
import { posture, type MuteScope } from '../../api/posture';
import { Mark, severity } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { count, plural } from '../../parts/text';
import { useRules } from '../data';
import { resourceName } from '../findings/FindingRow';

/** What a mute rule would suppress now: how many findings, and those of highest risk. */
export function MutePreview({ scope }: { scope: MuteScope }) {
  const chosen = Object.keys(scope).length > 0;
  const query = useQuery({
    queryKey: ['findings', 'mute preview', scope],
    queryFn: ({ signal }) => posture.post('/v1/mute-rules/preview', { body: { scope }, signal }),
    enabled: chosen,
  });
  const rules = useRules();
  if (!chosen)
    return (
      <p className="note">
        <Mark name="none" />
        <span>Choose findings by rule, account, tag or resource: a mute rule has at least one of them.</span>
      </p>
    );
  return (
    <section className="mute-preview" aria-label="Preview">
      <Answer query={query} what="the preview" rows={3}>
        {(p) => (
          <>
            <p>
              <b>{plural(p.matchedCount, 'open finding matches', 'open findings match')} now</b>
              {p.suppressedCount > 0 && <span className="t2">, {count(p.suppressedCount)} suppressed already</span>}
            </p>
            {p.matchedCount > 0 && (
              <p className="row tight wrap">
                {(['High', 'Medium', 'Low'] as const).map((level) => (
                  <span key={level} className={`word c-${severity(level)}`}>
                    <Mark name={severity(level)} />
                    {count(p.levels[level] ?? 0)} {level}
                  </span>
                ))}
              </p>
            )}
            <ul className="list">
              {p.sample.slice(0, 5).map((f) => (
                <li key={f.id}>
                  <Mark name={severity(f.level, f.riskScore)} label />
                  <b className="risk">{f.riskScore}</b>
                  <span className="cut grow">{rules.get(f.ruleId)?.name ?? f.ruleId}</span>
                  <span className="cut t3">{resourceName(f)}</span>
                </li>
              ))}
              {p.matchedCount > 5 && <li className="t3">and {count(p.matchedCount - Math.min(5, p.sample.length))} more</li>}
            </ul>
            {p.matchedCount === 0 && <p className="t3">Findings that are raised later are suppressed when they match.</p>}
          </>
        )}
      </Answer>
    </section>
  );
}
