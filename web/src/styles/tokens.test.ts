import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const themes = ['light', 'dark'] as const;
type Theme = (typeof themes)[number];

/** The colours of the tokens in one theme, by name. */
function colours(theme: Theme): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', light = '', dark = ''] of css.matchAll(/--([\w-]+):\s*light-dark\((#[0-9A-F]{6}),\s*(#[0-9A-F]{6})\)/gi)) {
    if (!found.has(name)) found.set(name, theme === 'light' ? light : dark);
  }
  return found;
}

const channels = (hex: string) =>
  [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
const luminance = (hex: string) => {
  const [r, g, b] = channels(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a: string, b: string) => {
  const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m) as [number, number];
  return (x + 0.05) / (y + 0.05);
};

const surfaces = ['canvas', 'subtle', 'sunken', 'raised', 'hover', 'selected'];
const hues = ['crimson', 'vermilion', 'amber', 'steel', 'teal', 'violet', 'grey'];

// Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
const blindness = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
} as const;

function oklab([r, g, b]: number[]): number[] {
  const l = Math.cbrt(0.4122214708 * r! + 0.5363325363 * g! + 0.0514459929 * b!);
  const m = Math.cbrt(0.2119034982 * r! + 0.6806995451 * g! + 0.1073969566 * b!);
  const s = Math.cbrt(0.0883024619 * r! + 0.2817188376 * g! + 0.6299787005 * b!);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}
function distance(a: string, b: string, matrix: readonly (readonly number[])[]): number {
  const seen = (hex: string) => {
    const c = channels(hex);
    return oklab(
      matrix.map((row) =>
        Math.max(
          0,
          row.reduce((sum, k, i) => sum + k * c[i as 0], 0),
        ),
      ),
    );
  };
  const [x, y] = [seen(a), seen(b)];
  return 100 * Math.hypot(...x.map((v, i) => v - y[i]!));
}

describe.each(themes)('the %s tokens', (theme) => {
  const c = colours(theme);
  const of = (name: string) => {
    const value = c.get(name);
    if (!value) throw new Error(`no token ${name}`);
    return value;
  };
  it.each(['text', 'text-2', 'text-3'])('%s can be read on every surface', (ink) => {
    for (const surface of surfaces) expect(contrast(of(ink), of(surface)), surface).toBeGreaterThanOrEqual(4.5);
  });
  it.each(hues)('%s can be read on its tint and seen on the canvas', (hue) => {
    expect(contrast(of(`${hue}-text`), of(`${hue}-soft`))).toBeGreaterThanOrEqual(4.5);
    if (hue !== 'grey') expect(contrast(of(`${hue}-fill`), of('canvas'))).toBeGreaterThanOrEqual(3);
  });
  it('the edges of inputs can be seen', () => expect(contrast(of('line-control'), of('canvas'))).toBeGreaterThanOrEqual(3));
  const scales = {
    severity: ['crimson', 'vermilion', 'amber', 'steel'],
    verdict: ['vermilion', 'teal', 'violet', 'grey'],
    status: ['teal', 'amber', 'vermilion', 'violet', 'grey'],
  };
  for (const [scale, names] of Object.entries(scales)) {
    it.each(Object.keys(blindness) as (keyof typeof blindness)[])(`the colours of ${scale} can be distinguished with %s`, (kind) => {
      for (const [i, a] of names.entries())
        for (const b of names.slice(i + 1))
          expect(distance(of(`${a}-fill`), of(`${b}-fill`), blindness[kind]), `${a} and ${b}`).toBeGreaterThanOrEqual(8.5);
    });
  }
});
