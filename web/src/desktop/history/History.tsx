import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { StatusChange } from '../../api/desktop';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Mark } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { plural, sentence, words } from '../../parts/text';
import { Time } from '../../parts/time';
import { changesQuery } from '../data';
import { StatusStrip } from '../kinds/StatusStrip';
import { markOf } from '../status';
import { groupChanges, type ChangeGroup } from './group';
import '../kinds/kinds.css';

const ranges = { '1h': 3_600_000, '1d': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
type Range = keyof typeof ranges;
const kinds = ['AD_DOMAIN', 'CONNECTION_SERVER', 'EVENT_DATABASE', 'FARM', 'GATEWAY', 'RDS_SERVER', 'SAML_AUTHENTICATOR', 'POD', 'TRUE_SSO', 'COMPOSER', 'VIRTUAL_CENTER'];

function Row({ group: g }: { group: ChangeGroup }) {
  const mark = markOf(g.to);
  return (
    <tr>
      <td className="t3"><Time at={g.at} as="date" /></td>
      <th scope="row">{g.name} <span className="small t3">{g.parts > 1 ? plural(g.parts, 'part') : g.part}</span></th>
      <td className="wide t3">{words(g.from)}</td>
      <td><span className={`word c-${mark}`}><Mark name={mark} />{words(g.to)}</span></td>
      <td className="wide t2">{g.reason && sentence(g.reason)}</td>
    </tr>
  );
}

/** Components that changed, one strip each. */
function Lanes({ changes, from }: { changes: StatusChange[]; from: number }) {
  const lanes = new Map<string, StatusChange[]>();
  for (const c of changes) lanes.set(`${c.kind} ${c.id} ${c.name}`, [...(lanes.get(`${c.kind} ${c.id} ${c.name}`) ?? []), c]);
  const own = [...lanes].map(([key, all]) => [key, all.filter((c) => !c.part)] as const).filter(([, all]) => all.length > 0).slice(0, 8);
  if (own.length === 0) return null;
  return <section className="region">{own.map(([key, all]) => <div key={key} className="lane"><span className="cut">{all[0]?.name.split('.')[0]}</span><StatusStrip changes={all} now={markOf(all[0]?.to_status)} from={from} /></div>)}</section>;
}

/** What was how, when. */
export default function History() {
  const { search, change } = useAddress();
  const range = (search.range && search.range in ranges ? search.range : '1d') as Range;
  const minute = 60_000;
  const since = Math.floor((Date.now() - ranges[range]) / minute) * minute;
  const query = useQuery(changesQuery({ since, limit: 1000, ...(search.kind ? { kind: search.kind } : {}), ...(search.id ? { id: search.id } : {}) }));
  return (
    <Page title="History">
      <div className="toolbar">
        <SearchInput label="Search changes" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Select label="Kind" value={search.kind ?? ''} onChange={(kind) => change({ kind: kind || undefined, id: undefined })} options={[{ value: '', label: 'Every kind' }, ...kinds.map((k) => ({ value: k, label: words(k) }))]} />
        <Segments<Range> label="Range" value={range} onChange={(r) => change({ range: r === '1d' ? undefined : r })} options={[{ value: '1h', label: '1 hour' }, { value: '1d', label: '1 day' }, { value: '7d', label: '7 days' }, { value: '30d', label: '30 days' }]} />
        {search.id && <Link className="link" to="/history">Every component</Link>}
      </div>
      <Answer query={query} what="the history" padded>
        {({ changes }) => {
          const shown = changes.filter((c) => `${c.name} ${c.part ?? ''} ${c.to_status} ${c.reasons.join(' ')}`.toLowerCase().includes((search.q ?? '').toLowerCase()));
          if (shown.length === 0) return <Empty padded title="Nothing changed">No component changed its status in this time.</Empty>;
          return (
            <>
              <Lanes changes={shown} from={since} />
              <div className="table-scroll"><table className="table"><thead><tr><th>When</th><th>What</th><th className="wide">From</th><th>To</th><th className="wide">Why</th></tr></thead><tbody>{groupChanges(shown).map((g) => <Row key={`${g.at} ${g.name} ${g.part} ${g.to}`} group={g} />)}</tbody></table></div>
            </>
          );
        }}
      </Answer>
    </Page>
  );
}
