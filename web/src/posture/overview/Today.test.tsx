import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { Today } from './Today';
import { TrendChart } from './TrendChart';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // parts/time reads its setting when it is imported

const text = (markup: string) => markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

test('counts of how often findings were raised are not called new findings', () => {
  expect(text(renderToStaticMarkup(<Today raised={1165} resolved={120} />))).toContain('+1,165 raised, −120 resolved today');
  const series = {
    times: ['2026-11-17T00:00:00Z', '2026-11-18T00:00:00Z'],
    levels: [{ name: 'high' as const, open: [2, 47] }],
    raised: [2, 165],
    resolved: [0, 120],
  };
  const chart = text(renderToStaticMarkup(<TrendChart series={series} jump={undefined} />));
  expect(chart).toContain('+165 raised −120 resolved');
  expect(chart).toContain('A finding counts each time it is raised or resolved.');
});
