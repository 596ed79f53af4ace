/** Light, dark, or what the system says. Kept in the browser. */
const stored = 'vigil.theme';
const order = ['system', 'light', 'dark'] as const;
export type Theme = (typeof order)[number];

export const theme = (): Theme => (localStorage.getItem(stored) as Theme | null) ?? 'system';

export function applyTheme(value: Theme): void {
  localStorage.setItem(stored, value);
  if (value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}

export function nextTheme(): Theme {
  const value = order[(order.indexOf(theme()) + 1) % order.length] ?? 'system';
  applyTheme(value);
  return value;
}
