import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Kind } from '../../api/desktop';
import { LineChart } from '../../parts/LineChart';
import { Segments } from '../../parts/Segments';
import { Answer } from '../../parts/states';
import { samplesQuery } from '../data';

interface Measure {
  measure: string;
  label: string;
  unit?: string;
  /** The axis reaches at least this far. */
  atLeast?: number;
}

/** What is measured over time, by kind. */
const measures: Partial<Record<Kind, Measure[]>> = {
  GATEWAY: [{ measure: 'active_connection_count', label: 'Connections' }],
  CONNECTION_SERVER: [
    { measure: 'connection_count', label: 'Connections' },
    { measure: 'session_count', label: 'Sessions' },
  ],
  FARM: [
    { measure: 'session_count', label: 'Sessions' },
    { measure: 'load_index', label: 'Load', atLeast: 100 },
  ],
  RDS_SERVER: [
    { measure: 'session_count', label: 'Sessions' },
    { measure: 'load_index', label: 'Load', atLeast: 100 },
  ],
  POD: [{ measure: 'roundtrip_time', label: 'Round trip', unit: ' ms' }],
  VIRTUAL_CENTER: [
    { measure: 'free_space_percent', label: 'Free space', unit: ' %', atLeast: 100 },
    { measure: 'desktops_count', label: 'Desktops' },
  ],
  EVENT_DATABASE: [{ measure: 'event_count', label: 'Events' }],
};

const ranges = { '1d': { label: '1 day', ms: 86_400_000 }, '7d': { label: '7 days', ms: 604_800_000 } } as const;
type Range = keyof typeof ranges;

/** One measure. The line stays on the screen while its range advances. For another measure or range, give the component another key. */
function Chart({ kind, id, of, range }: { kind: Kind; id: string; of: Measure; range: Range }) {
  // Rounded down to five minutes, the step of the samples: with the exact time, each rendering would send another query.
  const since = Math.floor((Date.now() - ranges[range].ms) / 300_000) * 300_000;
  const query = useQuery({ ...samplesQuery({ kind, id, measure: of.measure, since }), placeholderData: keepPreviousData });
  return (
    <Answer query={query} what={of.label.toLowerCase()} rows={3}>
      {(samples) => (
        <LineChart
          label={of.label}
          from={samples.since}
          to={samples.until}
          {...(of.unit ? { unit: of.unit } : {})}
          {...(of.atLeast ? { atLeast: of.atLeast } : {})}
          lines={samples.series.slice(0, 4).map((s) => ({
            label: s.part ?? of.label,
            points: s.points.map((p) => ({ at: p.timestamp, value: p.average, least: p.minimum, most: p.maximum })),
          }))}
        />
      )}
    </Answer>
  );
}

/** The measures of one component over a day or a week. */
export function Measures({ kind, id }: { kind: Kind; id: string }) {
  const all = measures[kind] ?? [];
  const [range, setRange] = useState<Range>('1d');
  const [chosen, setChosen] = useState(all[0]?.measure ?? '');
  const of = all.find((m) => m.measure === chosen) ?? all[0];
  if (!of) return null;
  return (
    <section>
      <div className="region-head">
        <h3>
          {all.length > 1 ? (
            <Segments
              small
              label="Measure"
              value={of.measure}
              onChange={setChosen}
              options={all.map((m) => ({ value: m.measure, label: m.label }))}
            />
          ) : (
            of.label
          )}
        </h3>
        <span className="end">
          <Segments<Range>
            small
            label="Time"
            value={range}
            onChange={setRange}
            options={[
              { value: '1d', label: '1 day' },
              { value: '7d', label: '7 days' },
            ]}
          />
        </span>
      </div>
      <Chart key={`${kind} ${id} ${of.measure} ${range}`} kind={kind} id={id} of={of} range={range} />
    </section>
  );
}
