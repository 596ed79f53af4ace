import { useQuery } from '@tanstack/react-query';
import { posture } from '../../api/posture';
import { LineChart } from '../../parts/LineChart';
import { Answer } from '../../parts/states';

/** A chart of how many controls of a framework were violated at the end of each of the last thirty days. */
export function ControlTrend({ framework, account }: { framework: string; account?: string }) {
  const trend = useQuery({
    queryKey: ['posture-trend', framework, account],
    queryFn: () =>
      posture.post('/v1/compliance-frameworks/{framework_id}/posture/trend', {
        path: { framework_id: framework },
        body: { interval: 'day', ...(account ? { cloudAccountIds: [account] } : {}) },
      }),
    staleTime: 60_000,
  });
  return (
    <section className="control-trend" aria-label="Violated controls over time">
      <h3 className="label">Violated controls, 30 days</h3>
      <Answer query={trend} what="the trend" rows={3}>
        {({ results, controls }) => {
          const points = results.map((r) => ({ at: Date.parse(r.start), value: r.violatedControls }));
          return (
            <LineChart
              label="Violated controls"
              lines={[{ label: `Violated of ${controls} controls:`, points }]}
              from={points[0]?.at ?? 0}
              to={points.at(-1)?.at ?? 0}
              height={96}
            />
          );
        }}
      </Answer>
    </section>
  );
}
